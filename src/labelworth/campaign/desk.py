"""The desk of an annotator: a task, what the model thinks of it, and the answer before."""

import json

import sqlalchemy as sa

from labelworth.campaign import leases
from labelworth.campaign.answering import last_of
from labelworth.campaign.prepared import Prepared
from labelworth.campaign.said import from_json
from labelworth.campaign.schema import guesses
from labelworth.campaign.values import Desk, Guess, Person

_GUESS = Prepared(sa.select(guesses.c.said).where(guesses.c.item_id == sa.bindparam("item")))


def desk_of(
    connection: sa.Connection, person: Person, request: int | None = None, *, now: float, until: float
) -> Desk:
    """What somebody who acts holds, that request if it is among it, or a new task."""
    held = leases.at_least(connection, leases.active(person), 1, now=now, until=until)
    first = held[0] if held else None
    task = next((task for task in held if task.request.id == request), first)
    last = last_of(connection, person.id)
    guess = None if task is None else guess_of(connection, task.item.id)
    return Desk(task, guess, *((None,) if last is None else (last.id, from_json(last.said))))


def guess_of(connection: sa.Connection, item: int) -> Guess | None:
    """What the model of the last plan says of an item."""
    row = _GUESS.one(connection, item=item)
    return None if row is None else tuple((name, share) for name, share in json.loads(row.said))
