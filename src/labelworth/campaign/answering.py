"""Answers: added, never changed; once per key; acknowledged when they are durable."""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from labelworth.campaign import leases as holding
from labelworth.campaign.prepared import Prepared, Row
from labelworth.campaign.rows import one_request
from labelworth.campaign.said import from_json, read_said, to_json
from labelworth.campaign.schema import annotators, answers, items, requests, standing, unfolded
from labelworth.campaign.values import Acknowledged, Given, Person, Request
from labelworth.errors import InvalidInputError, NotWantedError

_LONGEST_KEY = 200
_who: sa.BindParameter[int] = sa.bindparam("annotator")

_UNDER_KEY = Prepared(
    sa.select(answers).where(answers.c.annotator_id == _who, answers.c.key == sa.bindparam("of_key"))
)
_OF_ITEM = Prepared(
    sa.select(standing.c.answer_id)
    .where(standing.c.annotator_id == _who, standing.c.item_id == sa.bindparam("item"))
    .limit(1)
)
_STANDS = sa.select(standing.c.answer_id).where(standing.c.answer_id == answers.c.id).exists()
_LAST = Prepared(
    sa.select(answers).where(answers.c.annotator_id == _who, _STANDS).order_by(answers.c.id.desc()).limit(1)
)
_ADD = Prepared(sa.insert(answers).returning(answers.c.id))
_STAND, _COUNT = Prepared(sa.insert(standing)), Prepared(sa.insert(unfolded))
_NOW_GIVEN = Prepared(
    sa.update(requests)
    .where(requests.c.id == sa.bindparam("request"))
    .values(given=requests.c.given + sa.bindparam("more"), held=requests.c.held - sa.bindparam("ended"))
)


@dataclass(frozen=True)
class Sent:
    """An answer as its sender wrote it."""

    request: int
    said: Any
    key: str
    seconds: float | None


def answered(
    connection: sa.Connection, annotator: int, sent: Sent, classes: tuple[str, ...], *, now: float
) -> tuple[Person, Acknowledged]:
    """Keep an answer, once per key.

    It is kept where its annotator holds the request. Where they held it and their time ran out, it is kept if another
    answer is still wanted and nobody else works on it; else it is refused, and nothing is kept.
    """
    _require_key(sent.key)
    person = holding.locked_person(connection, annotator)
    before = _under_key(connection, annotator, sent.key)
    request = _require_request(connection, sent.request, locked=before is None)
    said = to_json(read_said(sent.said, request, classes))
    if before is not None:
        _require_same(before, request=request.id, said=said, withdraws=None)
        return person, Acknowledged(before.id, sent.key, is_new=False)
    holding.active(person)
    if sent.seconds is not None and not 0 <= sent.seconds < float("inf"):
        raise InvalidInputError(f"Seconds are a number that is not negative, or None. Got {sent.seconds!r}.")
    ended = _require_wanted(connection, person, request, now=now)
    number = _added(
        connection,
        key=sent.key,
        request_id=request.id,
        item_id=request.item_id,
        annotator_id=person.id,
        withdraws=None,
        said=said,
        seconds=sent.seconds,
        price=person.price * request.n_units,
        given_at=now,
    )
    stands = {"answer_id": number, "request_id": request.id, "item_id": request.item_id, "annotator_id": person.id}
    _STAND.run(connection, **stands)
    _NOW_GIVEN.run(connection, request=request.id, more=1, ended=ended)
    return person, Acknowledged(number, sent.key, is_new=True)


def taken_back(
    connection: sa.Connection, annotator: int, answer: int | None, key: str, *, now: float, until: float
) -> Acknowledged:
    """Take back an answer, the last one unless named: a row that says so; the annotator holds its request again."""
    _require_key(key)
    person = holding.locked_person(connection, annotator)
    before = _under_key(connection, annotator, key)
    if before is not None:
        if before.withdraws is None or answer not in (None, before.withdraws):
            _require_same(before, request=before.request_id, said=None, withdraws=answer)
        return Acknowledged(before.id, key, is_new=False, task=_held(connection, annotator, before.request_id, now))
    holding.active(person)
    row = last_of(connection, person.id) if answer is None else _own(connection, person.id, answer)
    if row is None:
        raise NotWantedError(
            "There is no answer of yours to take back."
            if answer is None
            else "That is no answer of yours that stands."
        )
    request = _require_request(connection, row.request_id, locked=True)
    number = _added(
        connection,
        key=key,
        request_id=row.request_id,
        item_id=row.item_id,
        annotator_id=person.id,
        withdraws=row.id,
        said="[]",
        seconds=None,
        price=0.0,
        given_at=now,
    )
    connection.execute(sa.delete(standing).where(standing.c.answer_id == row.id))
    _NOW_GIVEN.run(connection, request=row.request_id, more=-1, ended=0)
    if request.closed_at is None:
        holding.take(connection, person.id, row.request_id, row.item_id, now=now, until=until)
    return Acknowledged(number, key, is_new=True, task=_held(connection, annotator, row.request_id, now))


