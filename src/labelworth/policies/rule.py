"""Labeling rules: which positions of a sequence are labeled."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from labelworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from labelworth.data.protocol import Data
from labelworth.errors import InvalidInputError


class Rule(ABC):
    """Draws the positions to label, S; positions count from 0.

    Rules of today look at the length alone. One that looks at the tokens overrides `draw_for`, through which policies
    ask.

    Paper: eq:policyExample (where a rule that labels at random is spelled out as several).
    """

    @property
    @abstractmethod
    def spec(self) -> str:
        """How the rule is written, as in ``window:5``."""

    @abstractmethod
    def n_outcomes(self, length: int) -> int:
        """How many sets of positions have a positive probability."""

    @abstractmethod
    def outcomes(self, length: int) -> Iterator[tuple[float, BoolArray]]:
        """Every set of positions with its probability, as masks of shape (length,); probabilities sum to one."""

    @abstractmethod
    def expected_labels(self, length: int) -> float:
        """How many positions are labeled on average."""

    @abstractmethod
    def draw(self, lengths: IntArray, rng: np.random.Generator) -> BoolArray:
        """Draw for many sequences: masks behind each other, shape (sum of `lengths`,)."""

    def shown(self, length: int) -> tuple[FloatArray, FloatArray]:
        """How probable it is that a position is labeled, (length,), and that it and the next are, (length - 1,)."""
        require_length(length)
        single, double = np.zeros(length), np.zeros(length - 1)
        for probability, mask in self.outcomes(length):
            single += probability * mask
            double += probability * (mask[:-1] & mask[1:])
        return single, double

    def draw_for(self, data: Data, rows: IntArray, rng: np.random.Generator) -> BoolArray:
        """Draw for the samples `rows` of the data; one entry for each of their positions."""
        return self.draw(data.lengths[rows], rng)

    def positions(self, length: int, rng: np.random.Generator) -> IntArray:
        """Draw for one sequence: the positions to label, rising."""
        require_length(length)
        return np.flatnonzero(self.draw(np.array([length], dtype=np.int64), rng))

    def __str__(self) -> str:
        return self.spec


def require_length(length: Any) -> None:
    """Refuse what is not the length of a sequence."""
    if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 1:
        raise InvalidInputError(f"The length of a sequence must be a whole number, at least 1. Got {length!r}.")


def as_lengths(lengths: AnyArray) -> IntArray:
    """Read lengths of sequences, or say what is wrong with them."""
    array = np.asarray(lengths)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu") or (array.size and int(array.min()) < 1):
        raise InvalidInputError("Lengths of sequences must be whole numbers, at least 1, in one row.")
    return array.astype(np.int64)


def positions(lengths: IntArray) -> IntArray:
    """The position of every token within its sequence."""
    ends = np.cumsum(lengths)
    return np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
