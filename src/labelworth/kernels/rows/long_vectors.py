"""Sums over vectors too long for the cache, a tile at a time: each is read once, and tiles are added in their order.

A history holds the last steps of a walk and how the gradient changed in each, as rows. The same bits for any number
of threads.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import fetch_and_add
from labelworth.kernels.machine.threads import n_threads_for, run_together

TILE = 2048
N_PRODUCTS = 5


def inner(first: FloatArray, second: FloatArray) -> float:
    """The inner product of two vectors."""
    sums = np.zeros(_n_tiles(first))
    _run(work_on_inner, (first, second, sums), first.size)
    return float(sums.sum())


def add_scaled(start: FloatArray, factor: float, direction: FloatArray, target: FloatArray) -> None:
    """target = start + factor * direction."""
    _run(work_on_scaled, (start, factor, direction, target), start.size)


def squared_lengths(start: FloatArray, first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Squared lengths of the first step r, from `start` to `first`, and of its bend u, the second step less r."""
    sums = np.zeros((_n_tiles(start), 2))
    _run(work_on_lengths, (start, first, second, sums), 2 * start.size)
    of_step, of_bend = sums.sum(axis=0).tolist()
    return of_step, of_bend


def stretch_steps(start: FloatArray, first: FloatArray, second: FloatArray, stretch: float) -> None:
    """start += 2 stretch r + stretch^2 u, with the first step r and the bend u of `squared_lengths`."""
    _run(work_on_stretch, (start, first, second, stretch), start.size)


def squared_root_distance(first: FloatArray, second: FloatArray) -> float:
    """The squared distance between the square roots of two vectors of non-negative numbers."""
    sums = np.zeros(_n_tiles(first))
    _run(work_on_roots, (first, second, sums), first.size)
    return float(sums.sum())


def record_step(
    steps: FloatArray,
    changes: FloatArray,
    slot: int,
    n_used: int,
    before: FloatArray,
    after: FloatArray,
    gradient_before: FloatArray,
    gradient_after: FloatArray,
) -> FloatArray:
    """Write the last step s and the change of the gradient y to a slot of the history; return inner products.

    Returns
    -------
    array of shape (5, n_used)
        For every used slot i: s_i y, s y_i, y_i y, s_i g and y_i g, where g is the new gradient.
    """
    sums = np.zeros((_n_tiles(before), N_PRODUCTS, n_used))
    arguments = (steps, changes, slot, before, after, gradient_before, gradient_after, sums)
    _run(work_on_record, arguments, before.size * n_used)
    products: FloatArray = sums.sum(axis=0)
    return products


def combine(
    steps: FloatArray,
    changes: FloatArray,
    step_factors: FloatArray,
    change_factors: FloatArray,
    gradient: FloatArray,
    gradient_factor: float,
    target: FloatArray,
) -> None:
    """target = gradient_factor * gradient + the sum of the first rows of the history, each times its factor."""
    arguments = (steps, changes, step_factors, change_factors, gradient, gradient_factor, target)
    _run(work_on_combination, arguments, gradient.size * (1 + len(step_factors)))


