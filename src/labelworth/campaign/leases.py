"""Leases: who works on which request, and until when."""

import sqlalchemy as sa

from labelworth.campaign.rows import items_by_id, one_person, one_request, request_of
from labelworth.campaign.schema import OPEN, WANTED, leases, requests, standing
from labelworth.campaign.values import Person, Task
from labelworth.errors import InvalidInputError, NotWantedError

MOST = 100
"""So many tasks at most are held by one person at a time."""
_RECOVERED = 500
"""So many leases that ran out are recovered at a time."""
_OPEN, _WANTED = sa.text(f"lw_leases.{OPEN}"), sa.text(WANTED)


def leased(connection: sa.Connection, annotator: int, n: int, *, now: float, until: float) -> list[Task]:
    """The tasks that somebody holds, and so many more that they hold `n` where there are as many.

    They get requests of their kind of labels in the order of the batches, never an item that they have answered or
    hold, and none that others hold or have answered, unless more votes are wanted.
    """
    if not 1 <= n <= MOST:
        raise InvalidInputError(f"Between 1 and {MOST} tasks can be held at a time. Got {n!r}.")
    person = require_active(connection, annotator)
    recover(connection, now=now)
    held = tasks_of(connection, person.id, now=now)
    if len(held) < n:
        _take(connection, person, n - len(held), now=now, until=until)
        held = tasks_of(connection, person.id, now=now)
    return held[:n]


def tasks_of(connection: sa.Connection, annotator: int, *, now: float) -> list[Task]:
    """What somebody holds now, longest held first."""
    query = (
        sa.select(requests, leases.c.id.label("lease_id"), leases.c.expires_at)
        .join(leases, leases.c.request_id == requests.c.id)
        .where(leases.c.annotator_id == annotator, _OPEN, leases.c.expires_at > now)
        .order_by(leases.c.id)
    )
    rows = connection.execute(query).all()
    known = items_by_id(connection, sorted({row.item_id for row in rows}))
    return [Task(request_of(row), known[row.item_id], row.lease_id, row.expires_at) for row in rows]


def recover(connection: sa.Connection, *, now: float) -> int:
    """Give back what was held for too long; says how many leases that were."""
    query = (
        sa.select(leases.c.id, leases.c.request_id)
        .join(requests, requests.c.id == leases.c.request_id)
        .where(_OPEN, leases.c.expires_at <= now)
        .order_by(leases.c.expires_at)
        .limit(_RECOVERED)
        .with_for_update(skip_locked=True)
    )
    rows = connection.execute(query).all()
    for row in sorted(rows, key=lambda row: row.request_id):
        _end(connection, row.id, row.request_id, "expired", now)
    return len(rows)


def renewed(connection: sa.Connection, annotator: int, request: int, *, now: float, until: float) -> float:
    """Let somebody go on with a task; until when."""
    require_active(connection, annotator)
    lease = open_lease(connection, annotator, request)
    if lease is None or lease[1] <= now:
        raise NotWantedError("That task is not yours any more: its time ran out. Take another one.")
    connection.execute(sa.update(leases).where(leases.c.id == lease[0]).values(expires_at=until))
    return until


def released(connection: sa.Connection, annotator: int, request: int | None, *, now: float) -> int:
    """Give back a task, or all of them; says how many."""
    require_active(connection, annotator)
    query = sa.select(leases.c.id, leases.c.request_id).where(leases.c.annotator_id == annotator, _OPEN)
    if request is not None:
        query = query.where(leases.c.request_id == request)
    rows = connection.execute(query.order_by(leases.c.request_id)).all()
    return sum(_end(connection, row.id, row.request_id, "released", now) for row in rows)


def open_lease(connection: sa.Connection, annotator: int, request: int) -> tuple[int, float] | None:
    """The lease that somebody has on a request and when it runs out, which may be past."""
    query = sa.select(leases.c.id, leases.c.expires_at).where(
        leases.c.annotator_id == annotator, leases.c.request_id == request, _OPEN
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else (row.id, row.expires_at)


def was_leased(connection: sa.Connection, annotator: int, request: int) -> bool:
    """Whether somebody ever held a request."""
    query = sa.select(leases.c.id).where(leases.c.annotator_id == annotator, leases.c.request_id == request)
    return connection.execute(query.limit(1)).one_or_none() is not None


def take(connection: sa.Connection, annotator: int, request: int, item: int, *, now: float, until: float) -> None:
    """Write a lease down."""
    connection.execute(
        sa.insert(leases).values(
            request_id=request, item_id=item, annotator_id=annotator, taken_at=now, expires_at=until
        )
    )
    connection.execute(sa.update(requests).where(requests.c.id == request).values(held=requests.c.held + 1))


def end_answered(connection: sa.Connection, lease: int, request: int, *, now: float) -> None:
    """The lease did what it was for."""
    _end(connection, lease, request, "answered", now)


def require_active(connection: sa.Connection, annotator: int) -> Person:
    """Somebody who may act; nobody else acts for them until the transaction ends."""
    person = locked_person(connection, annotator)
    if person.is_withdrawn:
        raise NotWantedError(f"{person.name} takes no part in this campaign any more.")
    return person


def locked_person(connection: sa.Connection, annotator: int) -> Person:
    """Somebody, withdrawn or not; nobody else acts for them until the transaction ends."""
    person = one_person(connection, annotator, locked=True)
    if person is None:
        raise InvalidInputError(f"There is no annotator {annotator!r:.40} in this campaign.")
    return person


def _take(connection: sa.Connection, person: Person, n: int, *, now: float, until: float) -> None:
    own = sa.select(standing.c.item_id).where(
        standing.c.annotator_id == person.id, standing.c.item_id == requests.c.item_id
    )
    holding = sa.select(leases.c.item_id).where(
        leases.c.annotator_id == person.id, leases.c.item_id == requests.c.item_id, _OPEN
    )
    query = (
        sa.select(requests.c.id, requests.c.item_id)
        .where(_WANTED, requests.c.channel == person.channel, ~own.exists(), ~holding.exists())
        .order_by(requests.c.id)
        .limit(n)
        .with_for_update(skip_locked=True, of=requests)
    )
    taken: set[int] = set()
    for row in connection.execute(query).all():
        # Two requests may be about one item: the other is for somebody else.
        if row.item_id not in taken:
            taken.add(row.item_id)
            take(connection, person.id, row.id, row.item_id, now=now, until=until)


def _end(connection: sa.Connection, lease: int, request: int, how: str, now: float) -> bool:
    """End a lease, once; whoever ends one has its request first, so that nobody waits in a circle."""
    one_request(connection, request, locked=True)
    ending = sa.update(leases).where(leases.c.id == lease, _OPEN).values(ended_at=now, ended_by=how)
    if connection.execute(ending).rowcount == 0:
        return False
    connection.execute(sa.update(requests).where(requests.c.id == request).values(held=requests.c.held - 1))
    return True
