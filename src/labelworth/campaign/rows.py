"""Rows of the store as values."""

import json

import sqlalchemy as sa

from labelworth.campaign.prepared import Prepared, Row
from labelworth.campaign.schema import annotators, items, requests
from labelworth.campaign.values import Item, Person, Request

ITEM = (items.c.name, items.c.content, items.c.n_tokens)
"""What of an item is read beside other columns."""
_request = sa.select(requests).where(requests.c.id == sa.bindparam("number"))
_REQUEST, _LOCKED = Prepared(_request), Prepared(_request.with_for_update())


def person_of(row: Row) -> Person:
    return Person(row.id, row.name, row.role, row.channel, row.price, row.created_at, row.withdrawn_at)


def request_of(row: Row) -> Request:
    return Request(
        row.id,
        row.item_id,
        None if row.positions is None else tuple(json.loads(row.positions)),
        tuple(json.loads(row.question)),
        row.channel,
        row.votes,
        row.given,
        row.held,
        row.rule,
        row.drawn_by,
        row.probability,
        row.batch,
        row.why,
        row.created_at,
        row.closed_at,
    )


def item_of(row: Row, number: int) -> Item:
    """From a row with what stands in `ITEM`."""
    if row.n_tokens is None:
        return Item(number, row.name, row.content, None)
    content = json.loads(row.content)
    columns = {name: tuple(cells) for name, cells in content["columns"].items()}
    return Item(number, row.name, None, columns, content["words"])


def one_person(connection: sa.Connection, name_or_id: str | int) -> Person | None:
    """Somebody by name or number."""
    column = annotators.c.name if isinstance(name_or_id, str) else annotators.c.id
    row = connection.execute(sa.select(annotators).where(column == name_or_id)).one_or_none()
    return None if row is None else person_of(row)


def one_request(connection: sa.Connection, number: int, *, locked: bool = False) -> Request | None:
    """A request; `locked`: nobody else changes it until the transaction ends."""
    row = (_LOCKED if locked else _REQUEST).one(connection, number=number)
    return None if row is None else request_of(row)
