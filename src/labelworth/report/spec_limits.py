"""What a specification may ask for: numbers that doubles can work with, and lengths that can be drawn."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError

_LEAST_PROBABILITY = 1e-50
_LARGEST_WEIGHT = 1e3
_MOST_LENGTHS = 10_000
MOST_WORDS = 100_000
MOST_TOKENS = 1_000


def require_workable_probabilities(name: str, table: FloatArray) -> None:
    """Refuse probabilities whose squared scores, 1 / p^2, no double can hold."""
    least = float(table.min())
    if least < _LEAST_PROBABILITY:
        raise InvalidInputError(
            f"{name} must be at least {_LEAST_PROBABILITY:g}. Got {least:g}: what never happens is best left out."
        )


def require_workable_weights(name: str, table: FloatArray) -> None:
    """Refuse weights beside which all other differences are lost in rounding."""
    largest = float(np.abs(table).max(initial=0.0))
    if largest > _LARGEST_WEIGHT:
        raise InvalidInputError(
            f"The weights of {name} must lie between -{_LARGEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}; a weight is the "
            f"logarithm of a ratio of odds. Got {largest:g}."
        )


def require_workable_lengths(lengths: LengthDistribution, most: int) -> None:
    """Refuse lengths that nobody could draw or sum over."""
    if lengths.longest > most or len(lengths.lengths) > _MOST_LENGTHS:
        raise InvalidInputError(
            f"A specification may have up to {_MOST_LENGTHS:,} lengths of at most {most:,}. Got "
            f"{len(lengths.lengths):,}, up to {lengths.longest:,}; shorten them."
        )
