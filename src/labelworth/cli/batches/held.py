"""The data that a batch is merged into, and what the batch says of it: documents and sequences alike.

A document has one label, a sequence one per token; a position is (index of the sample, index of the token).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

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
    word_index,
)
from labelworth.cli.inputs.documents import Documents
from labelworth.cli.inputs.sequences import TokenSequences
from labelworth.cli.inputs.written import JSON_ENDINGS, WrittenRows, ending, own_column, written_rows
from labelworth.cli.options.data import NONE
from labelworth.data.readers.cells import NOT_NAMED, LabelCells
from labelworth.data.readers.conll import DOCUMENT_START, read_conll
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.readers.streams import read_lines
from labelworth.data.readers.tokens_jsonl import read_tokens_jsonl
from labelworth.errors import InvalidInputError

_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True)
class Filled:
    """One sample of a batch."""

    index: Any  # Which sample of the data it is, as the batch says it.
    position: str  # Where it stands in the batch.
    labels: tuple[Any, ...]  # What was filled in; None where nothing was.
    asked: frozenset[int]  # Which labels were asked for.
    columns: Mapping[str, Any]  # What the batch says beside labels.
    words: tuple[str, ...] | None = None  # Of a sequence.


class HeldDocuments:
    """Rows of JSON lines or a table, in which labels stand beside texts."""

    sample: ClassVar[str] = ROW

    def __init__(self, samples: Documents) -> None:
        self.samples = samples
        self.written = _merging_rows(samples.options.path, samples.options.format, samples.options.encoding)
        self.label_column = samples.options.label_name

    def labels(self, index: int) -> tuple[Any, ...]:
        return (self.samples.raw.labels[index],)

    def words(self, index: int) -> None:
        """A document is compared by its columns."""

    def columns(self, index: int) -> Mapping[str, Any]:
        return self.written.records[index]

    def where(self, index: int, token: int) -> str:
        return f"row {index}"

    def read(self, batch: Path) -> list[Filled]:
        """The rows of a batch."""
        filled = _merging_rows(batch, None, "utf-8")
        row_column = own_column(ROW, self.written.names)
        for name, what in ((row_column, "where its rows come from"), (self.label_column, "what was filled in")):
            if name not in filled.names:
                raise InvalidInputError(
                    f"{batch} has no column {name!r}, which says {what}; `labelworth next` wrote it. It has: "
                    f"{', '.join(map(repr, filled.names)) or 'none'}."
                )
        marker: Any = self.samples.options.unlabeled
        cells = LabelCells(NOT_NAMED if marker is None else None if marker == NONE else marker)
        samples = []
        for record, position in zip(filled.records, filled.positions, strict=True):
            cell = record.get(self.label_column)
            label = cells.read_written(cell, position) if isinstance(cell, str) else cells.read(cell, position)
            beside = {name: cell for name, cell in record.items() if name not in (row_column, self.label_column)}
            samples.append(Filled(record.get(row_column), position, (label,), frozenset({0}), beside))
        return samples

    def text(self, changes: Mapping[tuple[int, int], Any]) -> str:
        """The file with other labels."""
        return self.written.text_with({index: label for (index, _), label in changes.items()}, self.label_column)


class HeldSequences:
    """CoNLL columns or JSON lines, in which labels stand beside words."""

    sample: ClassVar[str] = SEQUENCE

    def __init__(self, samples: TokenSequences, batch: Path) -> None:
        if not isinstance(samples.raw, RawTokens):
            raise InvalidInputError(
                f"{samples.options.path} cannot be merged: that takes CoNLL columns or JSON lines, in which labels "
                "stand beside words."
            )
        self.samples, self.raw = samples, samples.raw
        self.written = samples.written()
        self.objects = [] if self.written is None else samples.objects(self.written)
        self.tags_column = samples.tags_name(self.written)
        self.in_columns = ending(batch) not in JSON_ENDINGS

    def labels(self, index: int) -> tuple[Any, ...]:
        return self.raw.labels[self._tokens(index)]

    def words(self, index: int) -> tuple[str, ...]:
        return self.raw.words[self._tokens(index)]

    def columns(self, index: int) -> Mapping[str, Any]:
        """What the data says of a sequence beside labels, called as in the batch."""
        if self.in_columns:
            tokens = self._tokens(index)
            names = zip(self.raw.column_names, self.raw.columns, strict=True)
            return {name: list(column[tokens]) for name, column in names}
        if self.written is not None:
            return self.written.records[self.objects[index]]
        return columns_of_tokens(self.raw, index)

    def where(self, index: int, token: int) -> str:
        return f"sequence {index}, token {token}"

    def read(self, batch: Path) -> list[Filled]:
        """The sequences of a batch."""
        return self._read_columns(batch) if self.in_columns else self._read_objects(batch)

    def _read_objects(self, batch: Path) -> list[Filled]:
        taken = () if self.written is None else self.written.names
        tokens = self.samples.tokens_name if self.written is not None else "tokens"
        # Columns of ours are called as they were when the batch was written.
        number, ask, rule = (own_column(name, taken) for name in (SEQUENCE, ASK, RULE))
        written = written_rows(batch, "tokens-jsonl", "utf-8")
        if written is None or number not in written.names:
            raise InvalidInputError(
                f"{batch} has no column {number!r}, which says where its sequences come from; `labelworth next` "
                "wrote it."
            )
        raw = read_tokens_jsonl(batch, tokens_column=tokens, tags_column=self.tags_column)
        # The reader leaves out objects without tokens.
        rows = [row for row, record in enumerate(written.records) if record.get(tokens)]
        samples = []
        for index, row in enumerate(rows):
            record, position = written.records[row], written.positions[row]
            span = slice(int(raw.offsets[index]), int(raw.offsets[index + 1]))
            beside = {
                name: cell for name, cell in record.items() if name not in (number, ask, rule, self.tags_column)
            }
            asked = _asked(record.get(ask), ask, position)
            samples.append(Filled(record.get(number), position, raw.labels[span], asked, beside, raw.words[span]))
        return samples

    def _read_columns(self, batch: Path) -> list[Filled]:
        # What is still to be filled in is told apart from what was not asked for.
        raw = read_conll(
            batch, label_column=label_index(self.raw), word_column=word_index(self.raw), unlabeled=(NOT_ASKED,)
        )
        empty = (None, ASKED, self.samples.options.unlabeled)
        samples = []
        for index, (line, number) in enumerate(_numbered_sequences(batch)):
            span = slice(int(raw.offsets[index]), int(raw.offsets[index + 1]))
            cells = raw.labels[span]
            labels = tuple(None if cell in empty else cell for cell in cells)
            asked = frozenset(token for token, cell in enumerate(cells) if cell == ASKED)
            # Batches have the columns of the data in their order, whatever these are called there.
            columns = zip(self.raw.column_names, raw.columns, strict=False)
            beside = {name: list(column[span]) for name, column in columns}
            samples.append(Filled(number, f"{batch}, line {line}", labels, asked, beside, raw.words[span]))
        return samples

    def text(self, changes: Mapping[tuple[int, int], Any]) -> str:
        """The file with other labels."""
        if self.written is None:
            return self._columns_text(
                {self._tokens(index).start + token: label for (index, token), label in changes.items()}
            )
        tags: dict[int, list[Any]] = {}
        for (index, token), label in changes.items():
            row = self.objects[index]
            held = self.written.records[row].get(self.tags_column)
            tags.setdefault(row, list(held or [None] * len(self.words(index))))[token] = label
        return self.written.text_with(tags, self.tags_column)

    def _columns_text(self, changes: Mapping[int, Any]) -> str:
        """Lines without a new label stay as they are written."""
        options = self.samples.options
        label_at, has_labels = label_index(self.raw), options.label_column != NONE
        lines, token, delimiter = [], 0, None
        for line in read_lines(options.path, options.encoding):
            text = line.rstrip("\r\n")
            if _is_between(text):
                lines.append(text + "\n")
                continue
            delimiter = delimiter or ("\t" if "\t" in text else " ")
            if token in changes or not has_labels:
                cells = text.split("\t") if delimiter == "\t" else _BLANKS.split(text.strip(" \t"))
                cells[label_at : label_at + has_labels] = [str(changes.get(token, NOT_ASKED))]
                text = delimiter.join(cells)
            lines.append(text + "\n")
            token += 1
        return "".join(lines)

    def _tokens(self, index: int) -> slice:
        return slice(int(self.raw.offsets[index]), int(self.raw.offsets[index + 1]))


def held_samples(samples: Documents | TokenSequences, batch: Path) -> HeldDocuments | HeldSequences:
    """The data as a batch is merged into it."""
    return HeldDocuments(samples) if isinstance(samples, Documents) else HeldSequences(samples, batch)


def _merging_rows(path: Path, format: str | None, encoding: str) -> WrittenRows:
    rows = written_rows(path, format, encoding)
    if rows is None or (rows.delimiter is None and not rows.lines):
        raise InvalidInputError(
            f"{path} cannot be merged: that takes JSON lines or a table (.jsonl, .csv, .tsv), in which labels stand "
            "beside texts."
        )
    return rows


def _asked(cell: Any, column: str, position: str) -> frozenset[int]:
    """Which positions a batch asks for."""
    if cell is None:
        return frozenset()
    if not isinstance(cell, list) or not all(type(token) is int for token in cell):
        raise InvalidInputError(
            f"{position}: the column {column!r} is {cell!r:.60}. It must be the list of positions that "
            "`labelworth next` wrote there."
        )
    return frozenset(cell)


def _numbered_sequences(batch: Path) -> list[tuple[int, str | None]]:
    """The line on which every sequence begins, and the index in the data that the line before it names."""
    sequences: list[tuple[int, str | None]] = []
    number, inside = None, False
    for line_number, line in enumerate(read_lines(batch, "utf-8"), start=1):
        text = line.rstrip("\r\n")
        if text.startswith(DOCUMENT_START):
            number, inside = text.strip().removeprefix(NUMBERED).strip(), False
        elif _is_between(text):
            inside = False
        elif not inside:
            sequences.append((line_number, number))
            number, inside = None, True
    return sequences


def _is_between(text: str) -> bool:
    """Whether a line of CoNLL columns holds no token, as the reader sees it."""
    return not text.strip(" \t") or text.startswith(DOCUMENT_START)
