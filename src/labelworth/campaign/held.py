"""What the store holds, as plans take data: texts or tokens, labels that are gold, and answers beside them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from labelworth.arrays import FloatArray, IntArray
from labelworth.campaign.rows import item_of
from labelworth.campaign.said import from_json
from labelworth.campaign.schema import annotators, answers, items, requests, standing
from labelworth.campaign.values import GOLD, Item, Settings, Unit
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError


@dataclass(frozen=True)
class StandingAnswer:
    """What somebody says of a document or of tokens, with why they were asked."""

    id: int
    item_id: int
    annotator: str
    channel: str
    positions: tuple[int, ...] | None
    question: tuple[str, ...]
    said: tuple[Unit, ...]
    seconds: float | None
    price: float
    given_at: float
    rule: str
    drawn_by: str
    probability: float | None
    batch: int

    @property
    def units(self) -> list[tuple[int, Unit]]:
        """Token, 0 of a document, and what was said of it."""
        positions = (0,) if self.positions is None else self.positions
        return list(zip(positions, self.said, strict=True))


def all_items(connection: sa.Connection) -> list[Item]:
    """In the order in which they were added."""
    return [item_of(row, row.id) for row in connection.execute(sa.select(items).order_by(items.c.id))]


def all_standing(connection: sa.Connection) -> list[StandingAnswer]:
    """Answers that stand, in the order in which they were given."""
    query = (
        sa.select(answers, requests, annotators.c.name.label("annotator"), answers.c.id.label("answer_id"))
        .join(standing, standing.c.answer_id == answers.c.id)
        .join(requests, requests.c.id == answers.c.request_id)
        .join(annotators, annotators.c.id == answers.c.annotator_id)
        .order_by(answers.c.id)
    )
    return [
        StandingAnswer(
            row.answer_id,
            row.item_id,
            row.annotator,
            row.channel,
            None if row.positions is None else tuple(json.loads(row.positions)),
            tuple(json.loads(row.question)),
            from_json(row.said),
            row.seconds,
            row.price,
            row.given_at,
            row.rule,
            row.drawn_by,
            row.probability,
            row.batch,
        )
        for row in connection.execute(query)
    ]


def allowed(question: Sequence[str], unit: Unit, classes: Sequence[str]) -> tuple[str, ...]:
    """The classes that something said leaves.

    >>> allowed(("ham",), False, ["ham", "news", "spam"]), allowed((), None, ["ham", "spam"])
    (('news', 'spam'), ('ham', 'spam'))
    """
    if unit is None:
        return tuple(classes)
    if isinstance(unit, bool):
        return tuple(name for name in classes if (name in question) == unit)
    return (unit,) if isinstance(unit, str) else unit


def gold_labels(given: Sequence[StandingAnswer], classes: Sequence[str]) -> dict[tuple[int, int], Any]:
    """By item and token the label that gold answers leave: a class, or a list, one of these; nothing: not in it.

    What all gold answers allow; where they contradict each other, one of those that any of them allows.
    """
    sets: dict[tuple[int, int], list[tuple[str, ...]]] = {}
    for answer in given:
        if answer.channel == GOLD:
            for position, unit in answer.units:
                if unit is not None:
                    known = sets.setdefault((answer.item_id, position), [])
                    known.append(allowed(answer.question, unit, classes))
    labels: dict[tuple[int, int], Any] = {}
    for unit_of, said in sets.items():
        common = [name for name in classes if all(name in one for one in said)]
        left = common or [name for name in classes if any(name in one for one in said)]
        if len(left) < len(classes):
            labels[unit_of] = left[0] if len(left) == 1 else left
    return labels


def raw_of(held: Sequence[Item], labels: Mapping[tuple[int, int], Any], settings: Settings) -> "RawTexts | RawTokens":
    """The items as readers of files give them."""
    if not held:
        raise InvalidInputError("The campaign has no items yet. Add some first.")
    if settings.kind == "documents":
        texts = tuple(item.text or "" for item in held)
        return RawTexts(texts, tuple(labels.get((item.id, 0)) for item in held), settings.name)
    names = tuple(dict.fromkeys(name for item in held for name in item.columns or {}))
    columns = tuple(
        tuple(cell for item in held for cell in (item.columns or {}).get(name, ("",) * len(item.tokens or ())))
        for name in names
    )
    words = held[0].word_column or names[0]
    flat = tuple(labels.get((item.id, token)) for item in held for token in range(len(item.tokens or ())))
    return RawTokens(columns, names, names.index(words), offsets_of(held), flat, settings.name)


def sequences_of(connection: sa.Connection, settings: Settings) -> Sequences:
    """Of a campaign of sequences, all of them, as rules look at them."""
    raw = raw_of(all_items(connection), {}, settings)
    if not isinstance(raw, RawTokens):
        raise InvalidInputError("Rules for tokens are for campaigns of sequences.")
    return raw.sequences(classes=settings.classes)


def offsets_of(held: Sequence[Item]) -> IntArray:
    """Where sequences begin among all tokens, and where the last one ends."""
    lengths = [len(item.tokens or ()) for item in held]
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def drawn_log(held: Sequence[Item], given: Sequence[StandingAnswer]) -> tuple[FloatArray, IntArray] | None:
    """Of every document, the probability and the batch with which its gold label was asked for; None: none was."""
    row_of = {item.id: row for row, item in enumerate(held)}
    probabilities, batches = np.full(len(held), np.nan), np.zeros(len(held), dtype=np.int64)
    for answer in given:
        if answer.channel == GOLD and answer.probability is not None:
            row = row_of[answer.item_id]
            probabilities[row], batches[row] = answer.probability, answer.batch
    return None if np.isnan(probabilities).all() else (probabilities, batches)
