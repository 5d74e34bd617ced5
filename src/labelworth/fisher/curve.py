"""What every way of computing information offers: criteria as functions of the labeled fraction."""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from labelworth.arrays import FloatArray


class Weight(Enum):
    """The matrix G in trace(G I(f)^-1)."""

    NAMED = "named"  # J'J: expected squared error of the named tables, times n
    COMPLETE = "complete"  # I_XY: twice the excess joint log-loss, times n
    MISSING = "missing"  # I_XY - I_X: twice the excess conditional log-loss, times n
    MARGINAL = "marginal"  # I_X: twice the excess marginal log-loss, times n


@dataclass(frozen=True)
class Estimate:
    """Figures, one per labeled fraction, with their standard errors where they were sampled.

    Attributes
    ----------
    values : array of shape (n_fractions,)
    standard_errors : array of shape (n_fractions,) or None
        None: computed exactly.
    """

    values: FloatArray
    standard_errors: FloatArray | None = None


class FractionCurve(Protocol):
    """I(f) = complete - (1 - f) missing, and what is asked of its inverse, for every fraction f at once."""

    @property
    def n_parameters(self) -> int:
        """The number of free coordinates, d."""

    @property
    def method(self) -> str:
        """How it was computed: enumeration, formula, sampling, observed or matrix-free."""

    def trace(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """trace(G I(f)^-1)."""

    def trace_slope(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """Its derivative in f, -trace(G I(f)^-1 missing I(f)^-1)."""

    def log_volume(self, fractions: FloatArray) -> Estimate:
        """log det I(f)^-1 in free coordinates."""

    def worst_direction(self, fractions: FloatArray) -> Estimate:
        """The largest eigenvalue of J I(f)^-1 J', the asymptotic covariance of the named tables."""
