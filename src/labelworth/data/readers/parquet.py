"""Parquet tables with a text and a label column."""

from collections.abc import Hashable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from labelworth.data.guard import guarded, most_unpacked, unpacks_to_too_much
from labelworth.data.readers.cells import NOT_NAMED, TextRows, missing_column
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.streams import read_bytes
from labelworth.errors import InvalidInputError

_NEVER_TOO_MANY = 1 << 20
_CURE = "Write or copy it again, with texts and labels as texts or numbers."


def read_parquet(
    path: Path, *, text_column: str = "text", label_column: str | None = "label", unlabeled: Hashable = NOT_NAMED
) -> RawTexts:
    """Read a Parquet file; needs pyarrow. See `labelworth.data.readers.read`."""
    rows = TextRows.of(path, unlabeled)
    wanted = {"text_column": text_column}
    if label_column is not None:
        wanted["label_column"] = label_column
    columns = read_columns(path, wanted)
    texts = columns[text_column]
    labels = [None] * len(texts) if label_column is None else columns[label_column]
    for number, (text, label) in enumerate(zip(texts, labels, strict=True), start=1):
        rows.add(text, label, f"{path}, row {number}")
    return rows.finish()


def read_columns(path: Path, wanted: dict[str, str] | None = None) -> dict[str, list[Any]]:
    """The columns of a Parquet file by name, as values of Python: those `wanted` (by keyword), or all."""
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
        _require_once(path, names, chosen)
        _require_proportion(path, file.metadata, len(content))
        table = file.read(columns=chosen)
        table.validate(full=True)
        return {name: table.column(name).to_pylist() for name in chosen}


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
