"""The scales on which curves are compared, and curves of labels that follow from the features only in part."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from scipy.special import expit, logit

from labelworth.arrays import FloatArray

Measure = str
"""``error``, ``log_loss``, or the name of a metric (`labelworth.simulation.metrics`), of which what is missing to one
is treated as an error."""

FLOORS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "error": (0.0, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5),
        "log_loss": (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.3),
    }
)
"""What no number of labels takes away: as a share of the labels, and in nats. The first is none at all."""
_SMALLEST = 1e-4


def treated_as(measure: Measure) -> str:
    """Whose scale, floors and constants it has: ``error`` or ``log_loss``."""
    return "log_loss" if measure == "log_loss" else "error"


def to_scale(measure: Measure, values: FloatArray) -> FloatArray:
    """Log-odds of errors, logarithms of log-losses."""
    return np.asarray(np.log(values) if measure == "log_loss" else logit(values))


def from_scale(measure: Measure, scaled: FloatArray) -> FloatArray:
    """Back to the units of the measure."""
    return np.asarray(np.exp(scaled) if measure == "log_loss" else expit(scaled))


def inside(measure: Measure, values: FloatArray) -> FloatArray:
    """Away from the ends of the scale, by less than simulations can resolve."""
    return np.maximum(values, _SMALLEST) if measure == "log_loss" else np.clip(values, _SMALLEST, 1 - _SMALLEST)


def lifted(measure: Measure, scaled: FloatArray, floors: FloatArray) -> FloatArray:
    """Curves of labels that follow from the features, if only a part of the labels did; (n_floors, ...).

    A prediction is right where the label is what the features tell, a share 1 - floor, and the learner finds it:
    error floor + (1 - floor) m. Log-losses add up: floor + m.
    """
    floor = floors.reshape(-1, *np.ones(scaled.ndim, dtype=int))
    if measure == "log_loss":
        return np.asarray(np.log(floor + np.exp(scaled)))
    return np.asarray(logit(floor + (1 - floor) * expit(scaled)))
