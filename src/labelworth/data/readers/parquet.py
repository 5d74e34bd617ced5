"""Parquet tables with a text and a label column."""

from collections.abc import Hashable
from io import BytesIO
from pathlib import Path
from typing import Any

from labelworth.data.readers.cells import NOT_NAMED, TextRows, missing_column
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.streams import read_bytes
from labelworth.errors import InvalidInputError


def read_parquet(
    path: Path, *, text_column: str = "text", label_column: str | None = "label", unlabeled: Hashable = NOT_NAMED
) -> RawTexts:
    """Read a Parquet file; needs pyarrow. See `labelworth.data.readers.read`."""
    rows = TextRows.of(path, unlabeled)
    texts, labels = _columns(path, text_column, label_column)
    for number, (text, label) in enumerate(zip(texts, labels, strict=True), start=1):
        rows.add(text, label, f"{path}, row {number}")
    return rows.finish()


def _columns(path: Path, text_column: str, label_column: str | None) -> tuple[list[Any], list[Any]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidInputError(
            f"Reading {path} needs pyarrow, which is not installed. Use: pip install 'labelworth[parquet]'"
        ) from error
    content = read_bytes(path)
    try:
        with parquet.ParquetFile(BytesIO(content)) as file:
            names = list(file.schema_arrow.names)
            if text_column not in names:
                raise missing_column(str(path), text_column, names, "text_column")
            if label_column is not None and label_column not in names:
                raise missing_column(str(path), label_column, names, "label_column")
            wanted = [text_column] if label_column is None else [text_column, label_column]
            table = file.read(columns=wanted)
            texts = table.column(text_column).to_pylist()
            labels = [None] * len(texts) if label_column is None else table.column(label_column).to_pylist()
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        raise InvalidInputError(f"{path} is not a whole Parquet file ({error}). Write or copy it again.") from error
    return texts, labels
