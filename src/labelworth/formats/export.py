"""What an annotation tool holds: items, and the judgements that were made of each."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Literal

from labelworth.errors import InvalidInputError

Kind = Literal["classes", "spans", "tags"]
"""What is said of an item: its classes, stretches of its text, or a tag of each of its tokens."""
How = Literal["is", "is not", "one of", "cannot say"]
State = Literal["unlabeled", "nothing", "labeled"]
Stretch = tuple[int, int]
"""From a character to before another one, counted in characters of the text."""


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of a text that has a label."""

    start: int
    end: int
    label: str
    gaps: tuple[Stretch, ...] = ()  # What does not belong to it between start and end: where it is discontinuous.

    def __post_init__(self) -> None:
        ends = [self.start, *(edge for gap in self.gaps for edge in gap), self.end]
        if self.start < 0 or any(right <= left for left, right in pairwise(ends)):
            raise InvalidInputError(
                f"A span goes from a character to a later one. Got {self.start} to {self.end}, without {self.gaps}."
            )

    @classmethod
    def of_pieces(cls, pieces: list[Stretch], label: str) -> "Span":
        """From pieces in any order; what touches or overlaps is one piece."""
        merged = merged_stretches(pieces)
        gaps = tuple((left[1], right[0]) for left, right in pairwise(merged))
        return cls(merged[0][0], merged[-1][1], label, gaps)

    @property
    def pieces(self) -> tuple[Stretch, ...]:
        edges = [self.start, *(edge for gap in self.gaps for edge in gap), self.end]
        return tuple(zip(edges[::2], edges[1::2], strict=True))


@dataclass(frozen=True)
class Judgement:
    """What somebody said of an item."""

    # By the kind of the export: classes, spans, or per token a tag, None (not seen) or a tuple (one of these tags).
    # Empty: nothing of what was asked about is there.
    said: tuple[Any, ...] = ()
    how: How = "is"  # Whether it is what is said, is not that, is one of those; or nobody could say.
    annotator: str = ""
    seconds: float | None = None
    when: datetime | None = None
    is_gold: bool = False  # Whether the tool marks it as the truth.
    # The stretches of the text that were looked at, where these are not all of it: nothing is known of the others.
    judged: tuple[Stretch, ...] | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds >= 0):
            raise InvalidInputError(f"seconds must be at least 0. Got {self.seconds!r}.")
        if self.how == "cannot say" and (self.said or self.judged is not None):
            raise InvalidInputError("Who cannot say has said nothing: leave said and judged out.")
        if self.how == "one of" and len(self.said) == 1:
            object.__setattr__(self, "how", "is")
        if self.when is not None and self.when.tzinfo is None:
            object.__setattr__(self, "when", self.when.replace(tzinfo=UTC))
        if self.said and all(isinstance(entry, Span) for entry in self.said):
            object.__setattr__(self, "said", tuple(sorted(set(self.said))))

    @property
    def says_nothing(self) -> bool:
        """Whether it is known that nothing is there."""
        return self.how == "is" and not self.said and self.judged is None


@dataclass(frozen=True)
class Prediction:
    """What a model expects, as tools show it to annotators; never taken for a label."""

    said: tuple[Any, ...]
    score: float | None = None
    model: str = ""

    def __post_init__(self) -> None:
        if self.said and all(isinstance(entry, Span) for entry in self.said):
            object.__setattr__(self, "said", tuple(sorted(set(self.said))))


@dataclass(frozen=True)
class Item:
    """A text, with its tokens where the tool knows them, and what was said of it."""

    id: str
    text: str
    judgements: tuple[Judgement, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    tokens: tuple[Stretch, ...] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)  # Whatever else the tool holds of it, as JSON knows it.

    def __post_init__(self) -> None:
        # What is null is not there.
        object.__setattr__(self, "meta", {name: value for name, value in self.meta.items() if value is not None})

    @property
    def state(self) -> State:
        """Whether it is labeled, labeled as nothing, or not labeled: skipped by all is not labeled."""
        made = [judgement for judgement in self.judgements if judgement.how != "cannot say"]
        if not made:
            return "unlabeled"
        return "nothing" if all(judgement.says_nothing for judgement in made) else "labeled"

    @property
    def words(self) -> list[str]:
        """The texts of the tokens."""
        return [self.text[start:end] for start, end in self.tokens or ()]


