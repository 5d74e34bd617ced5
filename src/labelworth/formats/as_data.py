"""An export as plans take data: labels where one judgement each was made, answers where several people judged."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray
from labelworth.data.answers import Answers
from labelworth.data.readers.answer_entries import AnswerOptions
from labelworth.data.readers.answers import answers_of
from labelworth.data.readers.notes import data_notes
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.readers.written import WrittenRows
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item, Judgement
from labelworth.formats.losses import ASPECTS, lost
from labelworth.formats.tokens import tokenizer_words, with_tokens

NOTHING = "(nothing)"
"""The class of texts that were looked at, and have none of the classes."""
_TOLD = ("discontinuous", "edges", "overlapping", "is not")


@dataclass(frozen=True)
class ExportedData:
    """Data that a tool exported, of documents or of sequences."""

    export: Export
    tokenizer: str | None = None

    @property
    def holds_sequences(self) -> bool:
        return self.export.kind != "classes"

    @cached_property
    def raw(self) -> RawTexts | RawTokens:
        """Texts or tokens with their labels: one judgement each, or what the tool marks as the truth."""
        read: RawTexts | RawTokens = self._tokens() if self.holds_sequences else self._texts()
        return replace(read, notes=(*data_notes(read), *read.notes))

    @cached_property
    def is_answered(self) -> bool:
        """Whether several people judged one item: then all that is not marked as the truth are answers."""
        return any(len({j.annotator for j in _made(item) if not j.is_gold}) > 1 for item in self.export.items)

    def answers(self) -> Answers | None:
        """Who said what of which document or token; None where judgements are labels."""
        if not self.is_answered:
            return None
        raw = self.raw
        rows = list(self._answer_rows())
        names = ("item", "annotator", "answer", "question", "seconds", *(("token",) if self.holds_sequences else ()))
        written = WrittenRows(
            names, tuple(rows), tuple(f"{self.export.source}, item {row['id']}" for row in rows), None
        )
        offsets = raw.offsets if isinstance(raw, RawTokens) else None
        options = AnswerOptions(
            classes=self.classes, n_samples=len(self.export.items), offsets=offsets, count_from=0, cannot_say=()
        )
        return answers_of(written, self.export.source, options)

    @property
    def answered(self) -> BoolArray:
        """Which documents, or sequences, somebody judged."""
        items = self.sequence_items if self.holds_sequences else self.export.items
        return np.array([bool(_made(item)) for item in items], dtype=bool)

    @property
    def sequence_items(self) -> list[Item]:
        """The items that are sequences: those without tokens are none."""
        return [item for item in self._tagged.items if item.tokens]

    def written(self, label_name: str) -> WrittenRows:
        """The documents as rows with what a plan or an annotator may need beside the text."""
        records = tuple(
            {**item.meta, "id": item.id, "text": item.text, label_name: label, "seconds": _seconds(item)}
            for item, label in zip(self.export.items, self.raw.labels, strict=True)
        )
        names = dict.fromkeys(("id", "text", *(name for record in records for name in record)))
        places = tuple(f"{self.export.source}, item {item.id}" for item in self.export.items)
        return WrittenRows(tuple(names), records, places, None)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """All classes or tags, those of answers among them."""
        if self.holds_sequences:
            return self._tagged.known_classes
        names = self.export.known_classes
        if len(names) == 1 and any(j.how == "is not" for item in self.export.items for j in item.judgements):
            return (*names, f"not {names[0]}")
        is_nothing = any(j.says_nothing for item in self.export.items for j in item.judgements)
        return (*names, NOTHING) if is_nothing and NOTHING not in names else names

    def _texts(self) -> RawTexts:
        items, notes = self.export.items, []
        labels = [self._label(self._standing(item)) for item in items]
        several = [item.id for item in items if any(j.how == "is" and len(j.said) > 1 for j in item.judgements)]
        if several:
            notes.append(
                _told("several classes at once; a plan has one, so they were read as 'one of these'", several)
            )
        nothing = [item.id for item in items if item.state == "nothing"]
        if nothing:
            notes.append(_told(f"no class, and were looked at: {NOTHING} is their class", nothing))
        notes += self._answers_note()
        texts = tuple(item.text for item in items)
        return RawTexts(texts, tuple(labels), self.export.source, (*self.export.notes, *notes))

    def _label(self, judgements: list[Judgement]) -> Any:
        """A class, None, or a list of classes of which it is one."""
        left = list(self.classes)
        for judgement in judgements:
            named = set(self._named(judgement))
            left = [name for name in left if (name in named) != (judgement.how == "is not")]
        if not judgements:
            return None
        if not left:
            # Questions were answered against each other: the last one stands.
            return self._label(judgements[-1:])
        return left[0] if len(left) == 1 else left if len(left) < len(self.classes) else None

    def _named(self, judgement: Judgement) -> tuple[str, ...]:
        return judgement.said or (NOTHING,)

    def _standing(self, item: Item) -> list[Judgement]:
        """The judgements that make its label: the truth where it is marked, else the last to every question."""
        gold = [judgement for judgement in _made(item) if judgement.is_gold]
        if gold:
            return gold[-1:]
        if self.is_answered:
            return []
        last: dict[Any, Judgement] = {}
        for judgement in _in_time(_made(item)):
            last[judgement.said if judgement.how == "is not" else None] = judgement
        return list(last.values())

    @cached_property
    def _tagged(self) -> Export:
        """With a tag per token; what tags cannot say is told."""
        export = with_tokens(self.export, self.tokenizer) if self.export.kind == "spans" else self.export
        losses, left = lost(export, ASPECTS.keys() - {*_TOLD, "spans"})
        told = [str(loss) for loss in losses if loss.aspect in _TOLD]
        if self.export.kind == "spans":
            told.append(
                f"Spans were read as tags of tokens (tokenizer: {tokenizer_words(self.export, self.tokenizer)})"
            )
        return left.noted(*(f"{words[0].upper()}{words[1:]}." for words in told))

    def _tokens(self) -> RawTokens:
        words: list[str] = []
        labels: list[Any] = []
        sizes, empty = [], []
        for item in self._tagged.items:
            if not item.tokens:
                empty.append(item.id)
                continue
            standing = self._standing(item)
            tags = standing[-1].said if standing else ()
            words += item.words
            labels += [list(tag) if isinstance(tag, tuple) else tag for tag in tags or [None] * len(item.tokens)]
            sizes.append(len(item.tokens))
        if not sizes:
            raise InvalidInputError(f"{self.export.source} holds no tokens. Was it written completely?")
        notes = [_told("no tokens, and were left out", empty)] if empty else []
        offsets = np.array([0, *accumulate(sizes)], dtype=np.int64)
        notes += self._answers_note()
        known = (*self._tagged.notes, *notes)
        return RawTokens((tuple(words),), ("tokens",), 0, offsets, tuple(labels), self.export.source, known)

    def _answers_note(self) -> list[str]:
        if not self.is_answered:
            return []
        n_shared = sum(len({j.annotator for j in _made(item)}) > 1 for item in self.export.items)
        return [
            f"{n_shared:,} of {len(self.export.items):,} items were judged by several people: judgements are read as "
            "answers, and as labels only where the tool marks them as the truth."
        ]

    def _answer_rows(self) -> Iterator[dict[str, Any]]:
        items = self.sequence_items if self.holds_sequences else self.export.items
        for number, item in enumerate(items):
            for judgement in item.judgements:
                if judgement.is_gold:
                    continue
                row = {
                    "id": item.id,
                    "item": number,
                    "annotator": judgement.annotator or "(unnamed)",
                    "seconds": judgement.seconds,
                }
                if judgement.how == "cannot say":
                    continue
                if self.holds_sequences:
                    tags = [(token, tag) for token, tag in enumerate(judgement.said) if tag is not None]
                    # The time of the whole is that of its tokens together.
                    row["seconds"] = None if judgement.seconds is None else judgement.seconds / max(len(tags), 1)
                    yield from ({**row, "token": token, "answer": _cell(tag)} for token, tag in tags)
                elif judgement.how == "is not":
                    yield {**row, "question": list(judgement.said), "answer": "no"}
                else:
                    yield {**row, "answer": list(self._named(judgement))}


def _cell(tag: Any) -> Any:
    return json.dumps(list(tag)) if isinstance(tag, tuple) else [tag]


def _seconds(item: Item) -> float | None:
    return next((judgement.seconds for judgement in item.judgements if judgement.seconds is not None), None)


def _made(item: Item) -> list[Judgement]:
    return [judgement for judgement in item.judgements if judgement.how != "cannot say"]


def _in_time(judgements: list[Judgement]) -> list[Judgement]:
    """The last one last: by when they were made where all of them say it, else as they stand."""
    times = [judgement.when for judgement in judgements if judgement.when is not None]
    if len(times) < len(judgements):
        return judgements
    return [judgements[index] for index in sorted(range(len(times)), key=times.__getitem__)]


def _told(what: str, ids: list[str]) -> str:
    named = ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
    return f"{len(ids):,} {'item has' if len(ids) == 1 else 'items have'} {what} ({named})."
