"""JSON lines: one object per line, with a text and (unless the row is unlabeled) a label."""

import json
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from labelworth.data.readers.cells import NOT_NAMED, TextRows, missing_column
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.streams import read_lines
from labelworth.errors import InvalidInputError


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


def read_records(path: Path, *, encoding: str = "utf-8") -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file of JSON lines, each with its place for messages; blank lines are passed over."""
    for number, line in enumerate(read_lines(path, encoding), start=1):
        if line.strip():
            place = f"{path}, line {number}"
            yield place, _record(line, place)


def _record(line: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        what = f"{error.msg} at character {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise InvalidInputError(
            f"{place} is not JSON ({what}). Each line must be one whole object such as "
            '{"text": "...", "label": "..."}; `jq -c .` writes objects one per line.'
        ) from error
    if not isinstance(record, dict):
        raise InvalidInputError(
            f"{place} is a JSON {type(record).__name__}, not an object. Each line must be one object such as "
            '{"text": "...", "label": "..."}; `jq -c ".[]"` turns an array into lines.'
        )
    return record
