"""Parquet tables with a column of texts or of vectors, and a label column."""

from collections.abc import Hashable, Sequence
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.data.guard import guarded, most_unpacked, unpacks_to_too_much
from labelworth.data.readers.cells import NOT_NAMED, LabelCells, TextRows, missing_column
from labelworth.data.readers.raw import RawFeatures, RawTexts
from labelworth.data.readers.streams import read_bytes
from labelworth.errors import InvalidInputError

_NEVER_TOO_MANY = 1 << 20
_CURE = "Write or copy it again, with texts and labels as texts or numbers."


def read_parquet(
    path: Path, *, text_column: str = "text", label_column: str | None = "label", unlabeled: Hashable = NOT_NAMED
) -> RawTexts | RawFeatures:
    """Read a Parquet file; needs pyarrow. See `labelworth.data.readers.read`.

    A text column of lists of numbers holds vectors, as embeddings are written: all of one length.
    """
    wanted = {"text_column": text_column}
    if label_column is not None:
        wanted["label_column"] = label_column
    columns = read_columns(path, wanted)
    texts = columns[text_column]
    labels = [None] * len(texts) if label_column is None else columns[label_column]
    if any(isinstance(cell, list) and cell and isinstance(cell[0], int | float) for cell in texts):
        return _vectors(path, texts, labels, unlabeled)
    rows = TextRows.of(path, unlabeled)
    for number, (text, label) in enumerate(zip(texts, labels, strict=True), start=1):
        rows.add(text, label, f"{path}, row {number}")
    return rows.finish()


def _vectors(path: Path, cells: list[Any], labels: list[Any], unlabeled: Hashable) -> RawFeatures:
    n_columns = len(next(cell for cell in cells if isinstance(cell, list) and cell))
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, list) or len(cell) != n_columns:
            held = f"a list of {len(cell):,}" if isinstance(cell, list) else repr(cell)[:60]
            raise InvalidInputError(
                f"{path}, row {number}: every row must hold a vector of {n_columns:,} numbers, as the others. "
                f"Got {held}."
            )
        if not all(isinstance(entry, int | float) and isfinite(entry) for entry in cell):
            entry = next(entry for entry in cell if not (isinstance(entry, int | float) and isfinite(entry)))
            raise InvalidInputError(f"{path}, row {number}: vectors hold numbers. Got {entry!r:.60}.")
    read = LabelCells(unlabeled)
    named = tuple(read.read(label, f"{path}, row {number}") for number, label in enumerate(labels, start=1))
    return RawFeatures(np.array(cells, dtype=np.float64).reshape(len(cells), n_columns), named, str(path))


def read_columns(
    path: Path, wanted: dict[str, str] | None = None, among: Sequence[str] | None = None
) -> dict[str, list[Any]]:
    """The columns of a Parquet file by name, as values of Python: those `wanted` (by keyword), or all.

    With `among`, only those of these names that there are.
    """
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidInputError(
            f"Reading {path} needs pyarrow, which is not installed. Use: pip install 'labelworth[parquet]'"
        ) from error
    content = read_bytes(path)
    with guarded(path, "is not a whole Parquet file", _CURE), parquet.ParquetFile(BytesIO(content)) as file:
        names = list(file.schema_arrow.names)
        for keyword, name in (wanted or {}).items():
            if name not in names:
                raise missing_column(str(path), name, names, keyword)
        chosen = list(dict.fromkeys(names if wanted is None else wanted.values()))
        if among is not None:
            chosen = [name for name in chosen if name in among]
        _require_once(path, names, chosen)
        _require_proportion(path, file.metadata, len(content))
        table = file.read(columns=chosen)
        table.validate(full=True)
    return {name: _values(path, name, table.column(name)) for name in chosen}


def _values(path: Path, name: str, column: Any) -> list[Any]:
    """What is whole may still be no value of Python: a time of an unknown zone, a year after 9999."""
    with guarded(path, f"holds values of {column.type} that cannot be read in column {name!r}", _CURE):
        values: list[Any] = column.to_pylist()
    return values


def _require_once(path: Path, names: Sequence[str], chosen: Sequence[str]) -> None:
    repeated = next((name for name in chosen if names.count(name) > 1), None)
    if repeated is not None:
        raise InvalidInputError(f"{path} has more than one column {repeated!r}. Name each column differently.")


def _require_proportion(path: Path, metadata: Any, n_bytes: int) -> None:
    """Refuse a file that declares more than it can hold: a row takes a bit at least, where there are many."""
    n_unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    if n_unpacked > most_unpacked(n_bytes):
        raise unpacks_to_too_much(path, n_bytes)
    if metadata.num_rows > max(_NEVER_TOO_MANY, 8 * n_bytes):
        raise InvalidInputError(
            f"{path} claims {metadata.num_rows:,} rows in {n_bytes:,} bytes. Was it written completely?"
        )
