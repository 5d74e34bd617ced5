"""The least of a convex function over the designs that fit: found by SLSQP, judged by its certificate."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.optimize

from labelworth.arrays import FloatArray, IntArray
from labelworth.errors import NotIdentifiableError
from labelworth.tradeoff.accuracy import ConvexAccuracy
from labelworth.tradeoff.certificate import Bound, Minorant, most_gain

_AIM = 1e-12
"""A gap of this share of the figure needs no polish."""

_PRECISION = 1e-14
_ROUNDING = 1e-13
_OUTSIDE = 1e10
"""What SLSQP is told where the model is not identified, in units of the value at the start."""

_NEARLY = 1e-6
_MAX_POLISHES = 8
_RELATIVE_CHANGE = 1e-6
"""Curvature is the change of the slope over a step that changes the error by about this much of itself."""


@dataclass(frozen=True, eq=False)
class Polytope:
    """The designs that fit: w >= 0, prices . w <= money, sum w <= samples; every arm is bounded by a limit."""

    prices: FloatArray  # (n_arms,)
    money: float
    samples: float

    @cached_property
    def most(self) -> FloatArray:
        """How many samples of each arm fit if nothing else is used, (n_arms,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            bought = np.where(self.prices > 0, self.money / self.prices, np.inf)
        return np.minimum(bought, self.samples)

    @cached_property
    def limits(self) -> FloatArray:
        """Rows a with a . w <= 1, one for each limit that is there, (n_limits, n_arms)."""
        rows = [self.prices / self.money] if 0 < self.money < np.inf else []
        rows += [np.full(len(self.prices), 1 / self.samples)] if 0 < self.samples < np.inf else []
        return np.array(rows).reshape(-1, len(self.prices))

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """The counts, scaled down until they fit: rounding must not spend money that is not there."""
        positive = np.where(self.most > 0, np.maximum(counts, 0.0), 0.0)
        spent, used = float(self.prices @ positive), float(positive.sum())
        factor = min(1.0, self.money / spent if spent > 0 else 1.0, self.samples / used if used > 0 else 1.0)
        return positive * factor

    def most_gain(self, worth: FloatArray) -> Bound:
        """The most of worth . w that fits."""
        return most_gain(worth, self.prices, self.money, self.samples)

    def gap(self, value: float, minorant: Minorant) -> float:
        """By how much a design that fits can be better than `value`, at most."""
        return value - minorant.intercept + self.most_gain(minorant.worth).value


@dataclass(frozen=True, eq=False)
class Objective:
    """A convex function of the counts with its slope, infinite outside its domain."""

    # Counts -> float, maybe infinite; counts -> (n_arms,), where the value is finite.
    value: Callable[[FloatArray], float]
    slope: Callable[[FloatArray], FloatArray]
    size: Callable[[float], float]  # Of a value: what differences of it are small against.
    # The slope without its linear part, which would drown the differences that tell the curvature.
    bent: Callable[[FloatArray], FloatArray] | None = None

    def tangent(self, counts: FloatArray) -> Minorant:
        """The plane that touches it at these counts."""
        return Minorant.tangent(counts, self.value(counts), self.slope(counts))

    def gap(self, counts: FloatArray, polytope: Polytope) -> float:
        """What the tangent proves of these counts."""
        return polytope.gap(self.value(counts), self.tangent(counts))


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best design of a polytope."""

    counts: FloatArray  # (n_arms,)
    value: float  # What was minimized, there.
    minorant: Minorant  # A plane below it, which shows the gap.
    gap: float  # No other design of the polytope is better by more.
    of_money: float  # What one more unit of either takes off.
    of_samples: float

    @classmethod
    def of(cls, counts: FloatArray, value: float, minorant: Minorant, polytope: Polytope) -> "Optimum":
        """What a plane proves of a design."""
        gain = polytope.most_gain(minorant.worth)
        gap = max(polytope.gap(value, minorant), 0.0)
        return cls(counts, value, minorant, gap, gain.of_money, gain.of_samples)


def least(objective: Objective, polytope: Polytope, start: FloatArray) -> FloatArray:
    """The counts of the least value: SLSQP from a start with a finite value, polished where its gap is not small.

    A function with kinks, or one that is not convex, may leave a gap.
    """
    aim = _AIM * objective.size(objective.value(start))
    gap = objective.gap(start, polytope)
    if gap <= aim:
        return start
    counts = _by_slsqp(objective, polytope, start, gap)
    return counts if objective.gap(counts, polytope) <= aim else _polished(objective, polytope, counts)


def _by_slsqp(objective: Objective, polytope: Polytope, start: FloatArray, gap: float) -> FloatArray:
    """In units in which counts, and values, are of the size of one."""
    used = polytope.most > 0
    total = float(start.sum())
    units = np.minimum(polytope.most, total)[used] if total > 0 else polytope.most[used]
    value = objective.value(start)
    scale = objective.size(value) or gap
    rows = polytope.limits[:, used] * units

    def counts_of(shares: FloatArray) -> FloatArray:
        counts = np.zeros(len(used))
        counts[used] = np.maximum(shares, 0.0) * units
        return counts

    def scaled(shares: FloatArray) -> tuple[float, FloatArray]:
        counts = counts_of(shares)
        here = objective.value(counts)
        if not np.isfinite(here):
            return _OUTSIDE, np.zeros(len(shares))
        return (here - value) / scale, objective.slope(counts)[used] * units / scale

    answer = scipy.optimize.minimize(
        scaled,
        start[used] / units,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, most) for most in polytope.most[used] / units],
        constraints=[scipy.optimize.LinearConstraint(rows, -np.inf, 1.0)] if len(rows) else [],
        options={"ftol": _PRECISION, "maxiter": 200},
    )
    counts = polytope.shrunk(counts_of(answer.x))
    return counts if objective.value(counts) <= value + _ROUNDING * scale else start


def _polished(objective: Objective, polytope: Polytope, counts: FloatArray) -> FloatArray:
    """Newton's method on the face of the polytope where the counts lie, while the gap falls."""
    gap = objective.gap(counts, polytope)
    for _ in range(_MAX_POLISHES):
        is_used = counts > _NEARLY * counts.sum()
        trial = polytope.shrunk(_newton(objective, polytope, np.where(is_used, counts, 0.0), np.flatnonzero(is_used)))
        if not np.isfinite(objective.value(trial)) or not objective.gap(trial, polytope) < gap:
            break
        counts, gap = trial, objective.gap(trial, polytope)
    return counts


def _newton(objective: Objective, polytope: Polytope, counts: FloatArray, free: IntArray) -> FloatArray:
    """The stationary point of a quadratic, on the limits that hold, with the free arms."""
    if not np.isfinite(objective.value(counts)):
        return counts
    units, holding = counts[free], polytope.limits[1 - polytope.limits @ counts < _NEARLY]
    rows = holding[:, free] * units
    slope = objective.slope(counts)[free] * units
    curvature = _curvature(objective, counts, free) * units * units[:, None]
    n, size = len(free), float(np.abs(curvature).max(initial=0.0)) or 1.0
    system = np.zeros((n + len(rows), n + len(rows)))
    system[:n, :n], system[:n, n:], system[n:, :n] = curvature / size, rows.T, rows
    # Arms of equal information have no curvature between them: of all solutions the nearest.
    right = np.concatenate([-slope / size, 1 - holding @ counts])
    moved = counts.copy()
    moved[free] += units * np.linalg.lstsq(system, right, rcond=1e-11)[0][:n]
    return moved


def _curvature(objective: Objective, counts: FloatArray, free: IntArray) -> FloatArray:
    """The Hessian of some arms by differences of the slope."""
    bent = objective.bent or objective.slope
    slope = bent(counts)
    reach = float(np.abs(slope) @ counts)
    curvature = np.zeros((len(free), len(free)))
    for row, arm in enumerate(free):
        length = min(_RELATIVE_CHANGE * reach / abs(float(slope[arm])), counts[arm] / 2) if slope[arm] else 0.0
        if length > 0:
            unit = length * np.eye(len(counts))[arm]
            curvature[row] = (bent(counts + unit) - bent(counts - unit))[free] / (2 * length)
    return (curvature + curvature.T) / 2


def first_identified(
    accuracy: ConvexAccuracy, objective: Objective, polytope: Polytope, near: FloatArray | None
) -> FloatArray:
    """A design with a finite value: near a known one, in the middle, or a corner.

    Raises
    ------
    NotIdentifiableError
        If there is none.
    """
    corners = np.diag(polytope.most)
    for candidate in ([] if near is None else [near]) + [corners.mean(axis=0), *corners]:
        fitting = polytope.shrunk(candidate)
        if np.isfinite(objective.value(fitting)):
            return fitting
    directions = accuracy.open_directions(corners.mean(axis=0))
    raise NotIdentifiableError(
        "What the budget and the pool allow does not pin the model down"
        f"{'; it leaves open: ' + ', '.join(directions) if directions else ''}. Allow more labels.",
        directions,
    )
