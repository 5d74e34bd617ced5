"""The rules that come with the house."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray, require_between
from labelworth.errors import InvalidInputError
from labelworth.policies.rule import Rule, positions, require_length

_LONGEST_ENUMERATED = 24


class FixedRule(Rule):
    """A rule without chance: a mask per length."""

    @abstractmethod
    def counted(self, lengths: IntArray) -> BoolArray:
        """The masks, behind each other."""

    def n_outcomes(self, length: int) -> int:
        require_length(length)
        return 1

    def outcomes(self, length: int) -> Iterator[tuple[float, BoolArray]]:
        """The one mask, with certainty."""
        require_length(length)
        yield 1.0, self.counted(np.array([length], dtype=np.int64))

    def expected_labels(self, length: int) -> float:
        """How many positions are labeled."""
        require_length(length)
        return float(self.counted(np.array([length], dtype=np.int64)).sum())

    def draw(self, lengths: IntArray, rng: np.random.Generator) -> BoolArray:
        """The masks; nothing is drawn."""
        return self.counted(lengths)


@dataclass(frozen=True)
class Everything(FixedRule):
    @property
    def spec(self) -> str:
        return "everything"

    def counted(self, lengths: IntArray) -> BoolArray:
        return np.ones(int(lengths.sum()), dtype=bool)


@dataclass(frozen=True)
class Nothing(FixedRule):
    @property
    def spec(self) -> str:
        return "nothing"

    def counted(self, lengths: IntArray) -> BoolArray:
        return np.zeros(int(lengths.sum()), dtype=bool)


@dataclass(frozen=True)
class EveryOther(FixedRule):
    """Label positions 0, 2, 4, ..."""

    @property
    def spec(self) -> str:
        return "every-other"

    def counted(self, lengths: IntArray) -> BoolArray:
        """True at even positions."""
        even: BoolArray = positions(lengths) % 2 == 0
        return even


@dataclass(frozen=True)
class Prefix(FixedRule):
    """Label the first ``min(k, m)`` positions."""

    size: int  # k, at least 0.

    def __post_init__(self) -> None:
        require_count("The number of positions of a prefix", self.size, at_least=0)
        object.__setattr__(self, "size", int(self.size))

    @property
    def spec(self) -> str:
        return f"prefix:{self.size}"

    def counted(self, lengths: IntArray) -> BoolArray:
        """True at the beginning."""
        begun: BoolArray = positions(lengths) < self.size
        return begun


@dataclass(frozen=True)
class PrefixShare(FixedRule):
    """Label the first ``floor(share * m)`` positions.

    Examples
    --------
    >>> PrefixShare(0.5).expected_labels(5), PrefixShare(0.29).expected_labels(100)
    (2.0, 29.0)
    """

    # Between 0 and 1. A decimal is taken as written: 0.29 of 100 is 29, although ``0.29 * 100`` is a little
    # less in floating point.
    share: float | Fraction

    def __post_init__(self) -> None:
        require_between("The share of a prefix", float(self.share), 0.0, 1.0)
        share = self.share if isinstance(self.share, Fraction) else Fraction(repr(float(self.share)))
        object.__setattr__(self, "share", share)

    @property
    def spec(self) -> str:
        """``prefix:0.5``; a point tells ``prefix:1.0``, the whole sequence, from ``prefix:1``, one position."""
        decimal = repr(float(self.share))
        return f"prefix:{decimal if Fraction(decimal) == self.share else self.share}"

    def counted(self, lengths: IntArray) -> BoolArray:
        """True at the beginning."""
        distinct, inverse = np.unique(lengths, return_inverse=True)
        sizes = np.array([math.floor(self.share * length) for length in distinct.tolist()], dtype=np.int64)
        begun: BoolArray = positions(lengths) < np.repeat(sizes[inverse], lengths)
        return begun


@dataclass(frozen=True)
class Window(Rule):
    """Label a run of ``min(k, m)`` positions that starts anywhere with equal chance."""

    size: int  # k, at least 1.

    def __post_init__(self) -> None:
        require_count("The size of a window", self.size, at_least=1)

    @property
    def spec(self) -> str:
        return f"window:{self.size}"

    def n_outcomes(self, length: int) -> int:
        """The number of starts, ``m - min(k, m) + 1``."""
        require_length(length)
        return length - min(self.size, length) + 1

    def outcomes(self, length: int) -> Iterator[tuple[float, BoolArray]]:
        """A window at every start, equally probable."""
        n_starts = self.n_outcomes(length)
        for start in range(n_starts):
            mask = np.zeros(length, dtype=bool)
            mask[start : start + self.size] = True
            yield 1.0 / n_starts, mask

    def expected_labels(self, length: int) -> float:
        require_length(length)
        return float(min(self.size, length))

    def draw(self, lengths: IntArray, rng: np.random.Generator) -> BoolArray:
        """One start per sequence."""
        starts = rng.integers(0, lengths - np.minimum(self.size, lengths) + 1)
        behind = positions(lengths) - np.repeat(starts, lengths)
        inside: BoolArray = (behind >= 0) & (behind < self.size)
        return inside


@dataclass(frozen=True)
class RandomTokens(Rule):
    """Label each position by a coin of its own."""

    probability: float  # That a position is labeled.

    def __post_init__(self) -> None:
        object.__setattr__(self, "probability", float(self.probability))
        require_between("The probability of a label", self.probability, 0.0, 1.0)

    @property
    def spec(self) -> str:
        return f"random:{plain_number(self.probability)}"

    def n_outcomes(self, length: int) -> int:
        """2^m, unless the coin has one side."""
        require_length(length)
        return 1 if self.probability in (0.0, 1.0) else 2**length

    def outcomes(self, length: int) -> Iterator[tuple[float, BoolArray]]:
        """Every subset of the positions.

        Raises
        ------
        InvalidInputError
            If there are too many to be listed; draw them instead.
        """
        if self.n_outcomes(length) == 1:
            yield 1.0, np.full(length, self.probability == 1.0)
            return
        if length > _LONGEST_ENUMERATED:
            raise InvalidInputError(
                f"{self.spec} has 2^{length} outcomes at length {length}; at most 2^{_LONGEST_ENUMERATED} are "
                "listed. Draw them instead."
            )
        for subset in range(2**length):
            mask = (subset >> np.arange(length)) & 1 == 1
            n_labels = int(mask.sum())
            yield self.probability**n_labels * (1 - self.probability) ** (length - n_labels), mask

    def expected_labels(self, length: int) -> float:
        require_length(length)
        return self.probability * length

    def shown(self, length: int) -> tuple[FloatArray, FloatArray]:
        """p, and p squared."""
        require_length(length)
        return np.full(length, self.probability), np.full(length - 1, self.probability**2)

    def draw(self, lengths: IntArray, rng: np.random.Generator) -> BoolArray:
        """One coin per token."""
        heads: BoolArray = rng.random(int(lengths.sum())) < self.probability
        return heads


def require_count(name: str, value: Any, *, at_least: int) -> None:
    """Refuse what is not a whole number, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise InvalidInputError(f"{name} must be a whole number, at least {at_least}. Got {value!r} instead.")


def plain_number(value: float) -> str:
    """A number as people write it, that reads back as the same: 1 and not 1.0."""
    return str(int(value)) if value.is_integer() else repr(value)
