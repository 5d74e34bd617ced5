"""Where rows are cut into shards: by their work alone, whoever does it."""

from itertools import pairwise

import numpy as np

from labelworth.arrays import AnyArray

SHARD_WORK = 1 << 22
"""How much work (stored values) one shard holds: enough to hide its overhead, little enough to stay small."""


def shard_bounds(cumulative_work: AnyArray, shard_work: int = SHARD_WORK) -> list[tuple[int, int]]:
    """Cut rows into contiguous shards of about `shard_work` each.

    Parameters
    ----------
    cumulative_work : array of shape (n + 1,)
        Work before each row, starting at 0: the ``indptr`` of a CSR array, or ``n_columns * arange(n + 1)``.

    Returns
    -------
    list of (first row, row past the last)
        Never empty shards; no shard at all without rows.

    Examples
    --------
    >>> shard_bounds(np.array([0, 3, 4, 9, 10]), shard_work=5)
    [(0, 3), (3, 4)]
    """
    n_rows = len(cumulative_work) - 1
    if n_rows <= 0:
        return []
    targets = np.arange(1, int(cumulative_work[-1]) // shard_work + 1) * shard_work
    cuts = np.unique(np.concatenate([[0], np.searchsorted(cumulative_work, targets), [n_rows]]))
    return list(pairwise(cuts.tolist()))
