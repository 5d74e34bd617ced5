"""How far a campaign is: progress, people, money."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from labelworth.campaign.people import FILE
from labelworth.campaign.rows import person_of
from labelworth.campaign.said import from_json
from labelworth.campaign.schema import OPEN, annotators, answers, items, leases, requests, standing
from labelworth.campaign.tallies import Against, Said, Tally, tally
from labelworth.campaign.values import GOLD, BatchStatus, Confusion, PersonStatus, Settings, Status

_count, _sum = sa.func.count, sa.func.sum


def status(connection: sa.Connection, settings: Settings, *, now: float) -> Status:
    """Everything at once, of one state of the store."""
    people = _people(connection, settings, now=now)
    batches = _batches(connection)
    wanted, given = sum(batch.wanted for batch in batches), sum(batch.given for batch in batches)
    held = sum(person.n_held for person in people)
    is_open = requests.c.closed_at.is_(None) & (requests.c.batch > 0)
    due = sa.select(sa.func.coalesce(_sum(requests.c.votes - requests.c.given), 0)).where(is_open)
    labeled = (
        sa.select(_count(sa.distinct(standing.c.item_id)))
        .join(requests, requests.c.id == standing.c.request_id)
        .where(requests.c.channel == GOLD)
    )
    return Status(
        settings=settings,
        n_items=_number(connection, sa.select(_count()).select_from(items)),
        n_labeled=_number(connection, labeled),
        n_answered=_number(connection, sa.select(_count(sa.distinct(standing.c.item_id)))),
        n_requests=sum(batch.n_requests for batch in batches),
        n_done=sum(batch.n_done for batch in batches),
        wanted=wanted,
        given=given,
        held=held,
        due=_number(connection, due) - held,
        n_answers=sum(person.n_answers for person in people),
        spent=sum(person.spent for person in people),
        people=people,
        batches=batches,
    )


def confusion(connection: sa.Connection, settings: Settings, annotator: str, against: Against) -> Confusion:
    """What somebody said where gold, or others, said something else."""
    number = _number(connection, sa.select(annotators.c.id).where(annotators.c.name == annotator))
    cells = tallied(connection, settings).cells
    counts = {
        (other, own): n for (person, kind, other, own), n in cells.items() if person == number and kind == against
    }
    terms = dict.fromkeys([*settings.classes, *sorted(term for pair in counts for term in pair)])
    return Confusion(annotator, against, tuple(terms), counts)


def tallied(connection: sa.Connection, settings: Settings) -> Tally:
    """Who agrees with whom."""
    return tally(_units(connection), settings.classes)


def _units(connection: sa.Connection) -> Iterator[list[Said]]:
    """What stands of every document and token."""
    query = (
        sa.select(
            standing.c.item_id,
            standing.c.annotator_id,
            requests.c.channel,
            requests.c.rule,
            requests.c.positions,
            requests.c.question,
            answers.c.said,
            annotators.c.name,
        )
        .join(answers, answers.c.id == standing.c.answer_id)
        .join(requests, requests.c.id == standing.c.request_id)
        .join(annotators, annotators.c.id == standing.c.annotator_id)
    )
    by_unit: defaultdict[tuple[int, int], list[Said]] = defaultdict(list)
    for row in connection.execute(query):
        question = tuple(json.loads(row.question))
        positions = [-1] if row.positions is None else json.loads(row.positions)
        for position, unit in zip(positions, from_json(row.said), strict=True):
            said = Said(row.annotator_id, row.channel == GOLD, row.name == FILE, question, unit)
            by_unit[row.item_id, position].append(said)
    yield from by_unit.values()


def _people(connection: sa.Connection, settings: Settings, *, now: float) -> tuple[PersonStatus, ...]:
    counted = tallied(connection, settings)
    gold, others = counted.agreement("gold"), counted.agreement("others")
    cannot = answers.c.said.not_like('%"%') & answers.c.said.not_like("%true%") & answers.c.said.not_like("%false%")
    figures = (
        sa.select(
            answers.c.annotator_id,
            _count().label("n"),
            _sum(sa.case((cannot, 1), else_=0)).label("n_cannot_say"),
            sa.func.avg(answers.c.seconds).label("seconds"),
            _sum(answers.c.price).label("spent"),
            sa.func.max(answers.c.given_at).label("last_at"),
        )
        .join(standing, standing.c.answer_id == answers.c.id)
        .group_by(answers.c.annotator_id)
    )
    stands = {row.annotator_id: row for row in connection.execute(figures)}
    back = sa.select(answers.c.annotator_id, _count()).where(answers.c.withdraws.is_not(None))
    taken_back = _by_annotator(connection, back)
    working = sa.select(leases.c.annotator_id, _count()).where(sa.text(OPEN), leases.c.expires_at > now)
    held = _by_annotator(connection, working)
    people = []
    for row in connection.execute(sa.select(annotators).where(annotators.c.name != FILE).order_by(annotators.c.id)):
        own = stands.get(row.id)
        people.append(
            PersonStatus(
                person_of(row),
                0 if own is None else own.n,
                0 if own is None else own.n_cannot_say,
                taken_back.get(row.id, 0),
                None if own is None else own.seconds,
                0.0 if own is None else own.spent,
                *gold.get(row.id, (0, 0)),
                *others.get(row.id, (0, 0)),
                held.get(row.id, 0),
                None if own is None else own.last_at,
            )
        )
    return tuple(people)


def _batches(connection: sa.Connection) -> tuple[BatchStatus, ...]:
    """All but what came with files, oldest first."""
    figures = (
        sa.select(
            requests.c.batch,
            requests.c.channel,
            _count().label("n"),
            _sum(sa.case((requests.c.given >= requests.c.votes, 1), else_=0)).label("n_done"),
            _sum(requests.c.votes).label("wanted"),
            _sum(requests.c.given).label("given"),
            sa.func.min(requests.c.why).label("why"),
            sa.func.min(requests.c.created_at).label("created_at"),
        )
        .where(requests.c.batch > 0)
        .group_by(requests.c.batch, requests.c.channel)
        .order_by(requests.c.batch, requests.c.channel)
    )
    by_batch: defaultdict[int, list[sa.Row[tuple[object, ...]]]] = defaultdict(list)
    for row in connection.execute(figures):
        by_batch[row.batch].append(row)
    return tuple(
        BatchStatus(
            batch,
            sum(row.n for row in rows),
            sum(row.n_done for row in rows),
            sum(row.wanted for row in rows),
            sum(row.given for row in rows),
            tuple(row.channel for row in rows),
            rows[0].why,
            rows[0].created_at,
        )
        for batch, rows in by_batch.items()
    )


def _by_annotator(connection: sa.Connection, query: Any) -> dict[int, int]:
    key = query.selected_columns[0]
    return {row[0]: row[1] for row in connection.execute(query.group_by(key))}


def _number(connection: sa.Connection, query: Any) -> int:
    return int(connection.execute(query).scalar_one())
