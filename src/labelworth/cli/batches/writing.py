"""What to label, in forms that people fill in and that the readers read back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from labelworth.cli.batches.form import (
    ASK,
    ASKED,
    NOT_ASKED,
    NUMBERED,
    ROW,
    RULE,
    SEQUENCE,
    columns_of_tokens,
    label_index,
)
from labelworth.cli.inputs.documents import Documents
from labelworth.cli.inputs.sequences import TokenSequences
from labelworth.cli.inputs.written import COLUMNS, LINES, WrittenRows, ending, own_column, table_text
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.errors import InvalidInputError
from labelworth.planning.next import Batch

BatchText = Callable[[Batch], str]


def batch_form(output: Path | None, samples: Documents | TokenSequences) -> BatchText:
    """How a batch is written, by the ending of the file; JSON lines on stdout.

    Raises
    ------
    InvalidInputError
        If the ending says a form that this data does not have.
    """
    suffix = "" if output is None else ending(output)
    if isinstance(samples, Documents):
        documents, written = samples, samples.written()
        if suffix in ("", *LINES):
            return lambda batch: _lines(_documents(documents, written, batch))
        if suffix == ".csv":
            return lambda batch: _document_table(documents, written, batch)
        allowed = ".jsonl or .csv"
    else:
        sequences, raw = samples, samples.raw
        if suffix in ("", *LINES):
            return lambda batch: _lines(_sequences(sequences, batch))
        if suffix in COLUMNS and isinstance(raw, RawTokens):
            return lambda batch: _token_columns(raw, batch)
        allowed = ".conll or .jsonl"
    raise InvalidInputError(f"What to label of this data is written as {allowed}. Got {suffix!r}; name another file.")


def _documents(samples: Documents, written: WrittenRows | None, batch: Batch) -> list[dict[str, Any]]:
    """The index of every row, its columns, and a label to fill in."""
    if written is None:
        return [{ROW: row, samples.options.label_name: None} for row in batch.rows.tolist()]
    row_column = own_column(ROW, written.names)
    label = {samples.options.label_name: None}
    return [{row_column: row, **written.records[row], **label} for row in batch.rows.tolist()]


def _document_table(samples: Documents, written: WrittenRows | None, batch: Batch) -> str:
    taken = () if written is None else written.names
    names = dict.fromkeys([own_column(ROW, taken), *taken, samples.options.label_name])
    return table_text(list(names), _documents(samples, written, batch))


def _sequences(samples: TokenSequences, batch: Batch) -> list[dict[str, Any]]:
    """An object per sequence: its index, its columns, the positions asked for, and tags to fill in."""
    raw, written = samples.raw, samples.written()
    taken = () if written is None else written.names
    objects = [] if written is None else samples.objects(written)
    sequence, ask, rule = (own_column(name, taken) for name in (SEQUENCE, ASK, RULE))
    records = []
    for row, arm, positions in zip(batch.rows.tolist(), batch.arms, batch.positions or (), strict=True):
        columns: dict[str, Any] = {}
        if written is not None:
            columns = written.records[objects[row]]
        elif isinstance(raw, RawTokens):
            columns = columns_of_tokens(raw, row)
        tags = [None] * int(raw.offsets[row + 1] - raw.offsets[row])
        asked = {ask: positions.tolist(), rule: arm}
        records.append({sequence: row, **columns, **asked, samples.tags_name(written): tags})
    return records


def _token_columns(raw: RawTokens, batch: Batch) -> str:
    """The columns of the tokens; ``?`` stands where a label is to be filled in, ``_`` where none is asked for."""
    delimiter = "\t" if any(" " in cell for column in raw.columns for cell in column) else " "
    label_at, lines = label_index(raw), []
    for row, positions in zip(batch.rows.tolist(), batch.positions or (), strict=True):
        first, end = int(raw.offsets[row]), int(raw.offsets[row + 1])
        asked = set(positions.tolist())
        lines.append(f"{NUMBERED} {row}\n\n")
        for token in range(first, end):
            cells = [column[token] for column in raw.columns]
            cells.insert(label_at, ASKED if token - first in asked else NOT_ASKED)
            lines.append(delimiter.join(cells) + "\n")
        lines.append("\n")
    return "".join(lines)


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False, default=str) + "\n" for record in records)
