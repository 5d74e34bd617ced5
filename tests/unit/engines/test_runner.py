"""Whoever does the pieces, results come in order and sums are the same bits."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from labelworth.engines.processes import Processes
from labelworth.engines.runner import Runner, Sums, Threads, added, plus, runner_of
from labelworth.errors import InvalidInputError


def noisy(scale: float, seed: int) -> Sums:
    values = np.random.default_rng(seed).normal(size=5) * scale ** (seed % 7)
    return {"values": values, "count": np.asarray(1.0)}


def by_rounds(values: list[Any]) -> Any:
    """What `added` promises, written as rounds of pairs."""
    while len(values) > 1:
        pairs = [values[first : first + 2] for first in range(0, len(values), 2)]
        values = [plus(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return values[0]


@pytest.mark.parametrize("count", range(1, 40))
def test_sums_are_taken_in_rounds_of_pairs(count: int) -> None:
    given = (noisy(1e3, seed) for seed in range(count))
    held = [noisy(1e3, seed) for seed in range(count)]
    assert added(given)["values"].tobytes() == by_rounds(held)["values"].tobytes()


def test_the_order_of_adding_tells_in_the_bits() -> None:
    results = [noisy(1e3, seed) for seed in range(39)]
    in_order = np.sum([result["values"] for result in results[::-1]], axis=0)
    assert added(results)["values"].tobytes() != in_order.tobytes()


def test_adding_takes_no_memory_beside_the_results() -> None:
    """The first of every two results is added to: of tables, one more is what a process may not have room for."""
    size, count = 1 << 20, 16
    results = ({"values": np.full(size, float(number))} for number in range(count))
    tracemalloc.start()
    try:
        total = added(results)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total["values"][0] == count * (count - 1) / 2
    # One sum of 8, 4, 2 and 1 results each, and the result at hand; the rest is small objects.
    assert peak < 8 * size * 5.1


def test_a_sum_by_plus_leaves_alone_what_was_added() -> None:
    """Workers of a cluster hold results, and may be asked for them again."""
    first, second = noisy(1e3, 1), noisy(1e3, 2)
    plus(first, second)
    assert first["values"].tobytes() == noisy(1e3, 1)["values"].tobytes()
    assert second["values"].tobytes() == noisy(1e3, 2)["values"].tobytes()


def test_nothing_adds_up_to_nothing() -> None:
    with pytest.raises(InvalidInputError, match="no rows are left"):
        added(iter(()))


RUNNERS = [Threads(1), Threads(3), Processes(2)]


@pytest.mark.parametrize("runner", RUNNERS, ids=["one thread", "three threads", "two processes"])
def test_runners_give_the_same_bits_and_keep_the_order(runner: Runner) -> None:
    expected = [noisy(1e3, seed) for seed in range(11)]
    assert runner.total(noisy, 1e3, range(11))["values"].tobytes() == by_rounds(expected)["values"].tobytes()
    order = [result["values"].tobytes() for result in runner.map(noisy, 1e3, range(11))]
    assert order == [result["values"].tobytes() for result in expected]


def test_an_engine_is_named_or_refused() -> None:
    assert isinstance(runner_of(None, 2), Threads)
    assert isinstance(runner_of("processes", 2), Processes)
    assert runner_of(own := Threads(1)) is own
    with pytest.raises(InvalidInputError, match="engine must be"):
        runner_of("spark")
    with pytest.raises(InvalidInputError, match="at least one worker"):
        runner_of("threads", 0)
