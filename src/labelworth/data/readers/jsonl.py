"""Objects of JSON, one per line or in an array, with a text and (unless the row is unlabeled) a label."""

from collections.abc import Hashable
from pathlib import Path

from labelworth.data.readers.cells import NOT_NAMED, TextRows, missing_column
from labelworth.data.readers.json_files import read_records
from labelworth.data.readers.raw import RawTexts


def read_jsonl(
    path: Path,
    *,
    text_column: str = "text",
    label_column: str | None = "label",
    unlabeled: Hashable = NOT_NAMED,
    encoding: str = "utf-8",
) -> RawTexts:
    """Read a file of JSON lines; see `labelworth.data.readers.read`."""
    rows = TextRows.of(path, unlabeled)
    columns: dict[str, None] = {}
    for place, record in read_records(path, encoding=encoding):
        columns.update(dict.fromkeys(record))
        if text_column not in record:
            raise missing_column(place, text_column, record, "text_column")
        label = None if label_column is None else record.get(label_column)
        rows.add(record[text_column], label, place)
    texts = rows.finish()
    if label_column is not None and label_column not in columns:
        raise missing_column(str(path), label_column, columns, "label_column")
    return texts