def _n_tiles(vector: FloatArray) -> int:
    return -(-vector.size // TILE)


def _run(work: Callable[..., None], arguments: tuple[Any, ...], size: int) -> None:
    counters = np.zeros(2, dtype=np.int64)
    n_tiles = _n_tiles(arguments[0] if arguments[0].ndim == 1 else arguments[0][0])
    run_together(work, (*arguments, counters), n_threads_for(size), counters[1:], n_tiles)


@compiled()
def work_on_inner(first: FloatArray, second: FloatArray, sums: FloatArray, counters: IntArray) -> None:
    """What one thread does of `inner`."""
    while True:
        tile = fetch_and_add(counters, 0, 1)
        if tile >= len(sums):
            return
        inside = slice(tile * TILE, (tile + 1) * TILE)
        sums[tile] = inner_of_tile(first[inside], second[inside])
        fetch_and_add(counters, 1, 1)


@compiled()
def work_on_scaled(
    start: FloatArray, factor: float, direction: FloatArray, target: FloatArray, counters: IntArray
) -> None:
    """What one thread does of `add_scaled`."""
    n_tiles = -(-len(start) // TILE)
    while True:
        tile = fetch_and_add(counters, 0, 1)
        if tile >= n_tiles:
            return
        for position in range(tile * TILE, min((tile + 1) * TILE, len(start))):
            target[position] = start[position] + factor * direction[position]
        fetch_and_add(counters, 1, 1)


@compiled()
def work_on_lengths(
    start: FloatArray, first: FloatArray, second: FloatArray, sums: FloatArray, counters: IntArray
) -> None:
    """What one thread does of `squared_lengths`."""
    while True:
        tile = fetch_and_add(counters, 0, 1)
        if tile >= len(sums):
            return
        inside = slice(tile * TILE, (tile + 1) * TILE)
        sums[tile, 0], sums[tile, 1] = lengths_of_tile(start[inside], first[inside], second[inside])
        fetch_and_add(counters, 1, 1)


@compiled()
def work_on_stretch(
    start: FloatArray, first: FloatArray, second: FloatArray, stretch: float, counters: IntArray
) -> None:
    """What one thread does of `stretch_steps`."""
    n_tiles = -(-len(start) // TILE)
    while True:
        tile = fetch_and_add(counters, 0, 1)
        if tile >= n_tiles:
            return
        for position in range(tile * TILE, min((tile + 1) * TILE, len(start))):
            step = first[position] - start[position]
            bend = (second[position] - first[position]) - step
            start[position] += 2 * stretch * step + stretch * stretch * bend
        fetch_and_add(counters, 1, 1)


@compiled()
def work_on_roots(first: FloatArray, second: FloatArray, sums: FloatArray, counters: IntArray) -> None:
    """What one thread does of `squared_root_distance`."""
    while True:
        tile = fetch_and_add(counters, 0, 1)
        if tile >= len(sums):
            return
        inside = slice(tile * TILE, (tile + 1) * TILE)
        sums[tile] = root_distance_of_tile(first[inside], second[inside])
        fetch_and_add(counters, 1, 1)


@compiled()
def work_on_record(
    steps: FloatArray,
    changes: FloatArray,
    slot: int,
    before: FloatArray,
    after: FloatArray,
    gradient_before: FloatArray,
    gradient_after: FloatArray,
    sums: FloatArray,
    counters: IntArray,
) -> None:
    """What one thread does of `record_step`."""
    n_used = sums.shape[2]
    while True:
        tile = fetch_and_add(counters, 0, 1)
        if tile >= len(sums):
            return
        first, last = tile * TILE, min((tile + 1) * TILE, len(before))
        for position in range(first, last):
            steps[slot, position] = after[position] - before[position]
            changes[slot, position] = gradient_after[position] - gradient_before[position]
        step, change, gradient = steps[slot, first:last], changes[slot, first:last], gradient_after[first:last]
        for other in range(n_used):
            step_of_other, change_of_other = steps[other, first:last], changes[other, first:last]
            sums[tile, 0, other] = inner_of_tile(step_of_other, change)
            sums[tile, 1, other] = inner_of_tile(step, change_of_other)
            sums[tile, 2, other] = inner_of_tile(change_of_other, change)
            sums[tile, 3, other] = inner_of_tile(step_of_other, gradient)
            sums[tile, 4, other] = inner_of_tile(change_of_other, gradient)
        fetch_and_add(counters, 1, 1)


@compiled(fastmath={"contract"})
def work_on_combination(
    steps: FloatArray,
    changes: FloatArray,
    step_factors: FloatArray,
    change_factors: FloatArray,
    gradient: FloatArray,
    gradient_factor: float,
    target: FloatArray,
    counters: IntArray,
) -> None:
    """What one thread does of `combine`."""
    n_tiles = -(-len(gradient) // TILE)
    while True:
        tile = fetch_and_add(counters, 0, 1)
        if tile >= n_tiles:
            return
        first, last = tile * TILE, min((tile + 1) * TILE, len(gradient))
        total = target[first:last]
        for position in range(last - first):
            total[position] = gradient_factor * gradient[first + position]
        for row in range(len(step_factors)):
            step, change = steps[row, first:last], changes[row, first:last]
            for position in range(last - first):
                total[position] += step_factors[row] * step[position] + change_factors[row] * change[position]
        fetch_and_add(counters, 1, 1)


@compiled(fastmath={"contract", "reassoc", "nsz"})
def inner_of_tile(first: FloatArray, second: FloatArray) -> float:
    """The inner product of two short vectors."""
    total = 0.0
    for position in range(len(first)):
        total += first[position] * second[position]
    return total


@compiled(fastmath={"contract", "reassoc", "nsz"})
def lengths_of_tile(start: FloatArray, first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Squared lengths of the step and the bend of a short walk."""
    of_step, of_bend = 0.0, 0.0
    for position in range(len(start)):
        step = first[position] - start[position]
        bend = (second[position] - first[position]) - step
        of_step += step * step
        of_bend += bend * bend
    return of_step, of_bend


@compiled(fastmath={"contract", "reassoc", "nsz"})
def root_distance_of_tile(first: FloatArray, second: FloatArray) -> float:
    """The squared distance between the square roots of two short vectors."""
    total = 0.0
    for position in range(len(first)):
        difference = np.sqrt(first[position]) - np.sqrt(second[position])
        total += difference * difference
    return total
