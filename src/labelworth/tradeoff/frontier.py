"""Who dominates whom among designs of some cost and error."""

import numpy as np
from numpy.typing import ArrayLike


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
