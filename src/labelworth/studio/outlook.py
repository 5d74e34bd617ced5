"""What the latest plan says to a manager: going on and stopping in money, what was forecast and what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from labelworth.campaign.values import BatchStatus, PlanJob, Realised, is_of_plan
from labelworth.wording import money, percent

_WIDTH, _HEIGHT = 560.0, 200.0


@dataclass(frozen=True)
class Curve:
    """Forecast and measured errors over labels, as points of a picture of 560 by 200."""

    band: str  # Around the forecast, its 90 % interval.
    line: str
    measured: tuple[tuple[float, float, float, float], ...]  # x, y, and the ends of two standard errors.
    first: float  # Labels at the left end, and at the right one.
    last: float
    highest: float  # The error at the upper end; the lower one is none.


@dataclass(frozen=True)
class Outlook:
    """A plan that was made, in figures of people."""

    plan: PlanJob
    stop: str  # What going on costs and buys, in money.
    curve: Curve | None
    may_ask: bool  # Whether its labels are to be asked for, and were not yet.


def outlook(job: PlanJob, currency: str, batches: Sequence[BatchStatus]) -> Outlook | None:
    """None: there is no plan yet."""
    if job.record is None or job.cost is None or job.forecast is None:
        return None
    may_ask = job.advice == "label" and not any(is_of_plan(batch, job.id) for batch in batches)
    return Outlook(job, _stop(job.record, currency), _curve(job.record, job.realised), may_ask)


def _stop(record: Any, currency: str) -> str:
    """What to expect now, and what going on costs and buys."""
    recommended, now = record["recommended"], record["held"]["error"]
    cost, then = float(recommended["cost"]), float(recommended["error"])
    if record["advice"] == "stop" or not recommended["labels"]:
        return f"Stop now: {record['why_stop'] or 'nothing more is worth its price.'}"
    amount = money(cost, currency)
    if now is None or now <= then:
        return f"Stopping now saves {amount}."
    each = money(cost / (100 * (now - then)), currency)
    return (
        f"Stopping now saves {amount} and leaves the error at about {percent(now, 1)}; going on brings it to about "
        f"{percent(then, 1)}, {each} for every point."
    )


def _curve(record: Any, realised: Sequence[Realised]) -> Curve | None:
    known = record.get("forecast")
    if not known:
        return None
    rows = [
        (labels, error, error if low is None else low, error if high is None else high)
        for labels, error, low, high in zip(
            known["labels"], known["error"], known["low"], known["high"], strict=False
        )
        if error is not None
    ]
    if len(rows) < 2:
        return None
    measured = [one for one in realised if one.labels <= rows[-1][0]]
    last = float(rows[-1][0])
    first = min([float(rows[0][0]), *(one.labels for one in measured)])
    highest = float(max([row[3] for row in rows] + [one.error + 2 * one.error_se for one in measured])) or 1.0

    def x(labels: float) -> float:
        return round(_WIDTH * (labels - first) / max(last - first, 1e-9), 1)

    def y(error: float) -> float:
        return round(_HEIGHT * (1 - min(max(error, 0.0) / highest, 1.0)), 1)

    band = [(x(row[0]), y(row[3])) for row in rows] + [(x(row[0]), y(row[2])) for row in reversed(rows)]
    return Curve(
        " ".join(f"{left},{top}" for left, top in band),
        " ".join(f"{x(row[0])},{y(row[1])}" for row in rows),
        tuple(
            (x(one.labels), y(one.error), y(one.error + 2 * one.error_se), y(one.error - 2 * one.error_se))
            for one in measured
        ),
        first,
        last,
        highest,
    )
