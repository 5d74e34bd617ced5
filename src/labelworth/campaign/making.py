"""Making plans that wait, and measuring what came true of them; what is found is kept in the store."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from labelworth.campaign import items, jobs, planning, schema
from labelworth.campaign.planning import Snapshot
from labelworth.campaign.store import Store
from labelworth.campaign.values import PlanJob, Realised, Settings
from labelworth.errors import LabelworthError
from labelworth.progress import Both, Progress


def made(
    store: Store,
    settings: Settings,
    clock: Callable[[], float],
    plan: int | None,
    checkpoint: str | Path | None,
    progress: Progress | None,
    *,
    raises: bool,
) -> int | None:
    """Make a plan that waits, that one or the oldest; its number. None: there is none.

    What stops it is kept with it; `raises`: also raised. Errors that are not ours always are.
    """
    worker, now = jobs.new_worker(), clock()
    number = store.write(lambda connection: jobs.claimed(connection, plan, worker, now=now))
    if number is None:
        return None
    asked = store.read(lambda connection: jobs.require_job(connection, number, now=now)).asked
    with jobs.Reporter(store, number, worker, clock).beating() as reporter:
        told = reporter if progress is None else Both(reporter, progress)
        failure, values = _computed(store, settings, asked, checkpoint, told)
    ended = {"ended_at": clock(), **values}
    store.write(lambda connection: jobs.changed(connection, number, worker, **ended))
    if failure is not None and (raises or not isinstance(failure, LabelworthError)):
        raise failure
    return number


def _computed(
    store: Store, settings: Settings, asked: Mapping[str, Any], checkpoint: str | Path | None, progress: Progress
) -> tuple[Exception | None, dict[str, Any]]:
    """What is to be kept of a plan."""
    try:
        snapshot = store.read(lambda connection: Snapshot.of(connection, settings))
        record = planning.planned(snapshot, asked, checkpoint, progress)
        guessed = planning.guesses(snapshot, asked, record)
    except Exception as error:
        words = str(error) if isinstance(error, LabelworthError) else f"{type(error).__name__}: {error}"
        return error, {"state": jobs.FAILED, "error": words, "doing": "failed"}
    store.write(lambda connection: items.guessed(connection, guessed))
    text = json.dumps(record, ensure_ascii=False)
    return None, {"state": jobs.DONE, "record": text, "progress": 1.0, "doing": "done"}


def measured(store: Store, settings: Settings, clock: Callable[[], float], plan: int) -> Realised | None:
    """What came true of a plan with the labels that there are now; kept beside its forecast."""
    now = clock()

    def looked_at(connection: sa.Connection) -> tuple[PlanJob, Snapshot]:
        return jobs.require_job(connection, plan, now=now), Snapshot.of(connection, settings)

    job, snapshot = store.read(looked_at)
    found = planning.came_true(snapshot, job, now=now)
    if found is not None:
        values = {"plan_id": plan, **asdict(found)}
        store.write(lambda connection: connection.execute(sa.insert(schema.realised).values(**values)))
    return found
