"""What samples and sequences have in common: *samples* that are bought whole, each with *positions* to label.

A document has one position, a sequence one per token. Evidence is per position, weights are per sample.
"""

from typing import Protocol, Self, TypeVar

from labelworth.arrays import AnyArray, BoolArray, FloatArray, IntArray, as_floats
from labelworth.data.evidence import Evidence
from labelworth.errors import InvalidInputError


class Data(Protocol):
    """Features with what is known of their labels."""

    @property
    def evidence(self) -> Evidence: ...

    @property
    def n_samples(self) -> int:
        """Documents or sequences."""

    @property
    def lengths(self) -> IntArray:
        """The positions of every sample, (n_samples,)."""

    @property
    def is_labeled(self) -> BoolArray:
        """Which samples carry a label at one position at least, (n_samples,)."""

    def positions_of(self, samples: AnyArray) -> IntArray:
        """The positions of these samples (indices), in that order."""

    def take(self, rows: AnyArray) -> Self:
        """Keep these samples (indices or a mask), in that order."""

    def hide(self, rows: AnyArray | None = None) -> Self:
        """Forget the labels of these positions (indices or a mask); of all when None."""

    def with_evidence(self, evidence: Evidence) -> Self:
        """The same features, of whose labels something else is known."""


DataT = TypeVar("DataT", bound=Data)


def valid_weights(noun: str, weights: FloatArray, count: int) -> FloatArray:
    """One non-negative weight for each of so many samples, or sequences."""
    weights = as_floats(f"{noun.capitalize()} weights", weights, ndim=1)
    if weights.shape != (count,):
        raise InvalidInputError(
            f"There must be one weight per {noun}. Got {count} {noun}s and {weights.size} weights."
        )
    if (weights < 0).any():
        raise InvalidInputError(f"{noun.capitalize()} weights must be non-negative. Got {weights.min():g} instead.")
    return weights