def last_of(connection: sa.Connection, annotator: int) -> Row | None:
    """The last answer of somebody that stands."""
    return _LAST.one(connection, annotator=annotator)


def given_by(connection: sa.Connection, annotator: int | None, limit: int) -> list[Given]:
    """The last answers of somebody, or of everybody, newest first; those that were taken back say so."""
    query = (
        sa.select(
            answers,
            items.c.name.label("item"),
            annotators.c.name.label("annotator"),
            standing.c.answer_id.label("standing"),
        )
        .join(items, items.c.id == answers.c.item_id)
        .join(annotators, annotators.c.id == answers.c.annotator_id)
        .outerjoin(standing, standing.c.answer_id == answers.c.id)
        .where(answers.c.withdraws.is_(None))
        .order_by(answers.c.id.desc())
        .limit(limit)
    )
    rows = connection.execute(query if annotator is None else query.where(answers.c.annotator_id == annotator))
    return [
        Given(
            row.id,
            row.key,
            row.request_id,
            row.item,
            row.annotator,
            from_json(row.said),
            row.seconds,
            row.price,
            row.given_at,
            row.standing is not None,
        )
        for row in rows
    ]


def _held(connection: sa.Connection, annotator: int, request: int, now: float) -> Any:
    own = holding.tasks_of(connection, annotator, now=now)
    return next((task for task in own if task.request.id == request), None)


def _under_key(connection: sa.Connection, annotator: int, key: str) -> Row | None:
    return _UNDER_KEY.one(connection, annotator=annotator, of_key=key)


def _own(connection: sa.Connection, annotator: int, answer: int) -> Row | None:
    """An answer of somebody that stands."""
    query = sa.select(answers).where(answers.c.id == answer, answers.c.annotator_id == annotator, _STANDS)
    return connection.execute(query).one_or_none()


def _added(connection: sa.Connection, **values: Any) -> int:
    """Add a row to the log, to be counted; its number."""
    (added,) = _ADD.all(connection, **values)
    number = int(added.id)
    _COUNT.run(connection, answer_id=number)
    return number


def _require_same(before: Row, *, request: int, said: str | None, withdraws: int | None) -> None:
    if (before.request_id, before.said, before.withdraws) != (request, said, withdraws):
        raise NotWantedError(
            f"Something else was kept under the key {before.key!r:.80} before. A new answer needs a new key."
        )


def _require_wanted(connection: sa.Connection, person: Person, request: Request, *, now: float) -> int:
    """Refuse an answer that nobody asked this person for, or that is wanted no more; says how many leases it ends."""
    if request.closed_at is not None:
        raise NotWantedError("That question is no longer asked. Take another task.")
    if _OF_ITEM.one(connection, annotator=person.id, item=request.item_id) is not None:
        raise NotWantedError("You have answered for that item. Take your answer back to answer anew.")
    expired_at = holding.end_answered(connection, person.id, request.id, now=now)
    if expired_at is None and not holding.was_leased(connection, person.id, request.id):
        raise NotWantedError("Nobody asked you that: only tasks that you hold can be answered.")
    ended = int(expired_at is not None)
    is_late = expired_at is None or expired_at <= now
    if is_late and request.given + request.held - ended >= request.votes:
        raise NotWantedError("Your time for that task ran out, and it was given to somebody else. Take another task.")
    return ended


def _require_request(connection: sa.Connection, number: int, *, locked: bool = False) -> Request:
    request = one_request(connection, number, locked=locked)
    if request is None:
        raise NotWantedError(f"There is no request {number!r:.40} in this campaign.")
    return request


def _require_key(key: str) -> None:
    if not key or len(key) > _LONGEST_KEY:
        raise InvalidInputError(f"A key has 1 to {_LONGEST_KEY} characters. Got {len(key)}.")
