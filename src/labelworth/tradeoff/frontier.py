"""Who dominates whom among designs of some cost and error, and the boundary that nobody dominates."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray
from labelworth.tradeoff.accuracy import Source


def dominators(costs: ArrayLike, errors: ArrayLike) -> list[int | None]:
    """For every design the index of the one with the least error among those that dominate it; None if none does.

    A design dominates another if it costs and errs no more, and one of both less: equal ones do not.

    >>> dominators([2.0, 1.0, 2.0, 1.0], [1.0, 2.0, 1.0, 3.0])
    [None, None, None, 1]
    """
    costs, errors = np.asarray(costs, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    answers: list[int | None] = []
    for cost, error in zip(costs, errors, strict=True):
        better = np.flatnonzero((costs <= cost) & (errors <= error) & ((costs < cost) | (errors < error)))
        answers.append(int(better[np.lexsort((costs[better], errors[better]))[0]]) if better.size else None)
    return answers


@dataclass(frozen=True, eq=False)
class FrontierPoint:
    """One design.

    Attributes
    ----------
    standard_error : float or None
        Of the error, where it was sampled.
    counts : array of shape (n_arms,)
        New samples of every arm.
    shares : array of shape (n_arms,)
        The policy.
    n_samples : float
        All new samples.
    """

    cost: float
    error: float
    standard_error: float | None
    counts: FloatArray
    shares: FloatArray
    n_samples: float


@dataclass(frozen=True, eq=False)
class Frontier:
    """The designs that were looked at, and which of them are worth considering.

    Attributes
    ----------
    points : tuple of FrontierPoint
        The cloud, in the order in which it was looked at.
    source : str
        Where the errors come from.
    """

    arms: tuple[str, ...]
    points: tuple[FrontierPoint, ...]
    criterion: str
    source: Source

    @property
    def boundary(self) -> tuple[FrontierPoint, ...]:
        """The undominated points, of equal ones the first: cost rises, error falls."""
        first = {(point.cost, point.error): point for point in reversed(self.undominated)}
        return tuple(first[key] for key in sorted(first))

    @property
    def undominated(self) -> tuple[FrontierPoint, ...]:
        """The points that no other dominates, in their order."""
        return tuple(point for point, by in zip(self.points, self.dominated_by, strict=True) if by is None)

    @cached_property
    def dominated_by(self) -> tuple[int | None, ...]:
        """For every point the index of the best of those that dominate it; None: on the frontier."""
        return tuple(dominators([point.cost for point in self.points], [point.error for point in self.points]))
