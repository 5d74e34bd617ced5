"""What error means: the criteria of Cov = M^-1, the covariance of the estimate, M the information of all samples."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Literal

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError


class Weight(Enum):
    """The matrix G in trace(G Cov); J is the Jacobian of the named tables."""

    NAMED = "named"  # J'J: the expected squared error of the named tables
    COMPLETE = "complete"  # I_everything: twice the excess joint log-loss
    MISSING = "missing"  # I_everything - I_nothing: twice the excess conditional log-loss
    MARGINAL = "marginal"  # I_nothing: twice the excess marginal log-loss


@dataclass(frozen=True)
class Criterion:
    r"""One number of a covariance."""

    name: str
    words: str  # What it is, for people.
    # ``factor`` times trace(G Cov); log det Cov in free coordinates; the largest eigenvalue of J Cov J'.
    form: Literal["trace", "log det", "largest"]
    weight: Weight | None = None  # G of a trace; J'J for the largest eigenvalue.
    factor: float = 1.0

    @property
    def is_logarithmic(self) -> bool:
        """Whether n samples instead of one add to it, and do not divide it."""
        return self.form == "log det"

    def of_samples(self, value: float, n_samples: float, n_directions: int) -> float:
        """The figure of n samples, from that of one: value / n, or value - n_directions log n."""
        return value - n_directions * float(np.log(n_samples)) if self.is_logarithmic else value / n_samples

    def error_of_samples(self, error: float, n_samples: float) -> float:
        """Its standard error likewise."""
        return error if self.is_logarithmic else error / n_samples


CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {
        criterion.name: criterion
        for criterion in (
            Criterion("total_variance", "expected squared error of the parameters", "trace", Weight.NAMED),
            Criterion("worst_direction", "variance in the worst direction", "largest", Weight.NAMED),
            Criterion("excess_log_loss", "excess log-loss (nats per sample)", "trace", Weight.MISSING, 0.5),
            Criterion(
                "excess_joint_log_loss", "excess joint log-loss (nats per sample)", "trace", Weight.COMPLETE, 0.5
            ),
            Criterion(
                "excess_marginal_log_loss",
                "excess marginal log-loss (nats per sample)",
                "trace",
                Weight.MARGINAL,
                0.5,
            ),
            Criterion("log_volume", "log volume of the confidence region", "log det"),
        )
    }
)
"""By name, in the order in which they are reported. Log-losses are coordinate-free, by the delta method."""


def require_criterion(name: str) -> Criterion:
    """The criterion of that name."""
    if name not in CRITERIA:
        raise InvalidInputError(f"criterion must be one of {', '.join(CRITERIA)}. Got {name!r}.")
    return CRITERIA[name]


def require_n_samples(n_samples: float) -> float:
    """Refuse what is no number of samples."""
    if not (np.isfinite(n_samples) and n_samples > 0):
        raise InvalidInputError(f"n_samples must be a positive number. Got {n_samples!r} instead.")
    return float(n_samples)


@dataclass(frozen=True)
class Estimate:
    """Figures, one per labeled fraction, with their standard errors where they were sampled."""

    values: FloatArray  # (n_fractions,): NaN where the model is not identified.
    standard_errors: FloatArray | None = None  # (n_fractions,) or None: None: computed exactly.
