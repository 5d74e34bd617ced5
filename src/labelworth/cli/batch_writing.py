"""What to label, in forms that people fill in and that the readers read back."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelworth.planning.next import Batch

ASKED, NOT_ASKED = "?", "_"
"""In CoNLL columns: a label that is asked for, to be replaced, and one that is not; both are read as not seen."""
_LINES, _TABLE, _COLUMNS = (".jsonl", ".ndjson"), (".csv",), (".conll", ".iob", ".iob2", ".bio")

Writer = Callable[[Path | None, Any, "Batch"], None]


def batch_writer(output: Path | None, raw: Any, text_column: str, label_column: str) -> Writer:
    """How a batch is written, by the ending of the file; JSON lines on stdout.

    Raises
    ------
    InvalidInputError
        If the ending says a form that this data does not have.
    """
    from labelworth.errors import InvalidInputError

    has_tokens = hasattr(raw, "offsets")
    suffix = "" if output is None else output.suffix.lower()
    if has_tokens and suffix in _COLUMNS and hasattr(raw, "columns"):
        return _write_columns
    if suffix in ("", *_LINES):
        return _sequence_lines if has_tokens else _document_lines(text_column, label_column)
    if suffix in _TABLE and not has_tokens:
        return _document_table(text_column, label_column)
    allowed = ".conll or .jsonl" if has_tokens else ".jsonl or .csv"
    raise InvalidInputError(f"What to label of this data is written as {allowed}. Got {suffix!r}; name another file.")


def _document_lines(text_column: str, label_column: str) -> Writer:
    def write(path: Path | None, raw: Any, batch: "Batch") -> None:
        rows = (
            json.dumps({"row": row, **_text(raw, row, text_column), label_column: None}, ensure_ascii=False)
            for row in batch.rows.tolist()
        )
        _write_lines(path, [f"{row}\n" for row in rows])

    return write


def _document_table(text_column: str, label_column: str) -> Writer:
    def write(path: Path | None, raw: Any, batch: "Batch") -> None:
        stream = io.StringIO()
        table = csv.writer(stream, lineterminator="\n")
        texts = hasattr(raw, "texts")
        table.writerow(["row", *([text_column] if texts else []), label_column])
        for row in batch.rows.tolist():
            table.writerow([row, *_text(raw, row, text_column).values(), ""])
        _write_lines(path, [stream.getvalue()])

    return write


def _text(raw: Any, row: int, text_column: str) -> dict[str, str]:
    """The text of a row, where the data has texts; a matrix of features has row numbers alone."""
    return {text_column: raw.texts[row]} if hasattr(raw, "texts") else {}


def _sequence_lines(path: Path | None, raw: Any, batch: "Batch") -> None:
    """An object per sequence: its place, its tokens, the positions asked for, and tags to fill in."""
    lines = []
    for row, arm, positions in zip(batch.rows.tolist(), batch.arms, batch.positions or (), strict=True):
        first, end = int(raw.offsets[row]), int(raw.offsets[row + 1])
        tokens = {"tokens": list(raw.words[first:end])} if hasattr(raw, "columns") else {}
        asked = {"ask": positions.tolist(), "rule": arm, "tags": [None] * (end - first)}
        lines.append(json.dumps({"sequence": row, **tokens, **asked}, ensure_ascii=False) + "\n")
    _write_lines(path, lines)


def _write_columns(path: Path | None, raw: Any, batch: "Batch") -> None:
    """The columns of the tokens, and ``?`` to be replaced by a label, or ``_`` where none is asked for."""
    blanks = any(" " in cell for column in raw.columns for cell in column)
    delimiter = "\t" if blanks else " "
    lines = []
    for row, positions in zip(batch.rows.tolist(), batch.positions or (), strict=True):
        first, end = int(raw.offsets[row]), int(raw.offsets[row + 1])
        asked = set(positions.tolist())
        for token in range(first, end):
            cells = [column[token] for column in raw.columns]
            lines.append(delimiter.join([*cells, ASKED if token - first in asked else NOT_ASKED]) + "\n")
        lines.append("\n")
    _write_lines(path, lines)


def _write_lines(path: Path | None, lines: list[str]) -> None:
    from labelworth.cli.console import write_json
    from labelworth.data.writers.text_file import write_lines

    if path is None:
        write_json("".join(lines))
    else:
        write_lines(path, lines)
