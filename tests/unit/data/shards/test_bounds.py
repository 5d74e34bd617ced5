"""Shards cover every row once, in order."""

import numpy as np
import pytest

from labelworth.data.shards.bounds import shard_bounds


@pytest.mark.parametrize("shard_work", [1, 3, 10, 1000])
def test_shards_cover_all_rows_in_order_without_gaps(shard_work: int, seed: int) -> None:
    work = np.concatenate([[0], np.cumsum(np.random.default_rng(seed).integers(0, 6, size=50))])
    bounds = shard_bounds(work, shard_work)
    assert [first for first, _ in bounds] == [0, *(stop for _, stop in bounds[:-1])]
    assert bounds[-1][1] == 50
    assert all(stop > first for first, stop in bounds)


def test_no_shard_exceeds_its_work_by_more_than_one_row(seed: int) -> None:
    sizes = np.random.default_rng(seed).integers(0, 6, size=500)
    work = np.concatenate([[0], np.cumsum(sizes)])
    assert max(work[stop] - work[first] for first, stop in shard_bounds(work, 40)) <= 40 + sizes.max()


def test_no_rows_make_no_shards() -> None:
    assert shard_bounds(np.array([0])) == []


def test_rows_without_work_are_one_shard() -> None:
    assert shard_bounds(np.zeros(5, dtype=int)) == [(0, 4)]
