"""JSON of unknown origin: whole documents, objects one by one (lines, an array, or over several lines), and texts."""

import json
import os
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from labelworth.data.readers.cells import NOT_NAMED, TextRows, missing_column
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.streams import on_disk, read_lines
from labelworth.errors import DataUnavailableError, InvalidInputError

_MOST_DIGITS = 300
_EXAMPLE = '{"name of a column": "value"}'


def read_json(path: str | os.PathLike[str], kind: str) -> Any:
    """The JSON document in a file, a `kind` of thing, as `parse_json` reads it; ``-`` is standard input."""
    try:
        content = on_disk(Path(path)).read_bytes()
    except (OSError, ValueError) as error:
        raise DataUnavailableError(
            f"Cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}."
        ) from error
    try:
        document = parse_json(content)
        _require_text(content, document)
        return document
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{str(path)!r} is not a {kind}: it is not UTF-8 text.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{str(path)!r} is not a {kind}: it is not JSON ({error}).") from error


def parse_json(content: bytes, *, each_once: bool = False) -> Any:
    """A document whose numbers are finite and fit a double; with `each_once`, no name twice in an object.

    Raises
    ------
    ValueError, RecursionError
        If it is not one, in words.
    """
    text = content.decode("utf-8-sig")
    pairs = _each_once if each_once else None
    return json.loads(
        text, parse_float=_finite, parse_int=_bounded, parse_constant=_no_number, object_pairs_hook=pairs
    )


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{twice[0]!r} stands twice in one object; keep one of them")
    return dict(pairs)


def _require_text(content: bytes, document: Any) -> None:
    """Refuse texts that could not be written as UTF-8; files of models, which we write ourselves, may hold them."""
    try:
        if rb"\u" in content:
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise ValueError(f"\\u{half:04x} is half of a surrogate pair; write the character, or both halves") from error


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _bounded(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(text)} digits is too large")
    return int(text)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number; leave it out or write null")


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
    for text, label, location in jsonl_cells(path, text_column, label_column, encoding):
        rows.add(text, label, location)
    return rows.finish()


def jsonl_cells(
    path: Path, text_column: str, label_column: str | None, encoding: str
) -> Iterator[tuple[Any, Any, str]]:
    """The text and the label of every object, as they stand there, and where that is."""
    columns: dict[str, None] = {}
    for location, record in read_records(path, encoding=encoding):
        columns.update(dict.fromkeys(record))
        if text_column not in record:
            raise missing_column(location, text_column, record, "text_column")
        yield record[text_column], None if label_column is None else record.get(label_column), location
    if label_column is not None and columns and label_column not in columns:
        raise missing_column(str(path), label_column, columns, "label_column")


def read_records(path: Path, *, encoding: str = "utf-8") -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file, each with its location for messages; blank lines are passed over.

    One object per line is read line by line. A file whose first line is not a whole object is read as a whole: an
    array of objects, or objects that run over several lines.
    """
    is_first = True
    for number, line in enumerate(read_lines(path, encoding), start=1):
        if not line.strip():
            continue
        location = f"{path}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            if is_first:
                yield from _records_of_whole(path, encoding)
                return
            raise _not_json(location, error) from error
        if is_first and isinstance(record, list):
            yield from _records_of_whole(path, encoding)
            return
        yield location, _object(record, location)
        is_first = False


def _records_of_whole(path: Path, encoding: str) -> Iterator[tuple[str, dict[str, Any]]]:
    text = "".join(read_lines(path, encoding))
    decoder, position = json.JSONDecoder(), _after_blanks(text, 0)
    while position < len(text):
        location = f"{path}, line {1 + text.count(chr(10), 0, position)}"
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise _not_json(f"{path}, line {error.lineno}", error) from error
        except (ValueError, RecursionError) as error:
            raise _not_json(location, error) from error
        if isinstance(value, list):
            for number, entry in enumerate(value, start=1):
                entry_location = f"{path}, entry {number} of the array"
                yield entry_location, _object(entry, entry_location)
        else:
            yield location, _object(value, location)
        position = _after_blanks(text, end)


def _after_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _not_json(location: str, error: Exception) -> InvalidInputError:
    what = f"{error.msg} at character {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
    return InvalidInputError(
        f"{location} is not JSON ({what}). A file must hold one whole object per line, such as {_EXAMPLE}, or an "
        "array of objects."
    )


def _object(record: Any, location: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise InvalidInputError(
            f"{location} is a JSON {type(record).__name__}, not an object such as {_EXAMPLE}. "
            "Write an object per row."
        )
    return record
