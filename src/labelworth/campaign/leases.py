"""Leases: who works on which request, and until when."""

from dataclasses import replace

import sqlalchemy as sa

from labelworth.campaign.prepared import Prepared, Row
from labelworth.campaign.rows import ITEM, item_of, one_request, person_of, request_of
from labelworth.campaign.schema import OPEN, WANTED, annotators, items, leases, requests, standing
from labelworth.campaign.values import Person, Task
from labelworth.errors import InvalidInputError, NotWantedError

MOST = 100
"""So many tasks at most are held by one person at a time."""
_RECOVERED = 500
"""So many leases that ran out are recovered at a time."""
_OPEN, _WANTED = sa.text(f"lw_leases.{OPEN}"), sa.text(WANTED)
_who: sa.BindParameter[int] = sa.bindparam("annotator")
_what: sa.BindParameter[int] = sa.bindparam("request")
_now: sa.BindParameter[float] = sa.bindparam("now")

_PERSON = Prepared(sa.select(annotators).where(annotators.c.id == _who).with_for_update())
_HELD = Prepared(
    sa.select(requests, *ITEM, leases.c.id.label("lease_id"), leases.c.expires_at)
    .join(leases, leases.c.request_id == requests.c.id)
    .join(items, items.c.id == requests.c.item_id)
    .where(leases.c.annotator_id == _who, _OPEN, leases.c.expires_at > _now)
    .order_by(leases.c.id)
)
_RAN_OUT = Prepared(
    sa.select(leases.c.id, leases.c.request_id)
    .join(requests, requests.c.id == leases.c.request_id)
    .where(_OPEN, leases.c.expires_at <= _now)
    .order_by(leases.c.expires_at)
    .limit(_RECOVERED)
    .with_for_update(skip_locked=True)
)
_ANSWERED = sa.select(standing.c.item_id).where(
    standing.c.annotator_id == _who, standing.c.item_id == requests.c.item_id
)
_HOLDS = sa.select(leases.c.item_id).where(
    leases.c.annotator_id == _who, leases.c.item_id == requests.c.item_id, _OPEN
)
_FREE = Prepared(
    sa.select(requests, *ITEM)
    .join(items, items.c.id == requests.c.item_id)
    .where(_WANTED, requests.c.channel == sa.bindparam("channel"), ~_ANSWERED.exists(), ~_HOLDS.exists())
    .order_by(requests.c.id)
    .limit(sa.bindparam("most"))
    .with_for_update(skip_locked=True, of=requests)
)
_TAKE = Prepared(sa.insert(leases).returning(leases.c.id))
_HOLD = Prepared(
    sa.update(requests).where(requests.c.id == _what).values(held=requests.c.held + sa.bindparam("more"))
)
_ended = sa.update(leases).where(_OPEN).values(ended_at=_now, ended_by=sa.bindparam("how"))
_END_ONE = Prepared(_ended.where(leases.c.id == sa.bindparam("lease")))
_END_OWN = Prepared(
    _ended.where(leases.c.annotator_id == _who, leases.c.request_id == _what).returning(leases.c.expires_at)
)


def leased(connection: sa.Connection, annotator: int, n: int, *, now: float, until: float) -> list[Task]:
    """The tasks that somebody holds, and so many more that they hold `n` where there are as many.

    They get requests of their kind of labels in the order of the batches, never an item that they have answered or
    hold, and none that others hold or have answered, unless more votes are wanted.
    """
    if not 1 <= n <= MOST:
        raise InvalidInputError(f"Between 1 and {MOST} tasks can be held at a time. Got {n!r}.")
    return at_least(connection, require_active(connection, annotator), n, now=now, until=until)[:n]


def at_least(connection: sa.Connection, person: Person, n: int, *, now: float, until: float) -> list[Task]:
    """All that somebody who acts holds, longest held first, with new tasks up to `n`."""
    recover(connection, now=now)
    held = tasks_of(connection, person.id, now=now)
    return held if len(held) >= n else held + _taken(connection, person, n - len(held), now=now, until=until)


def tasks_of(connection: sa.Connection, annotator: int, *, now: float) -> list[Task]:
    """What somebody holds now, longest held first."""
    rows = _HELD.all(connection, annotator=annotator, now=now)
    return [Task(request_of(row), item_of(row, row.item_id), row.lease_id, row.expires_at) for row in rows]


