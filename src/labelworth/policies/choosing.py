"""Which rows to label next: with probabilities that follow a score, known exactly, and never zero."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.errors import InvalidInputError

By = Literal["random", "uncertainty", "worth"]
RANDOM: By = "random"


@dataclass(frozen=True)
class DrawnRows:
    """Rows of a pool, in random order."""

    rows: IntArray  # (count,)
    probabilities: FloatArray  # (count,): Of each to be drawn, before the draw.
    # (count,): The random share. Every row of the pool has the same probability to be in it.
    is_random: BoolArray


@dataclass(frozen=True)
class Choosing:
    """How rows are chosen.

    A share of the batch is spread evenly over the pool, and a little is left to every row; the rest goes to the rows
    of the highest scores. None is left out for sure, so that what is measured on the labels can be weighted back to
    the whole pool.
    """

    by: By = RANDOM
    random_share: float = 0.25  # Of the batch, in expectation.
    # The least probability of a row, as a share of what it would be at random: scores may be zero.
    floor: float = 0.02

    def __post_init__(self) -> None:
        if self.by not in get_args(By):
            raise InvalidInputError(f"by must be one of {', '.join(get_args(By))}. Got {self.by!r}.")
        for name in ("random_share", "floor"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise InvalidInputError(f"{name} must lie between 0 and 1. Got {value!r}.")
        if self.by != RANDOM and self.random_share + self.floor == 0:
            raise InvalidInputError(
                "A random share and a floor of zero leave rows out for sure, and what is measured on the labels "
                "would say nothing of them: set one of the two above zero."
            )

    @property
    def name(self) -> str:
        """What curves of labels chosen so are called."""
        return f"by {self.by}"

    def probabilities(self, scores: FloatArray, count: int) -> tuple[FloatArray, float]:
        r"""Of every row to be among `count` drawn, (n,), and that of being in the random share.

        .. math:: \pi_i = \begin{cases} 1 & s_i > t \\ (\rho + \phi)\, c / n & s_i < t \end{cases}

        with c rows, the random share :math:`\rho`, scores s and the floor :math:`\phi`; t makes them sum to c, and
        rows with just this score share what is left. The best choice of so many rows looks like this, but for share
        and floor (docs/derivations/chosen.md).
        """
        n_rows = len(scores)
        if not 1 <= count <= n_rows:
            raise InvalidInputError(f"Between 1 and {n_rows:,} rows can be drawn. Got {count:,}.")
        if not np.isfinite(scores).all() or (scores < 0).any():
            raise InvalidInputError("Scores must be finite and not negative.")
        if self.by == RANDOM or not scores.any():
            return np.full(n_rows, count / n_rows), count / n_rows
        even = count * self.random_share / n_rows
        least = min(self.floor * count / n_rows, (count - n_rows * even) / n_rows)
        rest = _highest(scores, count - n_rows * even, least, 1 - even)
        return even + rest, even

    def draw(self, scores: FloatArray, count: int, rng: np.random.Generator) -> DrawnRows:
        """Draw `count` rows without replacement, each with its probability exactly (Madow's systematic draw)."""
        probabilities, even = self.probabilities(scores, count)
        rows = systematic(probabilities, count, rng)
        # Of every row drawn, the part of its probability that it shares with all others.
        is_random = rng.random(count) * probabilities[rows] < even
        if self.by == RANDOM:
            is_random[:] = True
        return DrawnRows(rows, probabilities[rows], is_random)


def systematic(probabilities: FloatArray, count: int, rng: np.random.Generator) -> IntArray:
    """Draw rows with these probabilities, which sum to `count`: the rows, in random order, at equal steps of a line.

    Rows lie on the line in random order, each as long as its probability; as none is longer than a step, none is
    drawn twice.
    """
    order = rng.permutation(len(probabilities))
    ends = np.cumsum(probabilities[order])
    # Rounding may leave the sum just beside the count.
    points = (rng.random() + np.arange(count)) * (ends[-1] / count)
    drawn = order[np.minimum(np.searchsorted(ends, points, side="right"), len(order) - 1)]
    return np.asarray(rng.permutation(drawn))


def _highest(scores: FloatArray, total: float, least: float, most: float) -> FloatArray:
    """`most` of the highest scores, `least` of all others, so that they sum to `total`; ties share what is left."""
    n_rows, room = len(scores), total - least * len(scores)
    n_full = min(int(room / (most - least)), n_rows - 1) if most > least else 0
    level = np.partition(scores, n_rows - 1 - n_full)[n_rows - 1 - n_full]
    above, tied = scores > level, scores == level
    values = np.where(above, most, least)
    values[tied] += (room - above.sum() * (most - least)) / tied.sum()
    return values
