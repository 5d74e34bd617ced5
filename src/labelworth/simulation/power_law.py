"""The curve that everybody fits, a power law with a floor; and one of the odds, whose slope is known beforehand."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.optimize import nnls

from labelworth.arrays import FloatArray, IntArray, require_shape
from labelworth.errors import InvalidInputError
from labelworth.simulation.learner import LearnerKind

FLATTEST, STEEPEST = 0.05, 2.0
"""Bounds of the exponent: the slowest and fastest learning ever reported lie well within."""
_N_EXPONENTS = 196  # steps of 0.01


@dataclass(frozen=True)
class PowerLaw:
    """error(L) = floor + scale * L ** -exponent, floor and scale not below zero."""

    floor: float
    scale: float
    exponent: float

    def at(self, sizes: "IntArray | FloatArray") -> FloatArray:
        """The error at these numbers of labels."""
        values: FloatArray = self.floor + self.scale * np.asarray(sizes, dtype=np.float64) ** -self.exponent
        return values


def fit_power_law(sizes: IntArray, values: FloatArray, variances: FloatArray) -> PowerLaw:
    r"""Weighted least squares.

    .. math:: \min \sum_i (y_i - a - b L_i^{-g})^2 / v_i, \qquad a, b \ge 0, \quad 0.05 \le g \le 2

    For a given exponent the problem is linear and solved exactly (non-negative least squares); the exponent is
    searched on a grid of steps of 0.01, so that no start has to be guessed and no local minimum is met.

    Parameters
    ----------
    sizes, values, variances : arrays of shape (n_points,)
        Numbers of labels, mean losses, and the variances of these.
    """
    if len(sizes) < 2:
        raise InvalidInputError(f"A power law needs at least two points. Got {len(sizes)}.")
    require_shape("values", values, (len(sizes),))
    if not (np.isfinite(variances) & (variances > 0)).all():
        raise InvalidInputError("The variances of the points must be positive numbers.")
    weights = 1.0 / np.sqrt(variances)
    best, least = PowerLaw(float(np.average(values, weights=weights**2)), 0.0, FLATTEST), np.inf
    reference = float(np.min(sizes))
    for exponent in np.linspace(FLATTEST, STEEPEST, _N_EXPONENTS):
        # Relative to the smallest size, so that both columns are of order one.
        columns = np.stack([np.ones(len(sizes)), (np.asarray(sizes) / reference) ** -exponent], axis=1)
        (floor, scale), residual = nnls(columns * weights[:, None], values * weights)
        if residual < least:
            best, least = PowerLaw(float(floor), float(scale * reference**exponent), float(exponent)), residual
    return best


@dataclass(frozen=True)
class OddsLaw:
    """odds of an error at L labels = exp(level) * (L / r) ** slope: a line on the scale of log-odds."""

    level: float  # Log-odds at r, the labels of the pilot.
    slope: float

    def at(self, steps: FloatArray) -> FloatArray:
        """Log-odds at log(L / r)."""
        return np.asarray(self.level + self.slope * steps)


USUAL_SLOPES: Mapping[LearnerKind, tuple[float, float]] = MappingProxyType(
    {
        "generative": (-0.14, 0.37),
        "vectors": (-0.22, 0.41),
        "linear": (-0.26, 0.31),
        "local": (-0.34, 0.31),
        "sequences": (-0.26, 0.33),
    }
)
"""Mean and spread of the slope from a quarter of a pilot of 100 to 400 labels up to all of it, over the learners of
each kind and the data sets of LCDB 1.1 (`labelworth reproduce learning-curves`); for sequences, which it does not
have, over all learners."""


def fit_odds_law(steps: FloatArray, log_odds: FloatArray, covariance: FloatArray, kind: LearnerKind) -> OddsLaw:
    r"""The most probable line, given the usual slopes of a kind of learner.

    .. math:: \min_{l, s} (y - l - s x)^\top V^{-1} (y - l - s x) + (s - m)^2 / d^2

    with x = log(L / r). The level is open.
    """
    mean, spread = USUAL_SLOPES[kind]
    columns = np.stack([np.ones(len(steps)), steps], axis=1)
    weighted = np.linalg.solve(covariance, columns)
    precision = columns.T @ weighted + np.diag([0.0, spread**-2])
    level, slope = np.linalg.solve(precision, weighted.T @ log_odds + np.array([0.0, mean * spread**-2]))
    return OddsLaw(float(level), float(slope))
