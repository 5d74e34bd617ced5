"""Counts that follow the answers: who agrees with whom, money and time, kept so that nobody counts a million twice.

Every count is a sum over items of something that the answers about the item say. An answer that comes is noted as
not counted yet, in its own transaction; counting takes the items of such answers, subtracts what they said before and
adds what they say now. So counts are what counting everything anew would give, whatever was committed in which order.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from labelworth.campaign.people import FILE
from labelworth.campaign.said import from_json
from labelworth.campaign.schema import annotators, answers, counts, requests, tallies, totals, unfolded
from labelworth.campaign.store import Store
from labelworth.campaign.tallies import Against, Cell, Said, Tally, tally
from labelworth.campaign.values import GOLD, Settings, Unit

_CHUNK = 500
_AT_ONCE = 1000
"""Answers about so many items are counted at a time where somebody waits."""


@dataclass(frozen=True)
class _Row:
    """A row of the log of answers."""

    id: int
    item: int
    annotator: int
    withdraws: int | None
    is_gold: bool
    is_file: bool
    positions: tuple[int, ...]  # (0,) of a document.
    question: tuple[str, ...]
    said: tuple[Unit, ...]
    seconds: float | None
    price: float


@dataclass
class Counted:
    """All counts."""

    cells: Counter[Cell] = field(default_factory=Counter)
    totals: defaultdict[tuple[int, str], float] = field(default_factory=lambda: defaultdict(float))
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, rows: Sequence[_Row], classes: Sequence[str], sign: int) -> None:
        """Add, or subtract, what rows about whole items say."""
        back = {row.withdraws for row in rows}
        stands = [row for row in rows if row.withdraws is None and row.id not in back]
        for cell, n in _tally(stands, classes).cells.items():
            self.cells[cell] += sign * n
        for row in rows:
            if row.withdraws is not None:
                self.totals[row.annotator, "n_taken_back"] += sign
        for row in stands:
            own = (row.annotator, "n_answers"), (row.annotator, "n_cannot_say"), (row.annotator, "spent")
            self.totals[own[0]] += sign
            self.totals[own[1]] += sign * all(unit is None for unit in row.said)
            self.totals[own[2]] += sign * row.price
            if row.seconds is not None:
                self.totals[row.annotator, "n_timed"] += sign
                self.totals[row.annotator, "seconds"] += sign * row.seconds
        self.counts["answered"] += sign * len({row.item for row in stands})
        gold = {row.item for row in stands if row.is_gold and any(unit is not None for unit in row.said)}
        self.counts["labeled"] += sign * len(gold)


def caught_up(store: Store, settings: Settings, seconds: float | None) -> None:
    """Count what is not counted yet, for so many seconds, or all of it."""
    started, most = time.monotonic(), _AT_ONCE if seconds is not None else 20 * _AT_ONCE
    while store.read(n_behind):
        store.write(lambda connection: fold(connection, settings, most))
        if seconds is not None and time.monotonic() - started > seconds:
            return


def fold(connection: sa.Connection, settings: Settings, most: int) -> int:
    """Count the answers about up to `most` items that are not counted yet; says how many items that were."""
    first = sa.select(answers.c.item_id).join(unfolded, unfolded.c.answer_id == answers.c.id)
    numbers = sorted({row.item_id for row in connection.execute(first.distinct().limit(most))})
    if not numbers:
        return 0
    # One at a time; who comes second looks again.
    connection.execute(sa.select(counts).order_by(counts.c.name).with_for_update())
    change, done = Counted(), list[int]()
    for part in (numbers[start : start + _CHUNK] for start in range(0, len(numbers), _CHUNK)):
        # What is new and what there is come from one statement: nothing is committed between them.
        rows, new = _log(connection, part)
        change.add([row for row in rows if row.id not in new], settings.classes, -1)
        change.add(rows, settings.classes, 1)
        done += sorted(new)
    _write(connection, change)
    for part in (done[start : start + _CHUNK] for start in range(0, len(done), _CHUNK)):
        connection.execute(sa.delete(unfolded).where(unfolded.c.answer_id.in_(part)))
    return len(numbers)


def n_behind(connection: sa.Connection) -> int:
    """How many answers are not counted yet."""
    return int(connection.execute(sa.select(sa.func.count()).select_from(unfolded)).scalar_one())


def agreement(connection: sa.Connection, against: Against) -> dict[int, tuple[int, int]]:
    """By annotator, how many of the pairs agree, and how many there are."""
    same = sa.func.sum(sa.case((tallies.c.other == tallies.c.said, tallies.c.n), else_=0))
    query = sa.select(tallies.c.annotator_id, same, sa.func.sum(tallies.c.n)).where(tallies.c.against == against)
    rows = connection.execute(query.group_by(tallies.c.annotator_id))
    return {annotator: (int(agreed), int(in_all)) for annotator, agreed, in_all in rows}


def sums(connection: sa.Connection) -> dict[tuple[int, str], float]:
    """By annotator and name: answers, money, time."""
    return {(row.annotator_id, row.name): row.n for row in connection.execute(sa.select(totals))}


def item_counts(connection: sa.Connection) -> dict[str, int]:
    """Items with an answer that stands, and with a gold label."""
    return {row.name: int(row.n) for row in connection.execute(sa.select(counts))}


def _tally(stands: Iterable[_Row], classes: Sequence[str]) -> Tally:
    by_unit: defaultdict[tuple[int, int], list[Said]] = defaultdict(list)
    for row in stands:
        for position, unit in zip(row.positions, row.said, strict=True):
            said = Said(row.annotator, row.is_gold, row.is_file, row.question, unit)
            by_unit[row.item, position].append(said)
    return tally(by_unit.values(), classes)


def _log(connection: sa.Connection, numbers: Sequence[int]) -> tuple[list[_Row], set[int]]:
    """All rows of the log about some items, and which of them are not counted yet."""
    query = (
        sa.select(
            answers,
            requests.c.channel,
            requests.c.positions,
            requests.c.question,
            annotators.c.name,
            unfolded.c.answer_id.label("new"),
        )
        .join(requests, requests.c.id == answers.c.request_id)
        .join(annotators, annotators.c.id == answers.c.annotator_id)
        .outerjoin(unfolded, unfolded.c.answer_id == answers.c.id)
        .where(answers.c.item_id.in_(numbers))
        .order_by(answers.c.id)
    )
    rows, new = [], set()
    for row in connection.execute(query):
        rows.append(
            _Row(
                row.id,
                row.item_id,
                row.annotator_id,
                row.withdraws,
                row.channel == GOLD,
                row.name == FILE,
                (0,) if row.positions is None else tuple(json.loads(row.positions)),
                tuple(json.loads(row.question)),
                from_json(row.said),
                row.seconds,
                row.price,
            )
        )
        if row.new is not None:
            new.add(row.id)
    return rows, new


def _write(connection: sa.Connection, change: Counted) -> None:
    cells = [
        {"annotator_id": annotator, "against": against, "other": other, "said": said, "n": n}
        for (annotator, against, other, said), n in change.cells.items()
        if n
    ]
    amounts = [
        {"annotator_id": annotator, "name": name, "n": amount}
        for (annotator, name), amount in change.totals.items()
        if amount
    ]
    _add(connection, tallies, cells)
    _add(connection, totals, amounts)
    _add(connection, counts, [{"name": name, "n": n} for name, n in change.counts.items() if n])


def _add(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Add to what is there."""
    if not rows:
        return
    # Both know the same words for it, each by an insert of its own.
    insert: Any = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[connection.dialect.name]
    new = insert(table)
    key = [column.name for column in table.primary_key]
    connection.execute(new.on_conflict_do_update(index_elements=key, set_={"n": table.c.n + new.excluded.n}), rows)
