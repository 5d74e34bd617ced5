"""Newton's method on a polytope of few arms, for smooth convex errors that give their slope."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.tradeoff.polytope import Polytope
from labelworth.tradeoff.quadratic import closest_point

_MAX_STEPS = 60
_RELATIVE_CHANGE = 1e-6
"""Curvature is the change of the slope over a step that changes the error by about this much of itself."""

_SUFFICIENT = 1e-4
_SMALLEST_STEP = 1e-12
_PATIENCE = 4
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Objective:
    """A convex function of the counts with its slope, infinite outside its domain.

    Attributes
    ----------
    value : function
        Counts -> float, maybe infinite.
    slope : function
        Counts -> (n_arms,), where the value is finite.
    weight : float
    curved : Objective, optional
        Where the rest is linear, the part whose `weight`-fold has all the curvature: a large linear part would drown
        the differences of slopes.
    """

    value: Callable[[FloatArray], float]
    slope: Callable[[FloatArray], FloatArray]
    weight: float = 1.0
    curved: "Objective | None" = None


def newton(
    objective: Objective,
    polytope: Polytope,
    start: FloatArray,
    gap: Callable[[FloatArray, float, FloatArray], float],
    enough: Callable[[float], float],
) -> FloatArray:
    """Walk from a start with a finite value to where the certificate closes, or to where nothing improves it.

    Parameters
    ----------
    objective : Objective
    polytope : Polytope
    start : array of shape (n_arms,)
        Counts that fit.
    gap : function
        Of (counts, value, slope): how much any other design could be better.
    enough : function
        Of the value: a gap that ends the walk.

    Returns
    -------
    array of shape (n_arms,)
        The counts whose certificate closes; else the last, which have the smallest value that was met, to rounding.
    """
    counts, best, best_gap, lowest, waited = start, start, np.inf, np.inf, 0
    for _ in range(_MAX_STEPS):
        value, slope = objective.value(counts), objective.slope(counts)
        found = gap(counts, value, slope)
        # On the way the gap may grow for a while; what counts there is that the value falls.
        waited = 0 if found < best_gap or value < lowest - _ROUNDING * abs(value) else waited + 1
        best, best_gap, lowest = (counts if found < best_gap else best), min(found, best_gap), min(value, lowest)
        if best_gap <= enough(value) or waited >= _PATIENCE:
            break
        following = _following(objective, polytope, counts, value, slope)
        if following is None:
            break
        counts = following
    return best if best_gap <= enough(lowest) else counts


def _following(
    objective: Objective, polytope: Polytope, counts: FloatArray, value: float, slope: FloatArray
) -> FloatArray | None:
    """One damped step; None if no step improves."""
    used = polytope.most > 0
    units = polytope.most[used]
    rows, limits = polytope.rows
    kept = np.concatenate([used, np.ones(len(rows) - len(used), dtype=bool)])
    rows, limits = rows[np.ix_(kept, used)], limits[kept]
    bent = objective if objective.curved is None else objective.curved
    curvature = objective.weight * _curvature(bent, counts, bent.slope(counts), polytope.most)[np.ix_(used, used)]
    curvature *= units * units[:, None]
    gradient = slope[used] * units
    step = np.zeros(len(counts))
    step[used] = units * closest_point(rows, limits, counts[used] / units, gradient, curvature)
    promised = float(slope @ step)
    # Where what is promised drowns in rounding the value cannot judge; the certificate will.
    allowed = _ROUNDING * max(abs(value), float(np.abs(slope) @ counts))
    length = 1.0
    while length > _SMALLEST_STEP:
        trial = polytope.shrunk(counts + length * step)
        if objective.value(trial) <= value + _SUFFICIENT * length * promised + allowed:
            return trial
        length /= 2
    return None


def _curvature(objective: Objective, counts: FloatArray, slope: FloatArray, most: FloatArray) -> FloatArray:
    """The Hessian by differences of the slope; zero along arms from which no step is possible."""
    reach = float(np.abs(slope) @ (counts + 1e-8 * most))
    curvature = np.zeros((len(counts), len(counts)))
    for arm in np.flatnonzero(slope != 0):
        length = _RELATIVE_CHANGE * reach / abs(float(slope[arm]))
        for signed in (length, -length):
            moved = counts.copy()
            moved[arm] += signed
            if moved[arm] >= 0 and np.isfinite(objective.value(moved)):
                curvature[arm] = (objective.slope(moved) - slope) / signed
                break
    return (curvature + curvature.T) / 2
