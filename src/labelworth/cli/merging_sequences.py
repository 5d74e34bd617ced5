"""Labels of tokens that were filled in, merged into their file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelworth.cli.batch_writing import ASKED, NOT_ASKED, NUMBERED, SEQUENCE, columns_of_tokens, label_place
from labelworth.cli.merging import Merged, Merging, place_of
from labelworth.cli.merging_columns import require_same_columns
from labelworth.cli.reading import NO_MARKER
from labelworth.cli.sequence_reading import SequenceSource
from labelworth.cli.written_rows import WrittenRows, own_column, suffix_of, written_rows
from labelworth.cli.written_sequences import tags_column, tokens_column, written_sequences

_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True)
class _Filled:
    """One sequence of a batch: what it says of its place, its words, labels, which were asked for, and the rest."""

    number: Any
    place: str
    words: tuple[str, ...]
    labels: tuple[Any, ...]
    asked: frozenset[int]
    columns: dict[str, Any]


@dataclass(frozen=True)
class _ColumnsHeld:
    """What the data says of its sequences beside labels, called as in the batch."""

    raw: Any
    written: WrittenRows | None
    is_columns: bool

    @classmethod
    def of(cls, source: SequenceSource, raw: Any, batch: Path) -> "_ColumnsHeld":
        written = written_sequences(source.path, source.word_column or "text", source.format, source.encoding)
        return cls(raw, written, not _is_lines(batch))

    def at(self, sequence: int) -> Mapping[str, Any]:
        if not self.is_columns and self.written is not None:
            return self.written.records[sequence]
        first, end = int(self.raw.offsets[sequence]), int(self.raw.offsets[sequence + 1])
        if not self.is_columns:
            return columns_of_tokens(self.raw, first, end)
        return {
            name: list(column[first:end])
            for name, column in zip(self.raw.column_names, self.raw.columns, strict=True)
        }


def merge_sequences(source: SequenceSource, batch: Path, classes: str | None) -> Merged:
    """The file with the labels of the batch.

    Raises
    ------
    InvalidInputError
        If sequences do not fit, or labels are not known or differ from those in the data.
    """
    from labelworth.errors import InvalidInputError

    raw: Any = source.read_quietly()
    if not hasattr(raw, "columns"):
        raise InvalidInputError(
            f"{source.path} cannot be merged: that takes CoNLL columns or JSON lines, in which labels stand beside "
            "words."
        )
    named = None if classes is None else [name.strip() for name in classes.split(",")]
    merging = Merging(raw.labels, named)
    seen: dict[int, str] = {}
    filled, columns_held = _filled(source, raw, batch), _ColumnsHeld.of(source, raw, batch)
    for one in filled:
        number = place_of(one.number, len(raw.offsets) - 1, one.place, SEQUENCE, seen)
        first, end = int(raw.offsets[number]), int(raw.offsets[number + 1])
        _require_same_words(one, raw.words[first:end], number)
        require_same_columns(columns_held.at(number), one.columns, (), one.place, f"sequence {number}")
        for position, label in enumerate(one.labels):
            where, held = f"sequence {number}, token {position}", raw.labels[first + position]
            if label is not None:
                merging.take(first + position, label, held, where)
            elif position in one.asked and held is None:
                merging.leave(where)
    return merging.finish(lambda changes: _text(source, raw, changes), len(filled))


def _filled(source: SequenceSource, raw: Any, batch: Path) -> list[_Filled]:
    return _filled_lines(source, batch) if _is_lines(batch) else _filled_columns(source, raw, batch)


def _is_lines(batch: Path) -> bool:
    return suffix_of(batch) in (".jsonl", ".ndjson", ".json")


def _filled_lines(source: SequenceSource, batch: Path) -> list[_Filled]:
    from labelworth.data.readers.tokens_jsonl import read_tokens_jsonl
    from labelworth.errors import InvalidInputError

    data = written_sequences(source.path, source.word_column or "text", source.format, source.encoding)
    taken = () if data is None else data.names
    tokens = tokens_column(source.word_column or "text") if data is not None else "tokens"
    tags = tags_column(data, source.label_column or "label")
    # Rows of ours are found by the data's own columns, as they were named when the batch was written.
    number, ask, rule = (own_column(name, taken) for name in (SEQUENCE, "ask", "rule"))
    written = written_sequences(batch, tokens, None, "utf-8")
    if written is None or number not in written.names:
        raise InvalidInputError(
            f"{batch} has no column {number!r}, which says where its sequences come from; `labelworth next` wrote it."
        )
    raw = read_tokens_jsonl(batch, tokens_column=tokens, tags_column=tags)
    found = []
    for place, record in enumerate(written.records):
        first, end = int(raw.offsets[place]), int(raw.offsets[place + 1])
        asked = frozenset(record.get(ask) or ())
        where = written.places[place]
        beside = {name: cell for name, cell in record.items() if name not in (number, ask, rule, tags)}
        found.append(_Filled(record.get(number), where, raw.words[first:end], raw.labels[first:end], asked, beside))
    return found


def _filled_columns(source: SequenceSource, raw: Any, batch: Path) -> list[_Filled]:
    from labelworth.data.readers.conll import read_conll

    label_at, word_at = label_place(raw), _word_place(raw)
    # What is still to be filled in is told apart from what was not asked for.
    found = read_conll(batch, label_column=label_at, word_column=word_at, unlabeled=(NOT_ASKED,))
    marker = source.unlabeled
    filled = []
    for place, (line, number) in enumerate(_numbers(batch)):
        first, end = int(found.offsets[place]), int(found.offsets[place + 1])
        cells = found.labels[first:end]
        labels = tuple(None if cell in (None, ASKED, marker) else cell for cell in cells)
        asked = frozenset(position for position, cell in enumerate(cells) if cell == ASKED)
        # Batches have the columns of the data in their order, whatever these are called there.
        beside = {
            name: list(column[first:end]) for name, column in zip(raw.column_names, found.columns, strict=False)
        }
        filled.append(_Filled(number, f"{batch}, line {line}", found.words[first:end], labels, asked, beside))
    return filled


def _numbers(batch: Path) -> list[tuple[int, str | None]]:
    """The line on which every sequence begins, and the place in the data that the line before it names."""
    from labelworth.data.readers.conll import DOCUMENT_START
    from labelworth.data.readers.streams import read_lines

    found: list[tuple[int, str | None]] = []
    number, inside = None, False
    for place, line in enumerate(read_lines(batch, "utf-8"), start=1):
        text = line.strip()
        if text.startswith(DOCUMENT_START):
            number, inside = text.removeprefix(NUMBERED).strip(), False
        elif not text:
            inside = False
        elif not inside:
            found.append((place, number))
            number, inside = None, True
    return found


def _word_place(raw: Any) -> int:
    """The column of words, that of labels counted in."""
    name = raw.column_names[raw.word_column]
    return int(name) if name.isdigit() else raw.word_column


def _require_same_words(one: _Filled, held: Sequence[str], number: int) -> None:
    from labelworth.errors import InvalidInputError

    if tuple(one.words) != tuple(held):
        raise InvalidInputError(
            f"{one.place}: these are not the words of sequence {number} in the data. Nothing was merged. Have the "
            "data changed since the batch was drawn? Then draw it again, or correct the sequence."
        )


def _text(source: SequenceSource, raw: Any, changes: dict[int, Any]) -> str:
    written = written_sequences(source.path, source.word_column or "text", source.format, source.encoding)
    whole = None if written is None else written_rows(source.path, "tokens-jsonl", source.encoding)
    if whole is None:
        return _columns_text(source, raw, changes)
    column = tags_column(written, source.label_column or "label")
    tokens = tokens_column(source.word_column or "text")
    # Objects without tokens are no sequences to the reader, and stay.
    rows = [row for row, record in enumerate(whole.records) if record.get(tokens)]
    changed: dict[int, Any] = {}
    for token, label in changes.items():
        sequence = int(raw.offsets.searchsorted(token, side="right")) - 1
        record = whole.records[rows[sequence]]
        tags = changed.setdefault(rows[sequence], list(record.get(column) or [None] * len(record[tokens])))
        tags[token - int(raw.offsets[sequence])] = label
    return whole.text_with(changed, column)


def _columns_text(source: SequenceSource, raw: Any, changes: dict[int, Any]) -> str:
    """The lines of the file with other labels; those without a new one stay as they are written."""
    from labelworth.data.readers.conll import DOCUMENT_START
    from labelworth.data.readers.streams import read_lines

    place, has_labels = label_place(raw), source.label_column != NO_MARKER
    lines, token, delimiter = [], 0, None
    for line in read_lines(source.path, source.encoding):
        text = line.rstrip("\r\n")
        if not text.strip(" \t") or text.startswith(DOCUMENT_START):
            lines.append(text + "\n")
            continue
        delimiter = delimiter or ("\t" if "\t" in text else " ")
        if token in changes or not has_labels:
            cells = text.split("\t") if delimiter == "\t" else _BLANKS.split(text.strip(" \t"))
            cells[place : place + 1] = [str(changes.get(token, NOT_ASKED))]
            text = delimiter.join(cells)
        lines.append(text + "\n")
        token += 1
    return "".join(lines)