def recover(connection: sa.Connection, *, now: float) -> int:
    """Give back what was held for too long; says how many leases that were."""
    rows = _RAN_OUT.all(connection, now=now)
    for row in sorted(rows, key=lambda row: row.request_id):
        _end(connection, row.id, row.request_id, "expired", now)
    return len(rows)


def renewed(connection: sa.Connection, annotator: int, request: int, *, now: float, until: float) -> float:
    """Let somebody go on with a task; until when."""
    require_active(connection, annotator)
    own = (leases.c.annotator_id == annotator, leases.c.request_id == request, leases.c.expires_at > now)
    if connection.execute(sa.update(leases).where(*own, _OPEN).values(expires_at=until)).rowcount == 0:
        raise NotWantedError("That task is not yours any more: its time ran out. Take another one.")
    return until


def released(connection: sa.Connection, annotator: int, request: int | None, *, now: float) -> int:
    """Give back a task, or all of them; says how many."""
    locked_person(connection, annotator)
    query = sa.select(leases.c.id, leases.c.request_id).where(leases.c.annotator_id == annotator, _OPEN)
    if request is not None:
        query = query.where(leases.c.request_id == request)
    rows = connection.execute(query.order_by(leases.c.request_id)).all()
    return sum(_end(connection, row.id, row.request_id, "released", now) for row in rows)


def end_answered(connection: sa.Connection, annotator: int, request: int, *, now: float) -> float | None:
    """End the lease that somebody has on a request that is locked: when it runs out; None: there is none.

    The request still counts it as held: whoever answers says so together with the answer.
    """
    ended = _END_OWN.one(connection, annotator=annotator, request=request, now=now, how="answered")
    return None if ended is None else float(ended.expires_at)


def was_leased(connection: sa.Connection, annotator: int, request: int) -> bool:
    """Whether somebody ever held a request."""
    query = sa.select(leases.c.id).where(leases.c.annotator_id == annotator, leases.c.request_id == request)
    return connection.execute(query.limit(1)).one_or_none() is not None


def take(connection: sa.Connection, annotator: int, request: int, item: int, *, now: float, until: float) -> int:
    """Write a lease down; its number."""
    _HOLD.run(connection, request=request, more=1)
    own = {"request_id": request, "item_id": item, "annotator_id": annotator, "taken_at": now, "expires_at": until}
    (lease,) = _TAKE.all(connection, **own)
    return int(lease.id)


def require_active(connection: sa.Connection, annotator: int) -> Person:
    """Somebody who may act; nobody else acts for them until the transaction ends."""
    return active(locked_person(connection, annotator))


def active(person: Person) -> Person:
    if person.is_withdrawn:
        raise NotWantedError(f"{person.name} takes no part in this campaign any more.")
    return person


def locked_person(connection: sa.Connection, annotator: int) -> Person:
    """Somebody, withdrawn or not; nobody else acts for them until the transaction ends."""
    row = _PERSON.one(connection, annotator=annotator)
    if row is None:
        raise InvalidInputError(f"There is no annotator {annotator!r:.40} in this campaign.")
    return person_of(row)


def _taken(connection: sa.Connection, person: Person, n: int, *, now: float, until: float) -> list[Task]:
    """New tasks of somebody, at most `n`."""
    # Two requests may be about one item: the other is for somebody else.
    by_item: dict[int, Row] = {}
    for row in _FREE.all(connection, annotator=person.id, channel=person.channel, most=n):
        by_item.setdefault(row.item_id, row)
    tasks = []
    for row in by_item.values():
        lease = take(connection, person.id, row.id, row.item_id, now=now, until=until)
        request = replace(request_of(row), held=row.held + 1)
        tasks.append(Task(request, item_of(row, row.item_id), lease, until))
    return tasks


def _end(connection: sa.Connection, lease: int, request: int, how: str, now: float) -> bool:
    """End a lease, once; whoever ends one has its request first, so that nobody waits in a circle."""
    one_request(connection, request, locked=True)
    if _END_ONE.run(connection, lease=lease, now=now, how=how) == 0:
        return False
    _HOLD.run(connection, request=request, more=-1)
    return True
