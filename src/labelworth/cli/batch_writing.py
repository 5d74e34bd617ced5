"""What to label, in forms that people fill in and that the readers read back."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelworth.cli.written_rows import WrittenRows, own_column, suffix_of, table_text

if TYPE_CHECKING:
    from labelworth.planning.next import Batch

ASKED, NOT_ASKED = "?", "_"
"""In CoNLL columns: a label that is asked for, to be replaced, and one that is not; both are read as not seen."""
ROW, SEQUENCE = "row", "sequence"
"""What a batch calls the places in the data, counted from 0."""
NUMBERED = "-DOCSTART- sequence"
"""In CoNLL columns: the line before a sequence that says its place; readers leave it out."""
_LINES, _TABLE, _COLUMNS = (".jsonl", ".ndjson"), (".csv",), (".conll", ".iob", ".iob2", ".bio")


@dataclass(frozen=True, eq=False)
class BatchWriter:
    """Writes what to label.

    Attributes
    ----------
    raw : RawTexts, RawFeatures, RawTokens or RawAttributes
        The data as it was read.
    written : WrittenRows or None
        The same as it is written, with all columns; None where there are no rows to keep.
    label_column : str
        What is to be filled in.
    text_of : function of raw and a batch
    """

    raw: Any
    written: WrittenRows | None
    label_column: str
    text_of: "Callable[[BatchWriter, Batch], str]"

    def write(self, path: Path | None, batch: "Batch") -> None:
        """To a file, or to stdout."""
        from labelworth.cli.console import write_json
        from labelworth.data.writers.text_file import write_lines

        text = self.text_of(self, batch)
        if path is None:
            write_json(text)
        else:
            write_lines(path, [text])

    def taken(self) -> Sequence[str]:
        """The columns of the data."""
        return () if self.written is None else self.written.names

    def record(self, row: int) -> Mapping[str, Any]:
        """All that the data says of a row or sequence, as far as it has columns."""
        return {} if self.written is None else self.written.records[row]


def batch_writer(output: Path | None, raw: Any, written: WrittenRows | None, label_column: str) -> BatchWriter:
    """How a batch is written, by the ending of the file; JSON lines on stdout.

    Raises
    ------
    InvalidInputError
        If the ending says a form that this data does not have.
    """
    from labelworth.errors import InvalidInputError

    has_tokens = hasattr(raw, "offsets")
    suffix = "" if output is None else suffix_of(output)
    if has_tokens and suffix in _COLUMNS and hasattr(raw, "columns"):
        return BatchWriter(raw, written, label_column, _token_columns)
    if suffix in ("", *_LINES):
        return BatchWriter(raw, written, label_column, _sequence_lines if has_tokens else _document_lines)
    if suffix in _TABLE and not has_tokens:
        return BatchWriter(raw, written, label_column, _document_table)
    allowed = ".conll or .jsonl" if has_tokens else ".jsonl or .csv"
    raise InvalidInputError(f"What to label of this data is written as {allowed}. Got {suffix!r}; name another file.")


def _document_records(writer: BatchWriter, batch: "Batch") -> list[dict[str, Any]]:
    """The place of every row, its columns, and a label to fill in."""
    row_column = own_column(ROW, writer.taken())
    return [{row_column: row, **writer.record(row), writer.label_column: None} for row in batch.rows.tolist()]


def _document_lines(writer: BatchWriter, batch: "Batch") -> str:
    return _as_lines(_document_records(writer, batch))


def _document_table(writer: BatchWriter, batch: "Batch") -> str:
    names = dict.fromkeys([own_column(ROW, writer.taken()), *writer.taken(), writer.label_column])
    return table_text(list(names), _document_records(writer, batch))


def _sequence_lines(writer: BatchWriter, batch: "Batch") -> str:
    """An object per sequence: its place, its columns, the positions asked for, and tags to fill in."""
    raw, records = writer.raw, []
    names = {name: own_column(name, writer.taken()) for name in (SEQUENCE, "ask", "rule")}
    for row, arm, positions in zip(batch.rows.tolist(), batch.arms, batch.positions or (), strict=True):
        first, end = int(raw.offsets[row]), int(raw.offsets[row + 1])
        columns = writer.record(row) or columns_of_tokens(raw, first, end)
        asked = {names["ask"]: positions.tolist(), names["rule"]: arm}
        records.append({names[SEQUENCE]: row, **columns, **asked, writer.label_column: [None] * (end - first)})
    return _as_lines(records)


def columns_of_tokens(raw: Any, first: int, end: int) -> dict[str, list[str]]:
    """What columns say of the tokens of a sequence; attributes are not written out."""
    if not hasattr(raw, "columns"):
        return {}
    names = list(raw.column_names)
    names[raw.word_column] = "tokens"
    found = {name: list(column[first:end]) for name, column in zip(names, raw.columns, strict=True)}
    return {"tokens": found.pop("tokens"), **found}


def _token_columns(writer: BatchWriter, batch: "Batch") -> str:
    """The columns of the tokens; ``?`` stands where a label is to be filled in, ``_`` where none is asked for."""
    raw = writer.raw
    delimiter = "\t" if any(" " in cell for column in raw.columns for cell in column) else " "
    place, lines = label_place(raw), []
    for row, positions in zip(batch.rows.tolist(), batch.positions or (), strict=True):
        first, end = int(raw.offsets[row]), int(raw.offsets[row + 1])
        asked = set(positions.tolist())
        lines.append(f"{NUMBERED} {row}\n\n")
        for token in range(first, end):
            cells = [column[token] for column in raw.columns]
            cells.insert(place, ASKED if token - first in asked else NOT_ASKED)
            lines.append(delimiter.join(cells) + "\n")
        lines.append("\n")
    return "".join(lines)


def label_place(raw: Any) -> int:
    """In which column labels stand: that of the data where its columns have numbers, else the last."""
    numbers = [str(number) for number in range(len(raw.columns) + 1)]
    left_out = [number for number in numbers if number not in raw.column_names]
    return int(left_out[0]) if len(left_out) == 1 else len(raw.columns)


def _as_lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False, default=str) + "\n" for record in records)
