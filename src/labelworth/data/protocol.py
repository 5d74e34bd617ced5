"""What samples and sequences have in common: *samples* that are bought whole, each with *positions* to label.

A document has one position, a sequence one per token. Evidence is per position, weights are per sample.
"""

from typing import Protocol, Self, TypeVar

from labelworth.arrays import AnyArray, BoolArray, IntArray
from labelworth.data.evidence import Evidence


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
