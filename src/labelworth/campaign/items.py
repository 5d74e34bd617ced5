"""Items in the store, with what is known when they come: labels of files, and what people said elsewhere."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from labelworth.campaign.people import FILE, heard_person
from labelworth.campaign.said import from_json, to_json
from labelworth.campaign.schema import answers, guesses, items, requests, standing, unfolded
from labelworth.campaign.values import Added, Person, Unit
from labelworth.errors import InvalidInputError

_CHUNK = 500
HELD = "held"
"""The rule of labels and answers that nobody was asked for here: they came with a file."""


@dataclass(frozen=True)
class Heard:
    """What somebody said of an item before it came; a label of a file is what the file says."""

    annotator: str
    channel: str  # Of which kind it is, unless the annotator is known here.
    positions: tuple[int, ...] | None  # Tokens; None of a document.
    said: tuple[Unit, ...]
    seconds: float | None = None


@dataclass(frozen=True)
class NewItem:
    """An item that is to be added."""

    name: str
    content: str
    n_tokens: int | None
    heard: tuple[Heard, ...] = ()


def added(connection: sa.Connection, new: Sequence[NewItem], notes: tuple[str, ...], *, now: float) -> Added:
    """Add what is not there yet.

    Raises
    ------
    InvalidInputError
        If an item of the same name has another content.
    """
    known = _known(connection, [item.name for item in new])
    for item in new:
        if item.name in known and known[item.name][1] != item.content:
            raise InvalidInputError(
                f"The campaign has an item {item.name!r:.80} with another content. Items do not change: give it "
                "another name."
            )
    fresh = [item for item in new if item.name not in known]
    for part in _chunks(fresh):
        rows = [{"name": item.name, "content": item.content, "n_tokens": item.n_tokens} for item in part]
        connection.execute(sa.insert(items), rows)
    numbers = {name: number for name, (number, _) in known.items()}
    numbers |= {name: number for name, (number, _) in _known(connection, [item.name for item in fresh]).items()}
    people = {
        heard.annotator: heard_person(connection, heard.annotator, heard.channel, now=now)
        for heard in {own.annotator: own for item in new for own in item.heard}.values()
    }
    n_gold = n_answers = n_other = 0
    for name, person in people.items():
        own = [(numbers[item.name], heard) for item in new for heard in item.heard if heard.annotator == name]
        n_new, n_against = _add_heard(connection, person, own, now=now)
        n_other += n_against
        if name == FILE:
            n_gold = n_new
        else:
            n_answers += n_new
    if n_other:
        notes = (*notes, f"{n_other:,} items have another label in the file than they had before: that one stays.")
    return Added(len(fresh), len(new) - len(fresh), n_gold, notes, n_answers)


def _add_heard(
    connection: sa.Connection, person: Person, heard: Sequence[tuple[int, Heard]], *, now: float
) -> tuple[int, int]:
    """Keep what somebody said of items: how many labels are new, and how many items had another one from them."""
    before = _said_by(connection, person.id, [number for number, _ in heard])
    fresh = [(number, own) for number, own in heard if number not in before]
    n_other = sum(before[number] != (own.positions, own.said) for number, own in heard if number in before)
    for part in _chunks(fresh):
        asked = [
            {
                "item_id": number,
                "positions": None if own.positions is None else json.dumps(own.positions),
                "question": "[]",
                "channel": person.channel,
                "votes": 1,
                "given": 1,
                "held": 0,
                "rule": HELD,
                "drawn_by": HELD,
                "batch": 0,
                "why": "came with a file",
                "created_at": now,
            }
            for number, own in part
        ]
        made = _inserted(connection, requests, asked)
        said = [
            {
                "key": f"{HELD}:{request}",
                "request_id": request,
                "item_id": number,
                "annotator_id": person.id,
                "said": to_json(own.said),
                "seconds": own.seconds,
                "price": 0.0,
                "given_at": now,
            }
            for request, (number, own) in zip(made, part, strict=True)
        ]
        kept = _inserted(connection, answers, said)
        stands = [
            {"answer_id": answer, "request_id": request, "item_id": number, "annotator_id": person.id}
            for answer, request, (number, _) in zip(kept, made, part, strict=True)
        ]
        connection.execute(sa.insert(standing), stands)
        connection.execute(sa.insert(unfolded), [{"answer_id": answer} for answer in kept])
    return sum(len(own.said) for _, own in fresh), n_other


def _inserted(connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """The numbers of new rows, in their order."""
    adding = sa.insert(table).returning(table.c.id, sort_by_parameter_order=True)
    return [int(number) for number in connection.execute(adding, rows).scalars()]


def guessed(connection: sa.Connection, new: Sequence[Mapping[str, Any]]) -> None:
    """Keep what a model says of items, in place of what one said before."""
    connection.execute(sa.delete(guesses))
    rows = [{"item_id": row["item_id"], "said": json.dumps(row["said"], ensure_ascii=False)} for row in new]
    for part in _chunks(rows):
        connection.execute(sa.insert(guesses), part)


def _said_by(
    connection: sa.Connection, person: int, numbers: Sequence[int]
) -> dict[int, tuple[tuple[int, ...] | None, tuple[Unit, ...]]]:
    known = {}
    for part in _chunks(numbers):
        query = (
            sa.select(answers.c.item_id, answers.c.said, requests.c.positions)
            .join(requests, requests.c.id == answers.c.request_id)
            .where(answers.c.annotator_id == person, answers.c.item_id.in_(part))
        )
        for row in connection.execute(query):
            positions = None if row.positions is None else tuple(json.loads(row.positions))
            known[row.item_id] = (positions, from_json(row.said))
    return known


def _known(connection: sa.Connection, names: Sequence[str]) -> dict[str, tuple[int, str]]:
    known = {}
    for part in _chunks(names):
        query = sa.select(items.c.name, items.c.id, items.c.content).where(items.c.name.in_(part))
        known.update({row.name: (row.id, row.content) for row in connection.execute(query)})
    return known


def _chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))
