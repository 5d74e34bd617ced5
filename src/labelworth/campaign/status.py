"""How far a campaign is: progress, people, money."""

from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from labelworth.campaign.counting import agreement, item_counts, n_behind, sums
from labelworth.campaign.people import FILE, require_person
from labelworth.campaign.rows import person_of
from labelworth.campaign.schema import OPEN, annotators, answers, items, leases, requests, tallies
from labelworth.campaign.tallies import Against
from labelworth.campaign.values import BatchStatus, Confusion, PersonStatus, Settings, Status

_TOTALS = ("n_answers", "n_cannot_say", "n_taken_back", "seconds", "n_timed", "spent")
_count, _sum = sa.func.count, sa.func.sum


def status(connection: sa.Connection, settings: Settings, *, now: float) -> Status:
    """Everything at once, of one state of the store."""
    known = item_counts(connection)
    people = _people(connection, now=now)
    asked = batches(connection)
    wanted, given = sum(batch.wanted for batch in asked), sum(batch.given for batch in asked)
    held = sum(person.n_held for person in people)
    is_open = requests.c.closed_at.is_(None) & (requests.c.batch > 0)
    due = sa.select(sa.func.coalesce(_sum(requests.c.votes - requests.c.given), 0)).where(is_open)
    return Status(
        settings=settings,
        n_items=_number(connection, sa.select(_count()).select_from(items)),
        n_labeled=known["labeled"],
        n_answered=known["answered"],
        n_requests=sum(batch.n_requests for batch in asked),
        n_done=sum(batch.n_done for batch in asked),
        wanted=wanted,
        given=given,
        held=held,
        due=_number(connection, due) - held,
        n_answers=sum(person.n_answers for person in people),
        spent=sum(person.spent for person in people),
        people=people,
        batches=asked,
        behind=n_behind(connection),
    )


def confusion(connection: sa.Connection, settings: Settings, annotator: str, against: Against) -> Confusion:
    """What somebody said where gold, or others, said something else."""
    number = require_person(connection, annotator).id
    query = sa.select(tallies).where(tallies.c.annotator_id == number, tallies.c.against == against, tallies.c.n != 0)
    counts = {(row.other, row.said): int(row.n) for row in connection.execute(query)}
    terms = dict.fromkeys([*settings.classes, *sorted(term for pair in counts for term in pair)])
    return Confusion(annotator, against, tuple(terms), counts)


def _people(connection: sa.Connection, *, now: float) -> tuple[PersonStatus, ...]:
    known, gold, others = sums(connection), agreement(connection, "gold"), agreement(connection, "others")
    working = sa.select(leases.c.annotator_id, _count()).where(sa.text(OPEN), leases.c.expires_at > now)
    held = {row[0]: row[1] for row in connection.execute(working.group_by(leases.c.annotator_id))}
    given = answers.alias()
    last = sa.select(sa.func.max(given.c.id)).where(given.c.annotator_id == annotators.c.id).scalar_subquery()
    query = (
        sa.select(annotators, answers.c.given_at.label("last_at"))
        .select_from(annotators.outerjoin(answers, answers.c.id == last))
        .where(annotators.c.name != FILE)
        .order_by(annotators.c.id)
    )
    people = []
    for row in connection.execute(query):
        own = {name: known.get((row.id, name), 0) for name in _TOTALS}
        people.append(
            PersonStatus(
                person_of(row),
                round(own["n_answers"]),
                round(own["n_cannot_say"]),
                round(own["n_taken_back"]),
                own["seconds"] / own["n_timed"] if own["n_timed"] else None,
                # Sums that come and go leave dust behind.
                round(own["spent"], 9),
                *gold.get(row.id, (0, 0)),
                *others.get(row.id, (0, 0)),
                held.get(row.id, 0),
                row.last_at,
            )
        )
    return tuple(people)


def batches(connection: sa.Connection) -> tuple[BatchStatus, ...]:
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


def _number(connection: sa.Connection, query: Any) -> int:
    return int(connection.execute(query).scalar_one())
