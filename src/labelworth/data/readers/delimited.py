"""Tables with a header line, cells between commas, tabs or semicolons, quoted as spreadsheets quote them."""

import csv
import sys
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path

from labelworth.data.readers.cells import NOT_NAMED, TextRows, missing_column
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.streams import read_lines
from labelworth.errors import InvalidInputError


def read_delimited(
    path: Path,
    *,
    delimiter: str = ",",
    text_column: str = "text",
    label_column: str | None = "label",
    unlabeled: Hashable = NOT_NAMED,
    encoding: str = "utf-8",
) -> RawTexts:
    """Read a CSV (or, with a tab as `delimiter`, a TSV) file; see `labelworth.data.readers.read`.

    A file whose header has a single cell at that delimiter and more at another one, such as the semicolons that
    spreadsheets write where commas are decimal points, is read with the other one, and a note says so.
    """
    rows = TextRows.of(path, unlabeled)
    expected, delimiter = delimiter, find_delimiter(path, delimiter, encoding)
    for text, label, location in delimited_cells(path, delimiter, text_column, label_column, encoding):
        rows.add(text, None if label is None else rows.cells.read_written(label, location), location)
    notes = () if delimiter == expected else (f"The cells of {path} end at {delimiter!r}, and were read so.",)
    return rows.finish(notes)


def delimited_cells(
    path: Path, delimiter: str, text_column: str, label_column: str | None, encoding: str
) -> Iterator[tuple[str, str | None, str]]:
    """The text and the label of every row, as they are written, and where that is."""
    header, table = read_named_table(path, delimiter, encoding)
    text_at = _position(path, header, text_column, "text_column")
    label_at = None if label_column is None else _position(path, header, label_column, "label_column")
    for number, row in table:
        yield row[text_at], None if label_at is None else row[label_at], f"{path}, line {number}"


def find_delimiter(path: Path, delimiter: str, encoding: str) -> str:
    """Where cells end: at `delimiter`, unless that leaves the header in one piece and another mark divides it."""
    _, header = next(read_table(path, delimiter, encoding), (1, []))
    if len(header) != 1:
        return delimiter
    return next((mark for mark in ("\t", ";", ",") if mark in header[0]), delimiter)


def read_named_table(path: Path, delimiter: str, encoding: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The names of the columns, and the rows below them, each with a cell for every name."""
    table = read_table(path, delimiter, encoding)
    _, header = next(table, (1, []))
    _require_header(path, header)
    return header, _whole_rows(path, delimiter, header, table)


def _whole_rows(
    path: Path, delimiter: str, header: list[str], table: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    for number, row in table:
        if len(row) != len(header):
            raise InvalidInputError(
                f"{path}, line {number} has {len(row)} cell(s) where the header has {len(header)}. "
                f'Put cells that hold {delimiter!r} or line ends in "quotes", and double the quotes inside them.'
            )
        yield number, row


def read_table(path: Path, delimiter: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of the line it begins on."""
    with _cells_of_any_size():
        reader = csv.reader(read_lines(path, encoding), delimiter=delimiter, strict=True)
        line = 1
        try:
            for row in reader:
                if row:
                    yield line, row
                line = reader.line_num + 1
        except csv.Error as error:
            raise InvalidInputError(
                f"{path}, line {line} and on: {error}. A quoted cell must end with a quote, quotes inside it must be "
                "doubled, and lines must end in \\n or \\r\\n."
            ) from error


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    # The csv module refuses cells over 131 072 characters unless told otherwise; documents may be longer.
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _require_header(path: Path, header: list[str]) -> None:
    if not header:
        raise InvalidInputError(f"{path} holds no rows. The first line must name the columns.")
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise InvalidInputError(f"{path} has more than one column {repeated[0]!r}. Name each column differently.")


def _position(path: Path, header: list[str], wanted: str, keyword: str) -> int:
    if wanted not in header:
        raise missing_column(str(path), wanted, header, keyword)
    return header.index(wanted)
