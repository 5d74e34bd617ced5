"""Rows of documents as they are written in a file, with all their columns."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}


@dataclass(frozen=True, eq=False)
class WrittenRows:
    """The rows of a file, in the order in which the readers count them.

    Attributes
    ----------
    names : tuple of str
        All columns, in the order in which they are met.
    records : tuple of dict
        Cells by column.
    places : tuple of str
        Where each row stands, for messages.
    delimiter : str or None
        Of a table; None: JSON lines.
    lines : tuple of str
        JSON lines as they are written; empty for a table.
    """

    names: tuple[str, ...]
    records: tuple[dict[str, Any], ...]
    places: tuple[str, ...]
    delimiter: str | None
    lines: tuple[str, ...] = ()

    def text_with(self, changes: Mapping[int, Any], column: str) -> str:
        """The whole file with other cells in one column, by row; what is not changed stays as it is written."""
        if self.delimiter is not None:
            names = self.names if column in self.names else (*self.names, column)
            return table_text(names, self._changed(changes, column), self.delimiter)
        rows = zip(self.lines, self._changed(changes, column), strict=True)
        return "".join(
            json.dumps(record, ensure_ascii=False) + "\n" if row in changes else line
            for row, (line, record) in enumerate(rows)
        )

    def _changed(self, changes: Mapping[int, Any], column: str) -> list[dict[str, Any]]:
        return [
            {**record, column: changes[row]} if row in changes else record for row, record in enumerate(self.records)
        ]


def written_rows(path: Path, format: str | None, encoding: str) -> WrittenRows | None:
    """The rows of JSON lines, a table or Parquet; None for files that hold numbers alone."""
    suffix = suffix_of(path)
    chosen = format or _FORMATS.get(suffix)
    if chosen in ("jsonl", "tokens-jsonl"):
        return _json_lines(path, encoding)
    if chosen in ("csv", "tsv"):
        return _table(path, "," if chosen == "csv" else "\t", encoding)
    if chosen == "parquet" or suffix in (".parquet", ".pq"):
        return _parquet(path)
    return None


def suffix_of(path: Path) -> str:
    """The ending that says what a file holds, without that of gzip."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def own_column(name: str, taken: Sequence[str]) -> str:
    """A name for a column of ours beside those of the data.

    >>> own_column("row", ("id", "text")), own_column("row", ("row", "text"))
    ('row', 'labelworth_row')
    """
    return f"labelworth_{name}" if name in taken else name


def table_text(names: Sequence[str], records: Sequence[Mapping[str, Any]], delimiter: str = ",") -> str:
    """A table with a header; cells that are no text are written as JSON, and what is not there is empty."""
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

    found = list(read_records(path, encoding=encoding))
    lines = tuple(line.rstrip("\r\n") + "\n" for line in read_lines(path, encoding) if line.strip())
    if len(lines) != len(found) or not lines[0].lstrip().startswith("{"):
        # An array, or objects over several lines: written one per line.
        lines = tuple(json.dumps(record, ensure_ascii=False) + "\n" for _, record in found)
    names = dict.fromkeys(name for _, record in found for name in record)
    records = tuple(record for _, record in found)
    return WrittenRows(tuple(names), records, tuple(place for place, _ in found), None, lines)


def _table(path: Path, delimiter: str, encoding: str) -> WrittenRows:
    from labelworth.data.readers.delimited import find_delimiter, read_table

    delimiter = find_delimiter(path, delimiter, encoding)
    rows = list(read_table(path, delimiter, encoding))
    header = tuple(rows[0][1]) if rows else ()
    records = tuple(dict(zip(header, row, strict=False)) for _, row in rows[1:])
    return WrittenRows(header, records, tuple(f"{path}, line {number}" for number, _ in rows[1:]), delimiter)


def _parquet(path: Path) -> WrittenRows:
    from labelworth.data.readers.parquet import read_columns

    columns = read_columns(path)
    n_rows = len(next(iter(columns.values()), []))
    records = tuple({name: cells[row] for name, cells in columns.items()} for row in range(n_rows))
    places = tuple(f"{path}, row {number}" for number in range(1, n_rows + 1))
    return WrittenRows(tuple(columns), records, places, None)
