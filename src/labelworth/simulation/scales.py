"""The scales on which curves are compared, and curves of labels that follow from the features only in part."""

import numpy as np
from scipy.special import expit, logit

from labelworth.arrays import FloatArray

Measure = str
"""``error``, ``log_loss``, or the name of a metric (`labelworth.simulation.metrics`), of which what is missing to one
is treated as an error."""

_SMALLEST = 1e-4


def to_scale(measure: Measure, values: FloatArray) -> FloatArray:
    """Log-odds of errors, logarithms of log-losses."""
    return np.asarray(np.log(values) if measure == "log_loss" else logit(values))


def from_scale(measure: Measure, scaled: FloatArray) -> FloatArray:
    """Back to the units of the measure."""
    return np.asarray(np.exp(scaled) if measure == "log_loss" else expit(scaled))


def inside(measure: Measure, values: FloatArray) -> FloatArray:
    """Away from the ends of the scale, by less than simulations can resolve."""
    return np.maximum(values, _SMALLEST) if measure == "log_loss" else np.clip(values, _SMALLEST, 1 - _SMALLEST)


def lifted(measure: Measure, scaled: FloatArray, shares: FloatArray, chance: float) -> FloatArray:
    """Curves of labels that follow from the features, if these shares of the labels did not; (n_shares, ...).

    On such labels nothing is better than to know no features, which costs `chance`: share chance + (1 - share) m.
    What is no better than chance stays so.
    """
    share = shares.reshape(-1, *np.ones(scaled.ndim, dtype=int))
    return to_scale(measure, share * chance + (1 - share) * from_scale(measure, scaled))
