"""How sure a plan is: the same question asked at other parameters that the pilot would have allowed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.kept import Checkpoint
from labelworth.errors import InfeasiblePlanError, MoreSamplesNeededError, NotIdentifiableError
from labelworth.planning.answer import LEVEL, Interval
from labelworth.planning.formulas.sampled import ReflectedAccuracy, Settled, on_scale, settle
from labelworth.planning.landscape import gains_along
from labelworth.planning.outcome import worth
from labelworth.planning.situation import Alternatives, Band, Situation
from labelworth.planning.solving import continuous, money_left
from labelworth.progress import SILENT, Progress, tracking
from labelworth.simulation.jobs import run_jobs
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.problem import LOGARITHMIC, Problem

_N_FLAT = 97
_PER_STEP = 20
_PER_SLOW_STEP = 4
"""At how many parameters the question is asked between two steps that are kept; fewer where each takes its time."""


@dataclass(frozen=True, eq=False)
class NearbyAnswers:
    """Answers at other parameters."""

    labels: FloatArray  # (n_asked,): Labels to buy.
    errors: FloatArray  # (n_asked,): Of the recommended design.
    curves: FloatArray  # (n_asked, n_counts): Errors along the counts of a forecast.
    origin: str  # Where the parameters come from.
    # (2 + n_counts,), optional: Labels and errors of the plan itself, which its intervals hold.
    own: FloatArray | None = None

    def labels_interval(self) -> Interval | None:
        """Of the best number of labels."""
        return self._interval(self.labels, 0)

    def error_interval(self) -> Interval | None:
        """Of the error of the recommended design."""
        return self._interval(self.errors, 1)

    def biased_error(self) -> tuple[float, float] | None:
        """The error of the plan and the middle one of all answers, where the answers' interval misses the plan's."""
        interval, own = _interval(self.errors, self.origin), np.nan if self.own is None else float(self.own[1])
        if interval is None or not np.isfinite(own) or interval.low <= own <= interval.high:
            return None
        return own, float(np.median(self.errors))

    def bands(self) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """The lower and upper ends along the forecast."""
        ends = [self._interval(column, 2 + index) for index, column in enumerate(self.curves.T)]
        lows = tuple(None if end is None else end.low for end in ends)
        return lows, tuple(None if end is None else end.high for end in ends)

    def gain_bands(self, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The lower and upper ends of what one more label is worth along the forecast; not a number: not known."""
        ends = [_interval(column, self.origin) for column in gains_along(labels, self.curves).T]
        low, high = np.array([(np.nan, np.nan) if end is None else (end.low, end.high) for end in ends]).T
        return low, high

    def _interval(self, values: FloatArray, index: int) -> Interval | None:
        interval = _interval(values, self.origin)
        if interval is None or self.own is None or not np.isfinite(self.own[index]):
            return interval
        own = float(self.own[index])
        return replace(interval, low=min(interval.low, own), high=max(interval.high, own))


