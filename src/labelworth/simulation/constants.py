"""What forecasts take from earlier pilots on other data."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from labelworth.simulation.scales import Measure


@dataclass(frozen=True)
class Constants:
    """What the pilot cannot tell, tuned once (see docs/derivations/forecast.md).

    On the scale of the measure: log-odds of errors, logarithms of log-losses.
    """

    level_sd: float  # How far off simulated curves are everywhere.
    tilt_mean: float  # How much faster the truth falls than a simulated curve, per unit of log(labels).
    tilt_sd: float
    blend_sd: float  # How far the best blend of the two sources is from the one that cross-validation suggests.
    # How far a point of the pilot may be off beside sampling, since curves have shapes of their own.
    misfit_sd: float
    drift_sd: float  # Spread of the truth around the calibrated curve, per square root of a unit of log(labels).
    doubt: float  # By how much standard errors of the comparison of sources are widened.
    # How probable it is, before the pilot is looked at, that a part of the labels does not follow from
    # features.
    floor_probability: float


# Chosen by `labelworth reproduce forecast-tuning`, which never draws a pilot of the forecast table.
TUNED: Mapping[Measure, Constants] = MappingProxyType(
    {
        "error": Constants(0.11, -0.09, 0.055, 0.14, 0.14, 0.046, 5.3, 0.94),
        "log_loss": Constants(0.7, -0.06, 0.023, 0.14, 0.1, 0.037, 3.9, 0.89),
    }
)

TAILS: Mapping[float, float] = MappingProxyType({1.0: 0.97, 3.0: 0.02, 10.0: 0.01})
"""How much wider than tuned everything may be, and how probable that is: simulations may be plainly wrong."""
