"""Who runs a pass over which rows. Shards and the order of adding depend on the data alone, never on the workers."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

from labelworth.arrays import AnyArray

Result = TypeVar("Result")

DEFAULT_SHARD_WORK = 1 << 22
"""How much work (stored values) one shard holds: enough to hide its overhead, little enough to stay small."""


def shard_bounds(cumulative_work: AnyArray, shard_work: int = DEFAULT_SHARD_WORK) -> list[tuple[int, int]]:
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


def map_shards(
    work: Callable[[int, int], Result], bounds: Sequence[tuple[int, int]], n_workers: int = 1
) -> Iterator[Result]:
    """Run `work(first, stop)` on every shard; results come in the order of the shards, whoever ran them."""
    if n_workers <= 1 or len(bounds) <= 1:
        for first, stop in bounds:
            yield work(first, stop)
        return
    with ThreadPoolExecutor(max_workers=min(n_workers, len(bounds))) as pool:
        yield from pool.map(lambda bound: work(*bound), bounds)
