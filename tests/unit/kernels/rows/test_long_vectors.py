import numpy as np
import pytest

from labelworth.kernels.rows import long_vectors
from labelworth.kernels.rows.long_vectors import (
    TILE,
    add_scaled,
    combine,
    inner,
    record_step,
    squared_lengths,
    squared_root_distance,
    stretch_steps,
)


@pytest.fixture(params=[1, 7, TILE, 3 * TILE + 5])
def size(request: pytest.FixtureRequest) -> int:
    return request.param


def test_inner_products_and_scaled_sums(size: int) -> None:
    first, second = np.random.default_rng(0).normal(size=(2, size))
    np.testing.assert_allclose(inner(first, second), first @ second, rtol=1e-11, atol=1e-11)
    target = np.empty(size)
    add_scaled(first, -0.3, second, target)
    np.testing.assert_allclose(target, first - 0.3 * second, rtol=1e-13, atol=1e-15)


def test_a_walk_of_two_steps_is_measured_and_stretched(size: int) -> None:
    start, first, second = np.random.default_rng(4).normal(size=(3, size))
    step, bend = first - start, second - 2 * first + start
    np.testing.assert_allclose(squared_lengths(start, first, second), [step @ step, bend @ bend], rtol=1e-11)
    end, same = start.copy(), start.copy()
    stretch_steps(end, first, second, 1.7)
    np.testing.assert_allclose(end, start + 2 * 1.7 * step + 1.7**2 * bend, rtol=1e-12, atol=1e-12)
    # A stretch of one is the second step itself.
    stretch_steps(same, first, second, 1.0)
    np.testing.assert_allclose(same, second, rtol=1e-12, atol=1e-12)


def test_the_distance_between_square_roots(size: int) -> None:
    first, second = np.random.default_rng(5).random((2, size))
    first[0] = 0.0
    expected = np.square(np.sqrt(first) - np.sqrt(second)).sum()
    assert squared_root_distance(first, second) == pytest.approx(expected, rel=1e-12)


def test_a_step_is_recorded_with_its_products(size: int) -> None:
    rng = np.random.default_rng(1)
    steps, changes = rng.normal(size=(2, 4, size))
    before, after, gradient_before, gradient_after = rng.normal(size=(4, size))
    products = record_step(steps, changes, 1, 3, before, after, gradient_before, gradient_after)
    np.testing.assert_array_equal(steps[1], after - before)
    np.testing.assert_array_equal(changes[1], gradient_after - gradient_before)
    s, y, g = steps[1], changes[1], gradient_after
    expected = [steps[:3] @ y, changes[:3] @ s, changes[:3] @ y, steps[:3] @ g, changes[:3] @ g]
    np.testing.assert_allclose(products, expected, rtol=1e-11, atol=1e-10)


def test_a_combination_of_the_history(size: int) -> None:
    rng = np.random.default_rng(2)
    steps, changes = rng.normal(size=(2, 4, size))
    gradient, target = rng.normal(size=(2, size))
    of_steps, of_changes = rng.normal(size=(2, 3))
    combine(steps, changes, of_steps, of_changes, gradient, 0.7, target)
    np.testing.assert_allclose(target, 0.7 * gradient + of_steps @ steps[:3] + of_changes @ changes[:3], atol=1e-12)


def test_the_same_bits_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = np.random.default_rng(3).normal(size=(2, 50 * TILE + 3))
    found = set()
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(long_vectors, "n_threads_for", lambda size, n=n_threads: n)
        found.add(inner(first, second))
    assert len(found) == 1
