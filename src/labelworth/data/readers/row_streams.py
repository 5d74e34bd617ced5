"""Texts and labels of a file one by one, for files that do not fit in memory."""

from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from labelworth.data.guard import guarded
from labelworth.data.readers.cells import NOT_NAMED, TextRows, missing_column
from labelworth.data.readers.delimited import delimited_cells, find_delimiter
from labelworth.data.readers.json_files import jsonl_cells
from labelworth.data.readers.streams import on_disk
from labelworth.errors import InvalidInputError

STREAMED = ("jsonl", "csv", "tsv", "parquet")
"""Formats that are read row by row."""


def stream_rows(
    path: Path,
    format: str,
    *,
    text_column: str = "text",
    label_column: str | None = "label",
    unlabeled: Hashable = NOT_NAMED,
    encoding: str = "utf-8",
) -> Iterator[tuple[str, Any]]:
    """The text of every row and its label, None or a list of candidates; see `labelworth.data.readers.read`."""
    rows = TextRows.of(path, unlabeled)
    if format == "jsonl":
        for text, label, location in jsonl_cells(path, text_column, label_column, encoding):
            yield rows.read(text, label, location)
    elif format == "parquet":
        for text, label, location in _parquet_cells(path, text_column, label_column):
            yield rows.read(text, label, location)
    else:
        delimiter = find_delimiter(path, "," if format == "csv" else "\t", encoding)
        for text, label, location in delimited_cells(path, delimiter, text_column, label_column, encoding):
            yield rows.read(text, None if label is None else rows.cells.read_written(label, location), location)


def _parquet_cells(path: Path, text_column: str, label_column: str | None) -> Iterator[tuple[Any, Any, str]]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidInputError(
            f"Reading {path} needs pyarrow, which is not installed. Use: pip install 'labelworth[parquet]'"
        ) from error
    cure = "Write or copy it again, with texts and labels as texts or numbers."
    with guarded(path, "is not a whole Parquet file", cure), parquet.ParquetFile(on_disk(path)) as file:
        names = list(file.schema_arrow.names)
        for keyword, name in (("text_column", text_column), ("label_column", label_column)):
            if name is not None and name not in names:
                raise missing_column(str(path), name, names, keyword)
        number = 0
        for batch in file.iter_batches(columns=[name for name in (text_column, label_column) if name is not None]):
            texts = batch.column(text_column).to_pylist()
            labels = [None] * len(texts) if label_column is None else batch.column(label_column).to_pylist()
            for text, label in zip(texts, labels, strict=True):
                number += 1
                yield text, label, f"{path}, row {number}"
