"""Plans as work that outlives its worker: a row that says how far it is, and who is at it."""

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from labelworth.campaign.prepared import Row
from labelworth.campaign.schema import plans, realised
from labelworth.campaign.store import Store
from labelworth.campaign.values import PlanJob, Realised
from labelworth.errors import InvalidInputError, LabelworthError

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
STALE = 60.0
"""Seconds after which a worker that says nothing is taken for dead, and others may begin its work again."""
_BEAT = 5.0
_AT_MOST_EVERY = 0.5


def started(connection: sa.Connection, asked: Mapping[str, Any], *, now: float) -> int:
    """Write down a plan that is to be made."""
    text = json.dumps(asked, ensure_ascii=False)
    added = sa.insert(plans).values(state=WAITING, asked=text, progress=0.0, doing="waiting", created_at=now)
    return int(connection.execute(added.returning(plans.c.id)).scalar_one())


def claimed(connection: sa.Connection, number: int | None, worker: str, *, now: float) -> int | None:
    """Take a plan that waits, or whose worker is gone; None: there is none, or somebody is at it."""
    is_free = sa.or_(plans.c.state == WAITING, sa.and_(plans.c.state == RUNNING, plans.c.heartbeat < now - STALE))
    query = sa.select(plans.c.id).where(is_free).order_by(plans.c.id).limit(1)
    row = connection.execute(
        (query if number is None else query.where(plans.c.id == number)).with_for_update(skip_locked=True)
    ).one_or_none()
    if row is None:
        return None
    change = sa.update(plans).where(plans.c.id == row.id)
    connection.execute(change.values(state=RUNNING, worker=worker, heartbeat=now, progress=0.0, doing="reading"))
    return int(row.id)


def changed(connection: sa.Connection, number: int, worker: str, **values: Any) -> bool:
    """Say how far a plan is; False: it is somebody else's work by now."""
    change = sa.update(plans).where(plans.c.id == number, plans.c.worker == worker, plans.c.state == RUNNING)
    return bool(connection.execute(change.values(**values)).rowcount)


def jobs(connection: sa.Connection, *, now: float, number: int | None = None, limit: int = 50) -> list[PlanJob]:
    """Plans, newest first."""
    query = sa.select(plans).order_by(plans.c.id.desc()).limit(limit)
    rows = connection.execute(query if number is None else query.where(plans.c.id == number)).all()
    measured = sa.select(realised).where(realised.c.plan_id.in_([row.id for row in rows])).order_by(realised.c.id)
    by_plan: dict[int, list[Realised]] = {}
    for row in connection.execute(measured):
        known = by_plan.setdefault(row.plan_id, [])
        known.append(Realised(row.measured_at, row.labels, row.error, row.error_se, row.forecast, row.low, row.high))
    return [_job(row, tuple(by_plan.get(row.id, ())), now) for row in rows]


def require_job(connection: sa.Connection, number: int, *, now: float) -> PlanJob:
    found = jobs(connection, now=now, number=number)
    if not found:
        raise InvalidInputError(f"There is no plan {number!r:.40} in this campaign.")
    return found[0]


def _job(row: Row, came_true: tuple[Realised, ...], now: float) -> PlanJob:
    state = row.state
    if state == RUNNING and row.heartbeat < now - STALE:
        # Whoever was at it is gone; it begins again where somebody works on plans.
        state = WAITING
    return PlanJob(
        row.id,
        state,
        json.loads(row.asked),
        row.progress,
        row.doing,
        row.created_at,
        row.ended_at,
        row.error,
        None if row.record is None else json.loads(row.record),
        came_true,
    )


class Reporter:
    """Keeps how far a plan is in the store: `Progress` for the planner, and a heartbeat beside it."""

    def __init__(self, store: Store, number: int, worker: str, clock: Callable[[], float]) -> None:
        self._store, self._number, self._worker, self._clock = store, number, worker, clock
        self._done, self._total, self._doing, self._written = 0, 1, "planning", 0.0
        self._stopped = threading.Event()
        self.is_lost = False  # Whether somebody else took the work over.

    def start(self, title: str, total: int | None) -> "Reporter":
        self._doing, self._total, self._done = title, max(total or 1, 1), 0
        return self

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        """Of the one bar that plans have."""
        self._done, self._doing = self._done + steps, note or self._doing
        if time.monotonic() - self._written > _AT_MOST_EVERY:
            self._write()

    def finish(self, task: Any) -> None:
        pass

    def say(self, message: str) -> None:
        self._doing = message

    def _write(self) -> None:
        self._written = time.monotonic()
        share, doing, now = min(self._done / self._total, 1.0), self._doing[:200], self._clock()
        kept = self._store.write(
            lambda connection: changed(
                connection, self._number, self._worker, progress=share, doing=doing, heartbeat=now
            )
        )
        self.is_lost = self.is_lost or not kept

    def _beat(self) -> None:
        while not self._stopped.wait(_BEAT):
            try:
                self._write()
            except LabelworthError:
                # The store is busy or away: work goes on, and the end of it will tell.
                continue

    @contextmanager
    def beating(self) -> Iterator["Reporter"]:
        """Say again and again that somebody is at it."""
        thread = threading.Thread(target=self._beat, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stopped.set()
            thread.join()


def new_worker() -> str:
    return uuid.uuid4().hex
