"""Forecasts of held-out error and log-loss at any number of labels, with intervals, calibrated on the pilot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from labelworth.arrays import FloatArray, IntArray, require_shape
from labelworth.errors import InvalidInputError
from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.calibration import TUNED, Floor, calibrate
from labelworth.simulation.learner import Mode
from labelworth.simulation.scales import Measure
from labelworth.simulation.simulator import WHOLE
from labelworth.wording import percent

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


CONFIDENCE = 0.9
"""How often the truth is meant to lie within an interval."""

SMALL_FLOOR = 0.04
"""A share of labels that does not follow from the features is reported from here on."""
CONTRADICTED = 0.2
"""A simulation is reported as plainly wrong if that is so probable; 3 % of tuning pilots are there."""

Excess = Callable[[FloatArray], FloatArray]
"""Numbers of labels -> excess error or log-loss by the asymptotic formulas."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """What more labels would buy, in one measure and for one way of learning."""

    values: FloatArray  # (n_sizes,): Medians and the ends of the 90 % interval.
    low: FloatArray
    high: FloatArray
    power_law: FloatArray  # (n_sizes,): The plain power law through the pilot's points, for comparison.
    # (n_sizes,), optional: The asymptotic excess, moved to the level of the pilot, where it was given.
    asymptotic: FloatArray | None
    point_sizes: IntArray  # (n_points,): Cross-validated sub-samples of the pilot.
    points: FloatArray
    floor: Floor  # What no number of labels takes away.


def forecast(
    basis: ForecastBasis,
    mode: Mode,
    measure: Measure,
    sizes: "Sequence[int] | IntArray",
    *,
    policy: str = WHOLE,
    excess: Excess | None = None,
) -> Forecast:
    """The forecast that follows from what was simulated; closed formulas, no fits.

    Beyond what was simulated, and below the smallest part of the pilot, curves are extended on their own slope.

    Parameters
    ----------
    basis : ForecastBasis
        The pilot's points and the simulated curves; see `forecast_basis`.
    mode : "labels-only" or "semi-supervised"
    measure : "error" or "log_loss"
        Share of wrong predictions; log-loss with honest log-odds, in nats per position.
    sizes : whole numbers
        Labeled units in all, those of the pilot among them.
    policy : str
        What is labeled of a unit; one of those simulated.
    excess : function, optional
        The asymptotic excess over the number of labels, to stand beside the forecast.
    """
    asked = np.atleast_1d(np.asarray(sizes))
    if asked.ndim != 1 or not asked.size or asked.dtype.kind not in "iu" or int(asked.min()) < 1:
        raise InvalidInputError(f"Numbers of labels must be whole and at least 1. Got {sizes!r} instead.")
    if mode not in basis.modes:
        raise InvalidInputError(f"Nothing was simulated for {mode!r}; there is {', '.join(basis.modes)}.")
    asked = asked.astype(np.int64)
    calibrated = calibrate(basis, mode, measure, asked, TUNED[measure], policy)
    points = basis.points[mode, measure]
    tail = (1 - CONFIDENCE) / 2
    return Forecast(
        calibrated.values,
        calibrated.quantiles(tail),
        calibrated.quantiles(1 - tail),
        power_law_of(basis, mode, measure).at(asked),
        None if excess is None else _moved(excess, points.sizes, points.means, asked),
        points.sizes,
        points.means,
        calibrated.floor,
    )


def power_law_of(basis: ForecastBasis, mode: Mode, measure: Measure) -> PowerLaw:
    """The power law through the same points of the pilot."""
    points = basis.points[mode, measure]
    # As for the forecast: no error at all in n units is not certainty.
    variances = np.diag(points.covariance) + (0.5 / basis.n_labeled) ** 2
    return fit_power_law(points.sizes, points.means, variances)


def simulation_warning(basis: ForecastBasis, mode: Mode) -> str | None:
    """What the pilot's errors say against its simulation, in words; None where the two agree."""
    calibrated = calibrate(basis, mode, "error", basis.points[mode, "error"].sizes, TUNED["error"])
    if calibrated.contradiction >= CONTRADICTED:
        return (
            "The pilot's errors do not fit simulations of it. The forecast follows the pilot; its interval is wide, "
            "and may still be too narrow. Often the model is badly set: try another smoothing or document length, or "
            "fewer words; and compare the power law."
        )
    floor = calibrated.floor
    if floor.low < SMALL_FLOOR:
        return None
    return (
        f"About {percent(floor.mean)} of the labels ({percent(CONFIDENCE)}: {percent(floor.low).removesuffix(' %')}-"
        f"{percent(floor.high)}) do not seem to follow from the features: the pilot errs more than simulations of "
        "it. More labels do not take that error away."
    )


def _moved(excess: Excess, point_sizes: IntArray, points: FloatArray, sizes: IntArray) -> FloatArray:
    """The asymptotic excess, moved to the level of the largest sub-sample."""
    reference = excess(point_sizes[-1:].astype(np.float64))[0]
    return np.asarray(points[-1] + excess(sizes.astype(np.float64)) - reference)