def spread(
    situation: Situation,
    others: Alternatives,
    problem: Problem,
    value: float,
    recommended: FloatArray,
    curve: Sequence[FloatArray],
    *,
    checkpoint: Checkpoint,
    progress: Progress = SILENT,
) -> NearbyAnswers:
    """Ask the question at every alternative.

    Where the target cannot be met at some parameters, all of the pool would be labeled.
    """
    left = money_left(situation, value) if problem == "budget" else value
    designs, corrections = [recommended, *curve], _Corrections.of(situation.accuracy, others, recommended)

    def asked(build: Callable[[], Accuracy]) -> list[float | None]:
        accuracy, noise = corrections.corrected(build())
        errors = [accuracy.error(counts) for counts in designs]
        # JSON has no infinity.
        return [
            noise,
            _labels(accuracy, situation, problem, left),
            *(error if np.isfinite(error) else None for error in errors),
        ]

    rows: list[Any] = []
    per_step = _PER_SLOW_STEP if others.is_slow else _PER_STEP
    with tracking(progress, "asking at other parameters", len(others.builds)) as task:
        for start in range(0, len(others.builds), per_step):
            part = others.builds[start : start + per_step]
            rows += checkpoint.step(f"alternatives {start}", partial(_all_asked, asked, part, others.workers))
            task.advance(len(part))
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 2 + len(designs))
    table[np.isnan(table)] = np.inf
    noise, labels, errors = table[:, 0], table[:, 1], table[:, 2:]
    per_sample, criterion = situation.accuracy.labels_per_sample, situation.accuracy.criterion
    if corrections.center is not None:
        factor = stretch(criterion, errors[:, 0], noise, corrections.noise_of_plan)
        # No fewer labels than none, and no more than the pool has room for.
        labels = np.clip(_stretched(labels, factor), 0.0, situation.pool * float(per_sample.max()))
        errors = np.column_stack([_stretched_errors(criterion, column, factor) for column in errors.T])
    own = [float(recommended @ per_sample), *(situation.accuracy.error(counts) for counts in designs)]
    return NearbyAnswers(labels, errors[:, 0], errors[:, 1:], others.origin, np.array(own))


@dataclass(frozen=True, eq=False)
class _Corrections:
    """What answers at other parameters need before they say how sure a plan is, where they may have been sampled."""

    # At the fit, without its bias; None where nothing could have been drawn, and draws need no correction.
    center: Settled | None
    mirror: Accuracy | None  # At which answers are reflected: that at the fit; None where they are not.
    shift: float  # Takes off the bias that as few draws as other parameters have lead to.
    recommended: FloatArray  # The counts at which bias and noise are looked at.

    @classmethod
    def of(cls, at_fit: Accuracy, others: Alternatives, recommended: FloatArray) -> "_Corrections":
        center = None if others.at_fit is None else settle(others.at_fit, recommended)
        # Reflected, an error with kinks has no slope to follow: the search at every refit would take minutes.
        plain = None if at_fit.criterion == "worst_direction" else at_fit
        mirror = plain if center is None else center.accuracy
        return cls(
            center,
            mirror if others.reflects else None,
            0.0 if others.twin is None else settle(others.twin, recommended).accuracy.shift,
            recommended,
        )

    @property
    def noise_of_plan(self) -> float:
        """That of the draws at the fit, which reflected answers have twice over."""
        return 0.0 if self.center is None else self.center.noise * (1 if self.mirror is None else 2)

    def corrected(self, other: Accuracy) -> tuple[Accuracy, float]:
        """What to ask in its place, and the noise of its draws."""
        accuracy, noise = other, 0.0
        if isinstance(other, AsymptoticAccuracy):
            accuracy, noise = replace(other, shift=self.shift), settle(other, self.recommended).noise
        return accuracy if self.mirror is None else ReflectedAccuracy.of(self.mirror, accuracy), noise


def _all_asked(
    asked: Callable[[Callable[[], Any]], list[float | None]], part: Sequence[Callable[[], Any]], workers: int | None
) -> list[list[float | None]]:
    return run_jobs(asked, part, workers=workers, title="", progress=SILENT)


def stretch(criterion: str, errors: FloatArray, noise: FloatArray, center_noise: float) -> float:
    r"""By how much to stretch the spread of sampled errors for it to be that of the pilot, and of drawing at the fit.

    Of the variance v of the answers (on the scale on which noise adds) e is due to drawing there, the middle one of
    their squared standard errors (near the edge of a model single ones are wild); what is drawn at the fit moves the
    plan, by a noise s:

    .. math:: factor^2 = \frac{(v - e)^+ + s^2 + e / B}{v}

    One where nothing was sampled.
    """
    if not np.isfinite(errors).all() or len(errors) < 2:
        return 1.0
    total = float(np.var([on_scale(criterion, error) for error in errors], ddof=1))
    drawn = float(np.median(np.square(noise)))
    if total == 0 or (drawn == 0 and center_noise == 0):
        return 1.0
    return float(np.sqrt((max(total - drawn, 0.0) + center_noise**2 + drawn / len(errors)) / total))


