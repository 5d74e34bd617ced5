"""How sure a plan is: the same question asked at other parameters that the pilot would have allowed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError, MoreSamplesNeededError, NotIdentifiableError
from labelworth.planning.answer import LEVEL, Interval, Problem
from labelworth.planning.checkpoint import Checkpoint
from labelworth.planning.situation import Situation
from labelworth.planning.solving import continuous, money_left
from labelworth.progress import SILENT, Progress, tracking
from labelworth.tradeoff.accuracy import Accuracy

_PER_STEP = 20
"""So many parameters are asked about between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class Spread:
    """Answers at other parameters.

    Attributes
    ----------
    labels : array of shape (n_asked,)
        Labels to buy.
    errors : array of shape (n_asked,)
        Of the recommended design.
    curves : array of shape (n_asked, n_counts)
        Errors along the counts of a forecast.
    origin : str
        Where the parameters come from.
    """

    labels: FloatArray
    errors: FloatArray
    curves: FloatArray
    origin: str

    def labels_interval(self) -> Interval | None:
        """Between which numbers of labels the best one lies."""
        return _interval(self.labels, self.origin)

    def error_interval(self) -> Interval | None:
        """Between which bounds the error of the recommended design lies."""
        return _interval(self.errors, self.origin)

    def bands(self) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """The lower and upper ends along the forecast."""
        ends = [_interval(column, self.origin) for column in self.curves.T]
        lows = tuple(None if end is None else end.low for end in ends)
        return lows, tuple(None if end is None else end.high for end in ends)


def spread(
    situation: Situation,
    problem: Problem,
    value: float,
    recommended: FloatArray,
    curve: Sequence[FloatArray],
    *,
    checkpoint: Checkpoint,
    progress: Progress = SILENT,
) -> Spread:
    """Ask the question at every alternative.

    Where the target cannot be met at some parameters, all of the pool would be labeled.
    """
    left = money_left(situation, value) if problem == "budget" else value

    def asked(build: Callable[[], Accuracy]) -> list[float | None]:
        accuracy = build()
        errors = [accuracy.error(counts) for counts in (recommended, *curve)]
        # JSON has no infinity.
        return [
            _labels(accuracy, situation, problem, left),
            *(error if np.isfinite(error) else None for error in errors),
        ]

    def all_asked(part: Sequence[Callable[[], Accuracy]]) -> list[list[float | None]]:
        return [asked(build) for build in part]

    rows: list[Any] = []
    parts = range(0, len(situation.alternatives), _PER_STEP)
    with tracking(progress, "asking at other parameters", len(situation.alternatives)) as task:
        for start in parts:
            part = situation.alternatives[start : start + _PER_STEP]
            rows += checkpoint.step(f"alternatives {start}", partial(all_asked, part))
            task.advance(len(part))
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 2 + len(curve))
    table[np.isnan(table)] = np.inf
    return Spread(table[:, 0], table[:, 1], table[:, 2:], situation.origin)


def band_intervals(
    situation: Situation, problem: Problem, value: float, recommended: FloatArray
) -> tuple[Interval | None, Interval | None]:
    """On labels and on the error, from the ends of a forecast's interval: the question is asked at either end.

    Where curves cross, the best design in the middle may lie outside of those at the ends; the interval holds all.
    """
    if situation.bands is None:
        return None, None
    left = money_left(situation, value) if problem == "budget" else value
    ends = [_labels(end, situation, problem, left) for end in situation.bands]
    labels = sorted([*ends, float(recommended @ situation.accuracy.labels_per_sample)])
    errors = sorted(end.error(recommended) for end in situation.bands)
    method = "forecast"
    return (
        # A search ends at a whole number but for rounding.
        Interval(round(labels[0], 3), round(labels[-1], 3), method=method),
        Interval(errors[0], errors[1], method=method),
    )


def _labels(accuracy: Accuracy, situation: Situation, problem: Problem, value: float) -> float:
    try:
        counts = continuous(accuracy, situation.prices, situation.pool, problem, value)
    except (InfeasiblePlanError, NotIdentifiableError, MoreSamplesNeededError):
        return float(situation.pool * accuracy.labels_per_sample.max())
    return float(counts @ accuracy.labels_per_sample)


def _interval(values: FloatArray, origin: str) -> Interval | None:
    """The middle 90 % of the answers; of n ordered ones the k-th stands at k / (n + 1)."""
    if (len(values) + 1) * (1 - LEVEL) / 2 < 1 - 1e-9:
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="weibull")
    return Interval(float(low), float(high), LEVEL, origin)
