"""Answers: added, never changed; once per key; acknowledged when they are durable."""

from typing import Any

import sqlalchemy as sa

from labelworth.campaign import leases as holding
from labelworth.campaign.counting import to_be_counted
from labelworth.campaign.rows import Row, one_request
from labelworth.campaign.said import from_json, read_said, to_json
from labelworth.campaign.schema import annotators, answers, items, requests, standing
from labelworth.campaign.values import Acknowledged, Given, Person, Request
from labelworth.errors import InvalidInputError, NotWantedError

_LONGEST_KEY = 200


def answered(
    connection: sa.Connection,
    annotator: int,
    number: int,
    said: Any,
    seconds: float | None,
    key: str,
    classes: tuple[str, ...],
    *,
    now: float,
) -> Acknowledged:
    """Keep an answer, once per key.

    It is kept where its annotator holds the request. Where they held it and their time ran out, it is kept if another
    answer is still wanted and nobody else works on it; else it is refused, and nothing is kept.
    """
    _require_key(key)
    request = _require_request(connection, number)
    units = read_said(said, request, classes)
    holding.locked_person(connection, annotator)
    before = _under_key(connection, annotator, key)
    if before is not None:
        _require_same(before, request=number, said=to_json(units), withdraws=None)
        return Acknowledged(before.id, key, is_new=False)
    person = holding.require_active(connection, annotator)
    request = _require_request(connection, number, locked=True)
    _require_wanted(connection, person, request, now=now)
    if seconds is not None and not 0 <= seconds < float("inf"):
        raise InvalidInputError(f"Seconds are a number that is not negative, or None. Got {seconds!r}.")
    added = sa.insert(answers).values(
        key=key,
        request_id=request.id,
        item_id=request.item_id,
        annotator_id=person.id,
        said=to_json(units),
        seconds=seconds,
        price=person.price * request.n_units,
        given_at=now,
    )
    number = int(connection.execute(added.returning(answers.c.id)).scalar_one())
    stand(connection, number, request, person.id)
    return Acknowledged(number, key, is_new=True)


def stand(connection: sa.Connection, answer: int, request: Request, annotator: int) -> None:
    """Let an answer count."""
    to_be_counted(connection, answer)
    connection.execute(
        sa.insert(standing).values(
            answer_id=answer, request_id=request.id, item_id=request.item_id, annotator_id=annotator
        )
    )
    connection.execute(sa.update(requests).where(requests.c.id == request.id).values(given=requests.c.given + 1))


def taken_back(
    connection: sa.Connection, annotator: int, answer: int | None, key: str, *, now: float, until: float
) -> Acknowledged:
    """Take back an answer, the last one unless named: a row that says so; the annotator holds its request again."""
    _require_key(key)
    holding.locked_person(connection, annotator)
    before = _under_key(connection, annotator, key)
    if before is not None:
        if before.withdraws is None or answer not in (None, before.withdraws):
            _require_same(before, request=before.request_id, said=None, withdraws=answer)
        return Acknowledged(before.id, key, is_new=False, task=_held(connection, annotator, before.request_id, now))
    person = holding.require_active(connection, annotator)
    query = sa.select(standing).where(standing.c.annotator_id == person.id)
    query = query.order_by(standing.c.answer_id.desc()).limit(1)
    row = connection.execute(query if answer is None else query.where(standing.c.answer_id == answer)).one_or_none()
    if row is None:
        raise NotWantedError(
            "There is no answer of yours to take back."
            if answer is None
            else "That is no answer of yours that stands."
        )
    _require_request(connection, row.request_id, locked=True)
    added = sa.insert(answers).values(
        key=key,
        request_id=row.request_id,
        item_id=row.item_id,
        annotator_id=person.id,
        withdraws=row.answer_id,
        said="[]",
        price=0.0,
        given_at=now,
    )
    number = int(connection.execute(added.returning(answers.c.id)).scalar_one())
    to_be_counted(connection, number)
    connection.execute(sa.delete(standing).where(standing.c.answer_id == row.answer_id))
    fewer = sa.update(requests).where(requests.c.id == row.request_id)
    connection.execute(fewer.values(given=requests.c.given - 1))
    if _require_request(connection, row.request_id).closed_at is None:
        holding.take(connection, person.id, row.request_id, row.item_id, now=now, until=until)
    return Acknowledged(number, key, is_new=True, task=_held(connection, annotator, row.request_id, now))


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
    query = sa.select(answers).where(answers.c.annotator_id == annotator, answers.c.key == key)
    return connection.execute(query).one_or_none()


def _require_same(before: Row, *, request: int, said: str | None, withdraws: int | None) -> None:
    if (before.request_id, before.said, before.withdraws) != (request, said, withdraws):
        raise NotWantedError(
            f"Something else was kept under the key {before.key!r:.80} before. A new answer needs a new key."
        )


def _require_wanted(connection: sa.Connection, person: Person, request: Request, *, now: float) -> None:
    """Refuse an answer that nobody asked this person for, or that is wanted no more; ends its lease."""
    if request.closed_at is not None:
        raise NotWantedError("That question is no longer asked. Take another task.")
    own = sa.select(standing.c.answer_id).where(
        standing.c.annotator_id == person.id, standing.c.item_id == request.item_id
    )
    if connection.execute(own.limit(1)).one_or_none() is not None:
        raise NotWantedError("You have answered for that item. Take your answer back to answer anew.")
    lease = holding.open_lease(connection, person.id, request.id)
    if lease is not None and lease[1] > now:
        holding.end_answered(connection, lease[0], request.id, now=now)
        return
    if lease is None and not holding.was_leased(connection, person.id, request.id):
        raise NotWantedError("Nobody asked you that: only tasks that you hold can be answered.")
    others = request.held - (lease is not None)
    if request.given + others >= request.votes:
        raise NotWantedError("Your time for that task ran out, and it was given to somebody else. Take another task.")
    if lease is not None:
        holding.end_answered(connection, lease[0], request.id, now=now)


def _require_request(connection: sa.Connection, number: int, *, locked: bool = False) -> Request:
    request = one_request(connection, number, locked=locked)
    if request is None:
        raise NotWantedError(f"There is no request {number!r:.40} in this campaign.")
    return request


def _require_key(key: str) -> None:
    if not key or len(key) > _LONGEST_KEY:
        raise InvalidInputError(f"A key has 1 to {_LONGEST_KEY} characters. Got {len(key)}.")
