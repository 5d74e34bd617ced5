"""Which mixtures of arms a search tries: shares that sum to one."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from labelworth.arrays import FloatArray

_SHARES = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999)
_RANDOM_MOVES = 2


def mixtures(n_arms: int) -> Iterator[FloatArray]:
    """Pure arms, mixtures of two in many shares, and all in equal parts."""
    corners = np.eye(n_arms)
    yield from corners
    for one, other in combinations(range(n_arms), 2):
        for share in _SHARES:
            yield share * corners[one] + (1 - share) * corners[other]
    if n_arms > 2:
        yield np.full(n_arms, 1 / n_arms)


def near_mixtures(
    direction: FloatArray, counts: FloatArray, step: float, corners: list[FloatArray], rng: np.random.Generator
) -> Iterator[FloatArray]:
    """One share larger or smaller; towards and away from corners; of three and more arms also all at random.

    Where two limits meet the best designs lie on a ridge that no single share follows.

    Parameters
    ----------
    direction, counts : array of shape (n_arms,)
        The shares of a design, and the design.
    step : float
    corners : list of arrays of shape (n_arms,)
        Designs at the ends of such a ridge.
    rng : Generator
    """
    moved = [counts + signed * (corner - counts) for corner in corners for signed in (step, -step)]
    for arm, share in enumerate(direction):
        for other in (share + step, share * (1 + step), share / (1 + step), share - step):
            changed = direction.copy()
            changed[arm] = other
            moved.append(changed)
    for _ in range(_RANDOM_MOVES * len(direction) if len(direction) > 2 else 0):
        moved.append(direction + step * rng.standard_normal(len(direction)) * (direction + 0.1 * step))
    for one in moved:
        positive = np.maximum(one, 0.0)
        if positive.any():
            yield positive / positive.sum()
