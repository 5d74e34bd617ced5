r"""Criteria of Cov = I(f)^-1 / n, the covariance of the estimate, as functions of (n, labeled fraction).

Every function takes a `FractionCurve` (how the information was computed does not matter), the number of samples n and
labeled fractions, and returns an `Estimate`: one figure per fraction, with standard errors if the information was
sampled, NaN where the model is not identified.
"""

from collections.abc import Callable

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.fisher.curve import Estimate, FractionCurve, Weight

Criterion = Callable[[FractionCurve, float, FloatArray], Estimate]


def total_variance(curve: FractionCurve, n_samples: float, fractions: FloatArray) -> Estimate:
    """trace(J Cov J'): the expected squared error of all entries of the named tables, summed.

    Paper: prop:efficiency1.
    """
    return _scaled(curve.trace(Weight.NAMED, fractions), 1 / _checked(n_samples))


def worst_direction(curve: FractionCurve, n_samples: float, fractions: FloatArray) -> Estimate:
    """The largest eigenvalue of J Cov J': the variance of the least certain combination of named entries."""
    return _scaled(curve.worst_direction(fractions), 1 / _checked(n_samples))


def log_volume(curve: FractionCurve, n_samples: float, fractions: FloatArray) -> Estimate:
    """log det Cov in free coordinates."""
    estimate = curve.log_volume(fractions)
    return Estimate(estimate.values - curve.n_parameters * np.log(_checked(n_samples)), estimate.standard_errors)


def excess_log_loss(curve: FractionCurve, n_samples: float, fractions: FloatArray) -> Estimate:
    r"""The price of estimation in the log-loss of p(y | x), :math:`\tfrac12 \operatorname{tr}((I_{XY} - I_X) Cov)`.

    In nats per sample, on top of what the true model pays; the same in any coordinates.
    """
    return _scaled(curve.trace(Weight.MISSING, fractions), 0.5 / _checked(n_samples))


def excess_joint_log_loss(curve: FractionCurve, n_samples: float, fractions: FloatArray) -> Estimate:
    r"""The same for p(x, y), :math:`\tfrac12 \operatorname{tr}(I_{XY} Cov)`."""
    return _scaled(curve.trace(Weight.COMPLETE, fractions), 0.5 / _checked(n_samples))


def excess_marginal_log_loss(curve: FractionCurve, n_samples: float, fractions: FloatArray) -> Estimate:
    r"""The same for p(x), :math:`\tfrac12 \operatorname{tr}(I_X Cov)`."""
    return _scaled(curve.trace(Weight.MARGINAL, fractions), 0.5 / _checked(n_samples))


CRITERIA: dict[str, Criterion] = {
    "total_variance": total_variance,
    "worst_direction": worst_direction,
    "excess_log_loss": excess_log_loss,
    "excess_joint_log_loss": excess_joint_log_loss,
    "excess_marginal_log_loss": excess_marginal_log_loss,
    "log_volume": log_volume,
}
"""By name, in the order in which they are reported."""


def _checked(n_samples: float) -> float:
    if not (np.isfinite(n_samples) and n_samples > 0):
        raise InvalidInputError(f"n_samples must be a positive number. Got {n_samples!r} instead.")
    return float(n_samples)


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    errors = estimate.standard_errors
    return Estimate(factor * estimate.values, None if errors is None else factor * errors)
