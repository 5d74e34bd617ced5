"""Forecasts of held-out error and log-loss at any number of labels, with intervals, calibrated on the pilot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.errors import InvalidInputError
from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.calibration import Floor, calibrate, power_law_of
from labelworth.simulation.learner import Mode
from labelworth.simulation.scales import Measure
from labelworth.simulation.simulator import WHOLE
from labelworth.wording import percent

CONFIDENCE = 0.9
"""How often the truth is meant to lie within an interval."""

SMALL_FLOOR = 0.04
"""A share of labels that the model cannot follow is reported from here on."""
CONTRADICTED = 0.2
"""A simulation is reported as plainly wrong if that is so probable; 3 % of tuning pilots are there."""

TOGETHER = 0.7
"""The correlation of what forecasts of two models from one pilot are off: with it 90 % intervals of the difference
held 86 to 90 % of 1,077 realized ones (docs/studies/model_choice.md)."""
CLEAR_LEAD = 1.0
"""So many standard errors of their difference a model must be forecast to be better to be planned with in place of
the one that was better on the pilot's own folds; chosen with the same pilots in view."""

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
    calibrated = calibrate(basis, mode, measure, asked, policy=policy)
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


def is_clearly_better(
    rival: tuple[ForecastBasis, Mode], other: tuple[ForecastBasis, Mode], measure: Measure, size: int
) -> bool:
    """Whether a model is forecast to be better with so many labeled units, beyond what both forecasts may be off."""
    at = np.array([size])
    first, second = (calibrate(basis, mode, measure, at).mixture for basis, mode in (rival, other))
    lead = float(second.quantiles(0.5)[0] - first.quantiles(0.5)[0])
    spreads = [float(np.sqrt(own.variance[0])) for own in (first, second)]
    return bool(
        lead > CLEAR_LEAD * np.sqrt(spreads[0] ** 2 + spreads[1] ** 2 - 2 * TOGETHER * spreads[0] * spreads[1])
    )


def simulation_warning(basis: ForecastBasis, mode: Mode) -> str | None:
    """What the pilot's errors say against its simulation, in words; None where the two agree.

    Labels that nobody could follow and a model that is too simple for them look the same in its errors.
    """
    calibrated = calibrate(basis, mode, "error", np.array([basis.n_units]))
    if calibrated.contradiction >= CONTRADICTED:
        return (
            "The pilot's errors do not fit simulations of it. The forecast follows the pilot; its interval is wide, "
            "and may still be too narrow. Often the model is badly set: try other settings of it, or another model, "
            "and compare the power law."
        )
    least = calibrated.floor.low
    # Level and tilt may lead below it: then it is not what stays.
    if least < SMALL_FLOOR or least >= calibrated.values[0]:
        return None
    return (
        f"This model does not seem able to follow at least about {percent(least)} of the labels: they are noisy, "
        "classes overlap, or the model is too simple for them. A larger pilot or another model tells which."
    )


def _moved(excess: Excess, point_sizes: IntArray, points: FloatArray, sizes: IntArray) -> FloatArray:
    """The asymptotic excess, moved to the level of the largest sub-sample."""
    reference = excess(point_sizes[-1:].astype(np.float64))[0]
    return np.asarray(points[-1] + excess(sizes.astype(np.float64)) - reference)
