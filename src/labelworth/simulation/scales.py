"""The scales on which curves are compared, and curves of labels that follow from the features only in part."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from labelworth.arrays import FloatArray

Measure = Literal["error", "log_loss"]

FLOORS: Mapping[Measure, tuple[float, ...]] = MappingProxyType(
    {
        "error": (0.0, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5),
        "log_loss": (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.3),
    }
)
"""What no number of labels takes away: as a share of the labels, and in nats. The first is none at all."""
_SMALLEST = 1e-4


def to_scale(measure: Measure, values: FloatArray) -> FloatArray:
    """Log-odds of errors, logarithms of log-losses."""
    return np.asarray(logit(values) if measure == "error" else np.log(values))


def from_scale(measure: Measure, scaled: FloatArray) -> FloatArray:
    """Back to the units of the measure."""
    return np.asarray(expit(scaled) if measure == "error" else np.exp(scaled))


def inside(measure: Measure, values: FloatArray) -> FloatArray:
    """Away from the ends of the scale, by less than simulations can resolve."""
    return np.clip(values, _SMALLEST, 1 - _SMALLEST) if measure == "error" else np.maximum(values, _SMALLEST)


def lifted(measure: Measure, scaled: FloatArray, floors: FloatArray) -> FloatArray:
    """Curves of labels that follow from the features, if only a part of the labels did; (n_floors, ...).

    A prediction is right where the label is what the features tell, a share 1 - floor, and the learner finds it:
    error floor + (1 - floor) m. Log-losses add up: floor + m.
    """
    floor = floors.reshape(-1, *np.ones(scaled.ndim, dtype=int))
    if measure == "error":
        return np.asarray(logit(floor + (1 - floor) * expit(scaled)))
    return np.asarray(np.log(floor + np.exp(scaled)))
