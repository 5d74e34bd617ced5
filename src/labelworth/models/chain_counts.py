"""Counts of a chain: first labels, neighboring labels, words beside labels."""

from collections.abc import Mapping
from typing import NamedTuple

from labelworth.arrays import FloatArray


class ChainCounts(NamedTuple):
    """(Expected) counts; those of two shards add up.

    Attributes
    ----------
    start : array of shape (K,)
        First labels.
    pairs : array of shape (K, K)
        A label (row) and the next.
    emission : array of shape (K, V)
        Words beside labels.
    """

    start: FloatArray
    pairs: FloatArray
    emission: FloatArray

    def minus(self, other: "ChainCounts") -> "ChainCounts":
        """Entry by entry."""
        return ChainCounts(*(one - two for one, two in zip(self, other, strict=True)))

    def tables(self) -> Mapping[str, FloatArray]:
        """In the shapes of a model's tables: start (1, K), transition (K, K), emission (K, V)."""
        return {"start": self.start[None, :], "transition": self.pairs, "emission": self.emission}
