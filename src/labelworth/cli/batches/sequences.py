"""Batches of sequences: tokens with labels to fill in, as `next` writes them and `merge` reads them back.

JSON lines name the positions that are asked for; in CoNLL columns ``?`` stands where a label is to be filled in and
``_`` where none is asked for, and both are read as not seen.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from labelworth.arrays import BoolArray
from labelworth.cli.batches.merging import Filled, Position
from labelworth.cli.inputs.sequences import TokenSequences
from labelworth.cli.options.data import NONE
from labelworth.data.readers.choose import JSON_ENDINGS, ending
from labelworth.data.readers.conll import DOCUMENT_START, read_conll
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.readers.streams import read_lines
from labelworth.data.readers.tokens_jsonl import read_tokens_jsonl
from labelworth.data.readers.written import COLUMNS, LINES, json_lines, own_column, require_ending, written_rows
from labelworth.data.tag_schemes import parse_tag
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item
from labelworth.formats.token_files import item_of_words
from labelworth.planning.next import Batch, counts_of_policy, next_sequences
from labelworth.policies.spec import parse_policy

_ASKED, _NOT_ASKED = "?", "_"
_NUMBERED = f"{DOCUMENT_START} sequence"
"""In CoNLL columns: the line before a sequence that says its index; readers leave it out."""
_BLANKS = re.compile(r"[ \t]+")


class SequenceBatches:
    """The sequences of a file, and a batch of them in the file `path` (None: JSON lines on stdout)."""

    sample: ClassVar[str] = "sequence"

    def __init__(self, samples: TokenSequences, path: Path | None) -> None:
        self.samples, self.path = samples, path
        self.written = samples.written()
        self._objects = [] if self.written is None else samples.objects(self.written)
        self._tags_column = samples.tags_name(self.written)
        taken = () if self.written is None else self.written.names
        self._number, self._ask, self._rule = (own_column(name, taken) for name in ("sequence", "ask", "rule"))
        self._in_columns = path is not None and ending(path) not in JSON_ENDINGS

    @property
    def tokens(self) -> RawTokens:
        raw = self.samples.raw
        if not isinstance(raw, RawTokens):
            raise InvalidInputError(
                f"{self.samples.options.path} cannot be merged: that takes CoNLL columns or JSON lines, in which "
                "labels stand beside words."
            )
        return raw

    def require_form(self) -> None:
        """Refuse a file that no batch of this data is written to."""
        endings = (*LINES, *COLUMNS) if isinstance(self.samples.raw, RawTokens) else LINES
        require_ending(self.path, endings, "What to label of this data is", ".conll or .jsonl")

    @property
    def labeled(self) -> BoolArray:
        """Which sequences have any label."""
        return self.samples.raw.sequences().is_labeled

    def draw(self, counts: Mapping[str, int], policy: str | None, seed: int, taken: BoolArray | None = None) -> Batch:
        """What to label now; never of what is `taken`, what has a label unless given."""
        if policy is not None:
            counts = counts_of_policy(parse_policy(policy), sum(counts.values()))
        return next_sequences(self.samples.raw.sequences(), counts, seed, taken)

    def text_of(self, batch: Batch) -> str:
        """Every sequence with its index, its columns, and labels to fill in."""
        if self._in_columns:
            return self._columns_of(batch)
        records = []
        for index, arm, positions in zip(batch.rows.tolist(), batch.arms, batch.positions or (), strict=True):
            span = self._span(index)
            records.append(
                {
                    self._number: index,
                    **self._record(index),
                    self._ask: positions.tolist(),
                    self._rule: arm,
                    self._tags_column: [None] * (span.stop - span.start),
                }
            )
        return json_lines(records)

    def export_of(self, batch: Batch) -> Export:
        """The sequences as annotation tools import them: texts with their tokens, and which of them are asked for."""
        items = []
        for index, arm, positions in zip(batch.rows.tolist(), batch.arms, batch.positions or (), strict=True):
            words = list(self.words(index))
            held = self._exported
            item = item_of_words(str(index), words, ()) if held is None else replace(held[index], judgements=())
            asked = {} if len(positions) == len(words) else {self._ask: positions.tolist(), self._rule: arm}
            meta = {**item.meta, self._number: index, **asked}
            items.append(replace(item, meta=meta))
        tags = sorted({str(tag) for label in self.tokens.labels if label for tag in _each(label)})
        kinds = dict.fromkeys(parsed.kind for parsed in map(parse_tag, tags) if parsed is not None and parsed.kind)
        return Export(tuple(items), "spans", tuple(kinds), source=str(self.samples.options.path))

    @cached_property
    def _exported(self) -> list[Item] | None:
        """The items of an export, as its sequences are counted."""
        exported = self.samples.exported
        if exported is None:
            return None
        shown = {item.id: item.predictions for item in exported.export.items if exported.export.kind == "spans"}
        return [replace(item, predictions=shown.get(item.id, ())) for item in exported.sequence_items]

    def _columns_of(self, batch: Batch) -> str:
        columns, label_at = self.tokens.columns, self._label_index
        delimiter = "\t" if any(" " in cell for column in columns for cell in column) else " "
        lines = []
        for index, positions in zip(batch.rows.tolist(), batch.positions or (), strict=True):
            span, asked = self._span(index), set(positions.tolist())
            lines.append(f"{_NUMBERED} {index}\n\n")
            for token, row in enumerate(zip(*(column[span] for column in columns), strict=True)):
                cells = list(row)
                cells.insert(label_at, _ASKED if token in asked else _NOT_ASKED)
                lines.append(delimiter.join(cells) + "\n")
            lines.append("\n")
        return "".join(lines)

    @property
    def position_columns(self) -> dict[str, str]:
        """In sheets of answers, the columns that say what is asked about."""
        return {"item": "sequence", "token": "token"}

    @property
    def context_names(self) -> tuple[str, ...]:
        """In sheets of answers, the columns that are there to be read."""
        return "word", "text"

    def context(self, position: Position) -> dict[str, Any]:
        """A token as a sheet of answers shows it: where it is, itself, and the sequence around it."""
        index, token = position
        words = self.words(index)
        return {"sequence": index, "token": token, "word": words[token], "text": " ".join(words)}

    def labels(self, index: int) -> tuple[Any, ...]:
        return self.tokens.labels[self._span(index)]

    def words(self, index: int) -> tuple[str, ...]:
        return self.tokens.words[self._span(index)]

    def columns(self, index: int) -> Mapping[str, Any]:
        """What the data says of a sequence beside labels, called as in the batch."""
        if not self._in_columns:
            return self._record(index)
        span = self._span(index)
        named = zip(self.tokens.column_names, self.tokens.columns, strict=True)
        return {name: list(column[span]) for name, column in named}

    def where(self, index: int, token: int) -> str:
        return f"sequence {index}, token {token}"

    def read(self, path: Path) -> list[Filled]:
        """The sequences of a batch that was filled in."""
        data = self.tokens
        return self._read_columns(path, data) if self._in_columns else self._read_objects(path)

    def _read_objects(self, path: Path) -> list[Filled]:
        tokens = self.samples.tokens_name if self.written is not None else "tokens"
        # Columns of ours are called as they were when the batch was written.
        own = (self._number, self._ask, self._rule, self._tags_column)
        written = written_rows(path, "tokens-jsonl", "utf-8")
        if written is None or self._number not in written.names:
            raise InvalidInputError(
                f"{path} has no column {self._number!r}, which says where its sequences come from; `labelworth "
                "next` wrote it."
            )
        raw = read_tokens_jsonl(path, tokens_column=tokens, tags_column=self._tags_column)
        # The reader leaves out objects without tokens.
        rows = [row for row, record in enumerate(written.records) if record.get(tokens)]
        samples = []
        for index, row in enumerate(rows):
            record, position = written.records[row], written.positions[row]
            span = _span(raw, index)
            beside = {name: cell for name, cell in record.items() if name not in own}
            asked = _asked(record.get(self._ask), self._ask, position)
            samples.append(
                Filled(record.get(self._number), position, raw.labels[span], asked, beside, raw.words[span])
            )
        return samples

    def _read_columns(self, path: Path, data: RawTokens) -> list[Filled]:
        # The column of words, that of labels counted in.
        name = data.column_names[data.word_column]
        word_at = int(name) if name.isdigit() else data.word_column
        # What is still to be filled in is told apart from what was not asked for.
        raw = read_conll(path, label_column=self._label_index, word_column=word_at, unlabeled=(_NOT_ASKED,))
        empty = (None, _ASKED, self.samples.options.unlabeled)
        samples = []
        for index, (line, number) in enumerate(_numbered_sequences(path)):
            span = _span(raw, index)
            cells = raw.labels[span]
            labels = tuple(None if cell in empty else cell for cell in cells)
            asked = frozenset(token for token, cell in enumerate(cells) if cell == _ASKED)
            # Batches have the columns of the data in their order, whatever these are called there.
            columns = zip(data.column_names, raw.columns, strict=False)
            beside = {name: list(column[span]) for name, column in columns}
            samples.append(Filled(number, f"{path}, line {line}", labels, asked, beside, raw.words[span]))
        return samples

    def text(self, changes: Mapping[Position, Any]) -> str:
        """The file with other labels."""
        if self.written is None:
            first = self.tokens.offsets.tolist()
            return self._columns_text({first[index] + token: label for (index, token), label in changes.items()})
        tags: dict[int, list[Any]] = {}
        for (index, token), label in changes.items():
            row = self._objects[index]
            held = self.written.records[row].get(self._tags_column)
            tags.setdefault(row, list(held or [None] * len(self.words(index))))[token] = label
        return self.written.text_with(tags, self._tags_column)

    def _columns_text(self, changes: Mapping[int, Any]) -> str:
        """Lines without a new label stay as they are written."""
        options = self.samples.options
        label_at, has_labels = self._label_index, options.label_column != NONE
        lines, token, delimiter = [], 0, None
        for line in read_lines(options.path, options.encoding):
            text = line.rstrip("\r\n")
            if _is_between(text):
                lines.append(text + "\n")
                continue
            delimiter = delimiter or ("\t" if "\t" in text else " ")
            if token in changes or not has_labels:
                cells = text.split("\t") if delimiter == "\t" else _BLANKS.split(text.strip(" \t"))
                cells[label_at : label_at + has_labels] = [str(changes.get(token, _NOT_ASKED))]
                text = delimiter.join(cells)
            lines.append(text + "\n")
            token += 1
        return "".join(lines)

    def _span(self, index: int) -> slice:
        return _span(self.samples.raw, index)

    def _record(self, index: int) -> dict[str, Any]:
        """What objects say of a sequence beside labels; of columns, the words first and called "tokens"."""
        raw, span = self.samples.raw, self._span(index)
        if self.written is not None:
            return self.written.records[self._objects[index]]
        if not isinstance(raw, RawTokens):
            return {}
        named = {name: list(column[span]) for name, column in zip(raw.column_names, raw.columns, strict=True)}
        del named[raw.column_names[raw.word_column]]
        return {"tokens": list(raw.words[span]), **named}

    @property
    def _label_index(self) -> int:
        """In which column labels stand: that of the data where its columns have numbers, else the last."""
        names = self.tokens.column_names
        left_out = [number for number in range(len(names) + 1) if str(number) not in names]
        return left_out[0] if len(left_out) == 1 else len(names)


def _each(label: Any) -> list[Any]:
    """The tags that a token may have: one, or several candidates."""
    return list(label) if isinstance(label, list | tuple | set | frozenset) else [label]


def _span(raw: Any, index: int) -> slice:
    return slice(int(raw.offsets[index]), int(raw.offsets[index + 1]))


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
            number, inside = text.strip().removeprefix(_NUMBERED).strip(), False
        elif _is_between(text):
            inside = False
        elif not inside:
            sequences.append((line_number, number))
            number, inside = None, True
    return sequences


def _is_between(text: str) -> bool:
    """Whether a line of CoNLL columns holds no token, as the reader sees it."""
    return not text.strip(" \t") or text.startswith(DOCUMENT_START)
