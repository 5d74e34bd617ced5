"""The least of a convex function over designs that fit, judged by its certificate: SLSQP, and a bundle for kinks."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.optimize

from labelworth.arrays import BoolArray, FloatArray, IntArray
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

_LEVEL = 0.3
"""How far between the lower bound and the best value the next point aims."""

_MAX_STEPS = 600
_PATIENCE = 80
"""After so many steps without a smaller gap rounding is all that is left to improve."""


@dataclass(frozen=True, eq=False)
class Polytope:
    """The designs that fit: w >= 0, prices . w <= money, sum w <= samples; every arm is bounded by a limit.

    Arms whose samples are not of the pool are not in that sum, and have limits of their own.
    """

    prices: FloatArray  # (n_arms,)
    money: float
    samples: float
    apart: FloatArray | None = None  # (n_arms,): Those limits, infinite for arms of the pool; None: there are none.

    @cached_property
    def most(self) -> FloatArray:
        """How many samples of each arm fit if nothing else is used, (n_arms,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            bought = np.where(self.prices > 0, self.money / self.prices, np.inf)
        return np.minimum(bought, np.where(self._is_pool, self.samples, self._stock))

    @cached_property
    def _stock(self) -> FloatArray:
        return np.full(len(self.prices), np.inf) if self.apart is None else self.apart

    @property
    def _is_pool(self) -> BoolArray:
        return np.isinf(self._stock)

    @cached_property
    def limits(self) -> FloatArray:
        """Rows a with a . w <= 1, one for each limit that is there, (n_limits, n_arms)."""
        rows = [self.prices / self.money] if 0 < self.money < np.inf else []
        rows += [self._is_pool / self.samples] if 0 < self.samples < np.inf else []
        units = np.eye(len(self.prices))
        rows += [units[arm] / self._stock[arm] for arm in np.flatnonzero(~self._is_pool) if self._stock[arm] > 0]
        return np.array(rows).reshape(-1, len(self.prices))

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """The counts, scaled down until they fit: rounding must not spend money that is not there."""
        positive = np.minimum(np.where(self.most > 0, np.maximum(counts, 0.0), 0.0), self._stock)
        spent, used = float(self.prices @ positive), float(positive[self._is_pool].sum())
        factor = min(1.0, self.money / spent if spent > 0 else 1.0, self.samples / used if used > 0 else 1.0)
        return positive * factor

    def most_gain(self, worth: FloatArray) -> Bound:
        """The most of worth . w that fits."""
        return most_gain(worth, self.prices, self.money, self.samples, self.apart)

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


@dataclass(eq=False)
class Bundle:
    """The level bundle method: planes below a convex function, gathered wherever it was asked."""

    objective: Objective
    # What it answered where it was asked, and the planes that touch it there.
    values: list[float] = field(default_factory=list)
    planes: list[Minorant] = field(default_factory=list)

    def least(self, polytope: Polytope, start: FloatArray, enough: float) -> Optimum:
        """Walk until the gap is at most `enough` of the value's size, or for some hundred steps.

        Each step projects the best point onto the designs where all planes lie below a level between the lower bound
        and the best value.

        Parameters
        ----------
        start : array of shape (n_arms,)
            With a finite value.
        """
        counts, value, shown, waited = start, self._add(start), None, 0
        for _ in range(_MAX_STEPS):
            low, lowest, plane = self._lowest(polytope)
            waited += 1
            if shown is None or polytope.gap(value, plane) < shown.gap:
                shown, waited = Optimum.of(counts, value, plane, polytope), 0
            if shown.gap <= enough * self.objective.size(value) or waited > _PATIENCE:
                break
            trial = self._projected(polytope, counts, lowest, low + _LEVEL * (value - low))
            trial_value = self._add(trial)
            if not np.isfinite(trial_value):
                # Outside the domain: half way back to where the function is known.
                trial = (trial + counts) / 2
                trial_value = self._add(trial)
            if trial_value < value:
                counts, value = trial, trial_value
        return shown if shown is not None else Optimum.of(counts, value, plane, polytope)

    def _add(self, counts: FloatArray) -> float:
        """Ask at these counts; outside the domain nothing is learned."""
        value = self.objective.value(counts)
        if np.isfinite(value):
            self.values.append(value)
            self.planes.append(self.objective.tangent(counts))
        return value

    @property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Intercepts and slopes of all planes."""
        return np.array([plane.intercept for plane in self.planes]), np.array([-plane.worth for plane in self.planes])

    def _lowest(self, polytope: Polytope) -> tuple[float, FloatArray, Minorant]:
        """The minimum over the polytope of the largest plane, where it is, and the mean of planes that shows it."""
        units = np.where(polytope.most > 0, polytope.most, 1.0)
        (intercepts, slopes), rows = self._table, polytope.limits * units
        n_planes, n_arms = slopes.shape
        size = max(float(np.max(np.abs(self.values))), 1e-300)
        program = scipy.optimize.linprog(
            np.append(np.zeros(n_arms), 1.0),
            A_ub=np.block([[slopes * units / size, -np.ones((n_planes, 1))], [rows, np.zeros((len(rows), 1))]]),
            b_ub=np.concatenate([-intercepts / size, np.ones(len(rows))]),
            bounds=[(0.0, 1.0 if most > 0 else 0.0) for most in polytope.most] + [(None, None)],
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if program.x is None:
            raise RuntimeError(f"The linear program of the bundle was not solved: {program.message}")
        # A weighted mean of planes is below the function too.
        shares = np.maximum(-program.ineqlin.marginals[:n_planes], 0.0)
        shares = shares / shares.sum()
        plane = Minorant(float(shares @ intercepts), -(shares @ slopes))
        return size * float(program.x[-1]), polytope.shrunk(program.x[:n_arms] * units), plane

    def _projected(self, polytope: Polytope, counts: FloatArray, lowest: FloatArray, level: float) -> FloatArray:
        """The design nearest to `counts` where every plane is at most `level`, as at the `lowest` design."""
        units = np.where(polytope.most > 0, polytope.most, 1.0)
        intercepts, slopes = self._table
        norms = np.linalg.norm(slopes * units, axis=1)
        usable = norms > 0
        planes = (slopes * units)[usable] / norms[usable, None]
        heights = (level - intercepts[usable]) / norms[usable]
        rows = np.vstack([-np.eye(len(units)), polytope.limits * units, planes])
        limits = np.concatenate([np.zeros(len(units)), np.ones(len(polytope.limits)), heights])
        step = least_step(rows, limits - rows @ (counts / units))
        return polytope.shrunk(lowest if step is None else counts + units * step)


def least_step(rows: FloatArray, room: FloatArray) -> FloatArray | None:
    r"""The shortest s with rows s <= room, by non-negative least squares; None if rounding hides that there is one.

    Lawson and Hanson (1974), chapter 23: with u >= 0 that minimizes the length of
    :math:`r = (-A'u, -b'u - 1)`, the step is :math:`s = -r_{1..k} / r_{k+1}`.
    """
    violation = float(-room.min())
    if violation <= 0:
        return np.zeros(rows.shape[1])
    system = -np.vstack([rows.T, room / violation])
    goal = np.append(np.zeros(rows.shape[1]), 1.0)
    residual = system @ scipy.optimize.nnls(system, goal, maxiter=100 * len(rows))[0] - goal
    return -violation * residual[:-1] / residual[-1] if residual[-1] < 0 else None
