"""The level bundle method: convex errors with kinks, such as the largest eigenvalue where it is multiple."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.optimize

from labelworth.arrays import FloatArray
from labelworth.tradeoff.certificate import Minorant
from labelworth.tradeoff.newton import Objective
from labelworth.tradeoff.polytope import Polytope
from labelworth.tradeoff.quadratic import closest_point

GapOfPlane = Callable[[float, Minorant], float]

_LEVEL = 0.3
"""How far between the lower bound and the best value the next point aims."""

_MAX_STEPS = 600
_PATIENCE = 80
"""After so many steps without a smaller gap rounding is all that is left to improve."""


@dataclass(eq=False)
class Bundle:
    """Planes below a convex function, gathered wherever it was asked; they hold for every polytope.

    Attributes
    ----------
    objective : Objective
    points, values, slopes : list
        Where it was asked, and what it answered.
    """

    objective: Objective
    points: list[FloatArray] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    slopes: list[FloatArray] = field(default_factory=list)

    def add(self, counts: FloatArray) -> float:
        """Ask at these counts; outside the domain nothing is learned."""
        value = self.objective.value(counts)
        if np.isfinite(value):
            self.points.append(counts)
            self.values.append(value)
            self.slopes.append(self.objective.slope(counts))
        return value

    @property
    def intercepts(self) -> FloatArray:
        """Of every plane at zero counts."""
        return np.array([v - s @ p for v, s, p in zip(self.values, self.slopes, self.points, strict=True)])

    def combined(self, weights: FloatArray) -> Minorant:
        """A weighted mean of the planes: below the function too."""
        shares = np.maximum(weights, 0.0)
        shares = shares / shares.sum()
        return Minorant(float(shares @ self.intercepts), -(shares @ np.array(self.slopes)))

    def lowest(self, polytope: Polytope) -> tuple[float, FloatArray, Minorant]:
        """The minimum over the polytope of the largest plane, where it is, and the mean of planes that shows it."""
        units = np.where(polytope.most > 0, polytope.most, 1.0)
        rows, limits = polytope.rows
        n_planes, n_arms = len(self.values), len(units)
        size = max(float(np.max(np.abs(self.values))), 1e-300)
        planes = np.column_stack([np.array(self.slopes) * units / size, -np.ones(n_planes)])
        shown = scipy.optimize.linprog(
            np.append(np.zeros(n_arms), 1.0),
            A_ub=np.vstack([planes, np.column_stack([rows[n_arms:], np.zeros(len(rows) - n_arms)])]),
            b_ub=np.concatenate([-self.intercepts / size, limits[n_arms:]]),
            bounds=[(0.0, 1.0 if most > 0 else 0.0) for most in polytope.most] + [(None, None)],
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if shown.x is None:
            raise RuntimeError(f"The linear program of the bundle was not solved: {shown.message}")
        weights = -shown.ineqlin.marginals[:n_planes]
        return size * float(shown.x[-1]), polytope.shrunk(shown.x[:n_arms] * units), self.combined(weights)


@dataclass(frozen=True, eq=False)
class Lowest:
    """The best point found and a plane that shows how good it is."""

    counts: FloatArray
    value: float
    minorant: Minorant


def level_search(
    bundle: Bundle, polytope: Polytope, start: FloatArray, gap: GapOfPlane, enough: Callable[[float], float]
) -> Lowest:
    """Walk until the certificate closes, or for some hundred steps.

    Each step projects the best point onto the designs where all planes lie below a level between the lower bound and
    the best value.

    Parameters
    ----------
    bundle : Bundle
        Planes gathered before, in another polytope, are used again.
    polytope : Polytope
    start : array of shape (n_arms,)
        With a finite value.
    gap : function
        Of (value, minorant): how much any other design could be better.
    enough : function
        Of the value: a gap that ends the walk.
    """
    units = np.where(polytope.most > 0, polytope.most, 1.0)
    best, best_value = start, bundle.add(start)
    shown: Lowest | None = None
    smallest, waited = np.inf, 0
    for _ in range(_MAX_STEPS):
        low, lowest, minorant = bundle.lowest(polytope)
        found = gap(best_value, minorant)
        waited += 1
        if found < smallest:
            smallest, shown, waited = found, Lowest(best, best_value, minorant), 0
        if found <= enough(best_value) or waited > _PATIENCE:
            break
        level = low + _LEVEL * (best_value - low)
        trial = polytope.shrunk(units * _projected(bundle, polytope, lowest / units, best / units, level, units))
        value = bundle.add(trial)
        if not np.isfinite(value):
            # Outside the domain: half way back to where the function is known.
            trial = (trial + best) / 2
            value = bundle.add(trial)
        if value < best_value:
            best, best_value = trial, value
    return shown if shown is not None else Lowest(best, best_value, minorant)


def _projected(
    bundle: Bundle,
    polytope: Polytope,
    inside: FloatArray,
    center: FloatArray,
    level: float,
    units: FloatArray,
) -> FloatArray:
    """The point nearest to `center` where every plane is at most `level`; `inside` is one such point."""
    rows, limits = polytope.rows
    slopes = np.array(bundle.slopes) * units
    norms = np.linalg.norm(slopes, axis=1)
    usable = norms > 0
    planes = slopes[usable] / norms[usable, None]
    heights = (level - bundle.intercepts[usable]) / norms[usable]
    step = closest_point(
        np.vstack([rows, planes]),
        np.concatenate([limits, heights]),
        inside,
        inside - center,
        np.eye(len(inside)),
    )
    return inside + step
