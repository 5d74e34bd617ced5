"""Shards cover every row once, in order, and say nothing about who runs them."""

import threading
import time

import numpy as np
import pytest

from labelworth.kernels.machine.shards import map_shards, shard_bounds


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


@pytest.mark.parametrize("n_workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_shards(n_workers: int) -> None:
    def work(first: int, stop: int) -> tuple[int, int]:
        time.sleep(0.002 * (4 - first))  # the first shards finish last
        return first, stop

    bounds = [(place, place + 1) for place in range(5)][:4]
    assert list(map_shards(work, bounds, n_workers)) == bounds


def test_several_workers_work_at_once() -> None:
    meeting = threading.Barrier(2, timeout=10)

    def work(first: int, stop: int) -> int:
        meeting.wait()  # breaks unless two shards are under way together
        return stop - first

    assert list(map_shards(work, [(0, 2), (2, 3)], n_workers=2)) == [2, 1]


def test_an_error_in_a_shard_is_raised() -> None:
    def work(first: int, stop: int) -> int:
        raise ValueError(f"shard {first}")

    with pytest.raises(ValueError, match="shard 0"):
        list(map_shards(work, [(0, 1), (1, 2)], n_workers=2))