def band_intervals(
    situation: Situation, band: Band, problem: Problem, value: float, recommended: FloatArray
) -> tuple[Interval, Interval]:
    """On labels and on the error, from the ends of a forecast's interval: the question is asked at either end.

    Where curves cross, the best design in the middle may lie outside of those at the ends; the interval holds all.
    """
    left = money_left(situation, value) if problem == "budget" else value
    ends = [_labels(end, situation, problem, left) for end in (band.low, band.high)]
    if problem == "budget" and situation.kinds is None:
        ends += _flat_labels(situation, recommended, left)
    labels = sorted([*ends, float(recommended @ situation.accuracy.labels_per_sample)])
    errors = sorted(end.error(recommended) for end in (band.low, band.high))
    method = "forecast"
    return (
        # A search ends at a whole number but for rounding.
        Interval(round(labels[0], 3), round(labels[-1], 3), method=method),
        Interval(errors[0], errors[1], method=method),
    )


def _flat_labels(situation: Situation, recommended: FloatArray, left: float) -> list[float]:
    """Where a forecast stops falling before the budget ends: labels at which its slope cannot be told from none.

    The ends of an interval go by the error at every number of labels; they may well bend at the same one, and say
    nothing of how surely that is where the forecast stops to fall.
    """
    accuracy, arm = situation.accuracy, int(np.argmax(recommended))
    if not recommended.any():
        return []
    money = left - situation.prices.cost(recommended)
    if money < situation.prices.next_price(recommended, arm) or recommended.sum() + 1 > situation.pool:
        return []
    flat = []
    for count in np.unique(np.geomspace(1, situation.pool - recommended.sum() + recommended[arm], _N_FLAT).round()):
        counts = recommended.copy()
        counts[arm] = count
        if situation.prices.cost(counts) <= left:
            own = worth(situation, counts)[arm]
            flat += [float(counts @ accuracy.labels_per_sample)] if abs(own.gain) <= own.noise else []
    return flat


def _labels(accuracy: Accuracy, situation: Situation, problem: Problem, value: float) -> float:
    if situation.kinds is not None:
        # Answers of one kind take the place of another's: how many there are in all tells nothing.
        return float(situation.pool)
    try:
        counts = continuous(accuracy, situation.prices, situation.pool, problem, value)
    except (InfeasiblePlanError, NotIdentifiableError, MoreSamplesNeededError):
        return float(situation.pool * accuracy.labels_per_sample.max())
    return float(counts @ accuracy.labels_per_sample)


def _stretched(values: FloatArray, factor: float) -> FloatArray:
    """About their middle; infinite answers stay so."""
    if factor == 1 or not values.size:
        return values
    middle = float(np.median(values))
    if not np.isfinite(middle):
        return values
    return np.asarray(middle + factor * (values - middle))


def _stretched_errors(criterion: str, errors: FloatArray, factor: float) -> FloatArray:
    """On the scale on which noise adds."""
    if factor == 1 or criterion in LOGARITHMIC:
        return _stretched(errors, factor)
    return np.exp(_stretched(np.log(errors), factor))


def _interval(values: FloatArray, origin: str) -> Interval | None:
    """The middle 90 % of the answers; of n ordered ones the k-th stands at k / (n + 1)."""
    if (len(values) + 1) * (1 - LEVEL) / 2 < 1 - 1e-9 or np.isnan(values).any():
        return None
    low, high = (
        _at_place(np.sort(values), (len(values) + 1) * share) for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    )
    return Interval(low, high, LEVEL, origin)


def _at_place(ordered: FloatArray, place: float) -> float:
    """The value at a place, the first of which is one: between two of them along a line; infinite ones stay so."""
    whole = int(np.floor(place + 1e-9))
    before, share = float(ordered[whole - 1]), place - whole
    if share <= 1e-9 or not np.isfinite(before):
        return before
    # No arithmetic where the next one is infinite.
    following = float(ordered[whole])
    return before + share * (following - before) if np.isfinite(following) else following
