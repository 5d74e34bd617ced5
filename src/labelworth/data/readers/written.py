"""Samples as they are written in a file of rows or objects, with all their columns."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelworth.data.readers.choose import document_format, ending, written_ending
from labelworth.errors import InvalidInputError

LINES, COLUMNS = (".jsonl", ".ndjson"), (".conll", ".iob", ".iob2", ".bio")
"""Endings of JSON lines, and of CoNLL columns, that are written."""
_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
TABLES = (*LINES, *_DELIMITERS)
"""Endings of rows that are written by `rows_text`."""


@dataclass(frozen=True, eq=False)
class WrittenRows:
    """The rows of a file, in the order in which the readers count them."""

    names: tuple[str, ...]  # All columns, in the order in which they first occur.
    records: tuple[dict[str, Any], ...]  # Cells by column.
    positions: tuple[str, ...]  # Where each row stands, for messages.
    delimiter: str | None  # Of a table; None: JSON lines.
    lines: tuple[str, ...] = ()  # JSON lines as they are written; empty for a table.

    def seconds(self, row: int, column: str) -> float:
        """How long annotators took; NaN where the cell is empty."""
        cell = self.records[row].get(column)
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            return float("nan")
        try:
            return float(cell)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInputError(
                f"{self.positions[row]}: a time must be a number of seconds. Got {cell!r:.60}."
            ) from None

    def text_with(
        self, changes: Mapping[int, Any], column: str, beside: Mapping[int, Mapping[str, Any]] | None = None
    ) -> str:
        """The whole file with other cells in one column, by row; what is not changed stays as it is written.

        Parameters
        ----------
        beside : mapping, optional
            Cells of other columns, by row and column, of rows that are changed.
        """
        more = beside or {}
        changed = [
            {**record, column: changes[row], **more.get(row, {})} if row in changes else record
            for row, record in enumerate(self.records)
        ]
        if self.delimiter is not None:
            added = [column, *(name for row in changes for name in more.get(row, {}))]
            return table_text(tuple(dict.fromkeys([*self.names, *added])), changed, self.delimiter)
        return "".join(
            json.dumps(record, ensure_ascii=False) + "\n" if row in changes else line
            for row, (line, record) in enumerate(zip(self.lines, changed, strict=True))
        )

    def text_and(self, added: Sequence[Mapping[str, Any]]) -> str:
        """The whole file with more rows; those that it has stay as they are."""
        names = tuple(dict.fromkeys([*self.names, *(name for record in added for name in record)]))
        if self.delimiter is not None:
            return table_text(names, [*self.records, *added], self.delimiter)
        return "".join(self.lines) + json_lines(added)


def written_rows(path: Path, format: str | None, encoding: str) -> WrittenRows | None:
    """The rows of JSON lines, a table or Parquet; None for files that hold numbers alone."""
    name = format or document_format(path)
    if name in ("jsonl", "tokens-jsonl"):
        return _json_lines(path, encoding)
    if name in ("csv", "tsv"):
        return _table(path, "," if name == "csv" else "\t", encoding)
    return _parquet(path) if name == "parquet" else None


def written_cells(path: Path, format: str | None, encoding: str, names: Sequence[str]) -> dict[str, list[Any]]:
    """The cells of those of some columns that a file has, row by row; the rest of a row is let go of as it is read.

    None where a row of JSON lines lacks the column; no columns where a file holds numbers alone.
    """
    name = format or document_format(path)
    if name == "jsonl":
        return _json_cells(path, encoding, names)
    if name in ("csv", "tsv"):
        return _table_cells(path, "," if name == "csv" else "\t", encoding, names)
    if name == "parquet":
        from labelworth.data.readers.parquet import read_columns

        return read_columns(path, among=names)
    return {}


def require_ending(path: Path | None, endings: Sequence[str], what: str, allowed: str) -> None:
    """Refuse to write to a file that ends in none of `endings`."""
    if path is not None and written_ending(path) not in endings:
        raise InvalidInputError(f"{what} written as {allowed}. Got {ending(path)!r}; name another file.")


def json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    return "".join(map(json_line, records))


def json_line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, default=str) + "\n"


def own_column(name: str, taken: Sequence[str]) -> str:
    """A name for a column of ours beside those of the data.

    >>> own_column("row", ("id", "text")), own_column("row", ("row", "text"))
    ('row', 'labelworth_row')
    """
    return f"labelworth_{name}" if name in taken else name


def rows_text(path: Path, records: Sequence[Mapping[str, Any]]) -> str:
    """Rows as the ending of a file asks for: JSON lines, or a table with the columns of all of them."""
    if written_ending(path) in LINES:
        return json_lines(records)
    names = list(dict.fromkeys(name for record in records for name in record))
    return table_text(names, records, _DELIMITERS[ending(path)])


def table_text(names: Sequence[str], records: Sequence[Mapping[str, Any]], delimiter: str = ",") -> str:
    """A table with a header; cells that are not text are written as JSON, and what is not there is empty."""
    stream = io.StringIO()
    table = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    table.writerow(names)
    for record in records:
        table.writerow([_cell(record.get(name)) for name in names])
    return stream.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _json_lines(path: Path, encoding: str) -> WrittenRows:
    from labelworth.data.readers.json_files import read_records
    from labelworth.data.readers.streams import read_lines

    numbered = list(read_records(path, encoding=encoding))
    lines = tuple(line.rstrip("\r\n") + "\n" for line in read_lines(path, encoding) if line.strip())
    if len(lines) != len(numbered) or not lines or not lines[0].lstrip().startswith("{"):
        # An array, or objects over several lines: written one per line.
        lines = tuple(json.dumps(record, ensure_ascii=False) + "\n" for _, record in numbered)
    records = tuple(record for _, record in numbered)
    names = dict.fromkeys(name for record in records for name in record)
    return WrittenRows(tuple(names), records, tuple(position for position, _ in numbered), None, lines)


def _json_cells(path: Path, encoding: str, names: Sequence[str]) -> dict[str, list[Any]]:
    from labelworth.data.readers.json_files import read_records

    cells: dict[str, list[Any]] = {}
    for row, (_, record) in enumerate(read_records(path, encoding=encoding)):
        for name in names:
            if name in record and name not in cells:
                cells[name] = [None] * row
        for name, column in cells.items():
            column.append(record.get(name))
    return cells


def _table_cells(path: Path, delimiter: str, encoding: str, names: Sequence[str]) -> dict[str, list[Any]]:
    from labelworth.data.readers.delimited import find_delimiter, read_named_table

    header, table = read_named_table(path, find_delimiter(path, delimiter, encoding), encoding)
    places = {name: header.index(name) for name in names if name in header}
    cells: dict[str, list[Any]] = {name: [] for name in places}
    for _, row in table if places else ():
        for name, place in places.items():
            cells[name].append(row[place])
    return cells


def _table(path: Path, delimiter: str, encoding: str) -> WrittenRows:
    from labelworth.data.readers.delimited import find_delimiter, read_named_table

    delimiter = find_delimiter(path, delimiter, encoding)
    header, table = read_named_table(path, delimiter, encoding)
    rows = list(table)
    records = tuple(dict(zip(header, row, strict=True)) for _, row in rows)
    return WrittenRows(tuple(header), records, tuple(f"{path}, line {number}" for number, _ in rows), delimiter)


def _parquet(path: Path) -> WrittenRows:
    from labelworth.data.readers.parquet import read_columns

    columns = read_columns(path)
    n_rows = len(next(iter(columns.values()), []))
    records = tuple({name: cells[row] for name, cells in columns.items()} for row in range(n_rows))
    positions = tuple(f"{path}, row {number}" for number in range(1, n_rows + 1))
    return WrittenRows(tuple(columns), records, positions, None)
