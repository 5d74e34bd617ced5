"""Rows of the store as values."""

import json
from typing import Any

import sqlalchemy as sa

from labelworth.campaign.schema import annotators, items, requests
from labelworth.campaign.values import Item, Person, Request

Row = sa.Row[Any]


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


def item_of(row: Row) -> Item:
    if row.n_tokens is None:
        return Item(row.id, row.name, row.content, None)
    content = json.loads(row.content)
    columns = {name: tuple(cells) for name, cells in content["columns"].items()}
    return Item(row.id, row.name, None, columns, content["words"])


def one_person(connection: sa.Connection, name_or_id: str | int, *, locked: bool = False) -> Person | None:
    """Somebody by name or number; `locked`: nobody else acts for them until the transaction ends."""
    column = annotators.c.name if isinstance(name_or_id, str) else annotators.c.id
    query = sa.select(annotators).where(column == name_or_id)
    row = connection.execute(query.with_for_update() if locked else query).one_or_none()
    return None if row is None else person_of(row)


def one_request(connection: sa.Connection, number: int, *, locked: bool = False) -> Request | None:
    query = sa.select(requests).where(requests.c.id == number)
    row = connection.execute(query.with_for_update() if locked else query).one_or_none()
    return None if row is None else request_of(row)


def items_by_id(connection: sa.Connection, numbers: list[int]) -> dict[int, Item]:
    rows = connection.execute(sa.select(items).where(items.c.id.in_(numbers)))
    return {row.id: item_of(row) for row in rows}
