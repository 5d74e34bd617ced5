"""How long documents are: the distribution q(m) over which information is averaged."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray, IntArray, as_floats, require_probabilities
from labelworth.errors import InvalidInputError

_WHOLE_NUMBER_TOLERANCE = 1e-6
_LONGEST = 2**53  # beyond it doubles cannot tell neighboring whole numbers apart


@dataclass(frozen=True, eq=False)
class LengthDistribution:
    """Document lengths and how probable each is, the paper's q(m). It carries no parameter of the model.

    Examples
    --------
    >>> lengths = LengthDistribution.from_mapping({"5": 0.5, "7": 0.5})
    >>> lengths.mean
    6.0
    """

    lengths: IntArray  # (n_lengths,): Distinct lengths m, each at least 1.
    probabilities: FloatArray  # (n_lengths,): q(m), positive, summing to 1.

    def __post_init__(self) -> None:
        lengths = _whole_numbers(self.lengths)
        probabilities = as_floats("length probabilities", self.probabilities, ndim=1)
        if lengths.shape != probabilities.shape:
            raise InvalidInputError(
                f"There must be one probability per length. Got {lengths.size} length(s) "
                f"and {probabilities.size} probability(ies)."
            )
        if lengths.size and int(lengths.min()) < 1:
            raise InvalidInputError(
                f"Lengths must be at least 1: an empty document says nothing about words. Got {int(lengths.min())}."
            )
        if np.unique(lengths).size != lengths.size:
            raise InvalidInputError(f"Lengths must be distinct. Got {lengths.tolist()}; add their probabilities up.")
        require_probabilities("length probabilities", probabilities, positive=True)
        object.__setattr__(self, "lengths", lengths)
        object.__setattr__(self, "probabilities", probabilities)

    @property
    def mean(self) -> float:
        """The expected length, the sum of m q(m)."""
        return float(self.lengths @ self.probabilities)

    @property
    def longest(self) -> int:
        return int(self.lengths.max())

    def items(self) -> Iterator[tuple[int, float]]:
        """Each length with its probability."""
        yield from zip(self.lengths.tolist(), self.probabilities.tolist(), strict=True)

    def sample(self, n_samples: int, rng: np.random.Generator) -> IntArray:
        drawn: IntArray = rng.choice(self.lengths, size=n_samples, p=self.probabilities)
        return drawn

    @classmethod
    def single(cls, length: int) -> Self:
        """Every document has the same length."""
        return cls(np.array([length]), np.ones(1))

    @classmethod
    def from_mapping(cls, probability_of_length: Mapping[Any, float]) -> Self:
        """Read ``{"5": 0.5, "7": 0.5}``; keys may be strings, as JSON has no others. Sorted by length."""
        if not probability_of_length:
            raise InvalidInputError('lengths must not be empty. Write for example {"5": 0.5, "7": 0.5}.')
        pairs = sorted(
            ((_whole_number(length), q) for length, q in probability_of_length.items()), key=lambda pair: pair[0]
        )
        return cls(
            np.array([length for length, _ in pairs]),
            as_floats("length probabilities", [q for _, q in pairs], ndim=1),
        )


def _whole_number(text: Any) -> int:
    try:
        return int(text) if isinstance(text, str) else int(_whole_numbers([text])[0])
    except ValueError as error:
        raise InvalidInputError(f'A length must be a whole number such as "5". Got {text!r} instead.') from error


def _whole_numbers(values: ArrayLike) -> IntArray:
    numbers = as_floats("lengths", values, ndim=1)
    rounded = np.rint(numbers)
    # Rescaled documents add up to their length only to rounding error.
    off = np.abs(numbers - rounded) > _WHOLE_NUMBER_TOLERANCE * np.maximum(1.0, np.abs(rounded))
    if off.any():
        raise InvalidInputError(
            f"lengths must be whole numbers. Got {numbers[off][0]:g} instead; "
            "give counts of words, not weights such as tf-idf, or rescale the documents to a whole length."
        )
    if numbers.size and numbers.max() > _LONGEST:
        raise InvalidInputError(f"lengths must be at most {_LONGEST}. Got {numbers.max():g}; rescale the documents.")
    return rounded.astype(np.int64)