@dataclass(frozen=True)
class Export:
    """Items of which one question was asked."""

    items: tuple[Item, ...]
    kind: Kind = "classes"
    classes: tuple[str, ...] = ()  # As the tool declares them, in its order; empty: those that occur.
    question: str = "label"  # What the tool calls it.
    source: str = "export"
    notes: tuple[str, ...] = ()  # What was found or decided while reading, in words.

    def __post_init__(self) -> None:
        if self.kind not in ("classes", "spans", "tags"):
            raise InvalidInputError(f"kind must be classes, spans or tags. Got {self.kind!r}.")
        repeated = [name for name, count in Counter(item.id for item in self.items).items() if count > 1]
        if repeated:
            raise InvalidInputError(f"{self.source}: the id {repeated[0]!r:.60} is that of several items.")
        for item in self.items:
            for problem in _problems(item, self.kind):
                raise InvalidInputError(f"{self.source}, item {item.id!r:.60}: {problem}.")

    @property
    def known_classes(self) -> tuple[str, ...]:
        """Those declared, and others that occur, in order."""
        found = {name for item in self.items for said in _all_said(item) for name in labels_in(said)}
        return (*self.classes, *sorted(found - set(self.classes)))

    def noted(self, *notes: str) -> "Export":
        return replace(self, notes=(*self.notes, *notes))


def labels_in(said: tuple[Any, ...]) -> Iterator[str]:
    """The classes, labels of spans or tags that are named."""
    for entry in said:
        if isinstance(entry, Span):
            yield entry.label
        elif isinstance(entry, tuple):
            yield from entry
        elif entry is not None:
            yield entry


def merged_stretches(stretches: list[Stretch]) -> list[Stretch]:
    """In order, those that touch or overlap as one.

    >>> merged_stretches([(4, 6), (0, 2), (2, 3)])
    [(0, 3), (4, 6)]
    """
    merged: list[Stretch] = []
    for start, end in sorted(stretches):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _all_said(item: Item) -> Iterator[tuple[Any, ...]]:
    yield from (judgement.said for judgement in item.judgements)
    yield from (prediction.said for prediction in item.predictions)


def _problems(item: Item, kind: Kind) -> Iterator[str]:
    """What is wrong with an item."""
    if not item.id:
        yield "it has no id"
    yield from _token_problems(item, kind)
    for said in _all_said(item):
        yield from _said_problems(said, item, kind)
    for judgement in item.judgements:
        if kind == "tags" and judgement.how == "is" and not judgement.said:
            yield "a judgement has no tags"
        if any(not 0 <= start < end <= len(item.text) for start, end in judgement.judged or ()):
            yield "what was judged is beyond its text"


def _token_problems(item: Item, kind: Kind) -> Iterator[str]:
    ends = [edge for token in item.tokens or () for edge in token]
    if any(right < left for left, right in pairwise(ends)) or (ends and ends[-1] > len(item.text)):
        yield "its tokens are out of order or beyond the text"
    if any(start >= end for start, end in item.tokens or ()):
        yield "a token is empty"
    if kind == "tags" and item.tokens is None:
        yield "it has tags and no tokens"


def _said_problems(said: tuple[Any, ...], item: Item, kind: Kind) -> Iterator[str]:
    for entry in said:
        if (kind == "spans") != isinstance(entry, Span):
            yield f"it has {entry!r:.40} where {kind} are needed"
        elif isinstance(entry, Span) and entry.end > len(item.text):
            yield f"the span from {entry.start} to {entry.end} is beyond its {len(item.text):,} characters"
    if kind == "tags" and said and len(said) != len(item.tokens or ()):
        yield f"it has {len(item.tokens or ()):,} tokens and {len(said):,} tags"
    if any(not name or name != name.strip() for name in labels_in(said)):
        yield "a label is empty, or has blanks around it"
