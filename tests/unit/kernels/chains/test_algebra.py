import numpy as np
import pytest
from numba import njit

from labelworth.kernels.chains.algebra import WIDEST, add_outer_rows, backward_step, forward_step, rows_at_once

WIDTHS = list(range(4, WIDEST + 1, 4))


@njit(cache=False)
def step_forth(target, factors, matrix, table, row, made, width):
    return forward_step(target, width, factors, 0, matrix, table, width, row, made, 0.5, width, width)


@njit(cache=False)
def step_back(marginals, forwards, table, row, made, ratios, matrix, beta, width):
    backward_step(
        marginals, forwards, width, table, 0, row, made, 0.5, 3.0, ratios, width, matrix, beta, width, width
    )


@njit(cache=False)
def add_all(sums, left, right, n_rows, width):
    for label in range(0, width, rows_at_once(width)):
        add_outer_rows(sums, label, left, width, right, n_rows, width)


@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_step_forth(width: int, made: bool) -> None:
    rng = np.random.default_rng(width)
    factors, row, table = rng.random(width), rng.random(width), rng.random(2 * width)
    matrix, target = rng.random((width, width)), np.zeros(2 * width)
    total = step_forth(target, factors, matrix.ravel(), table, row, made, width)
    expected = 0.5 * (factors @ matrix) * (row if made else table[width:])
    np.testing.assert_allclose(total, expected.sum(), rtol=1e-13)
    np.testing.assert_allclose(target[width:], expected, rtol=1e-13)
    assert (target[:width] == 0).all()


@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_step_back(width: int, made: bool) -> None:
    rng = np.random.default_rng(width)
    forwards = rng.random(2 * width)
    forwards[width + 1] = 0.0
    row, table, beta = rng.random(width), rng.random(width), rng.random(width)
    beta[1] = np.inf
    before, matrix = beta.copy(), rng.random((width, width))
    marginals, ratios = np.zeros(2 * width), np.zeros(2 * width)
    beta[1] = before[1] = 1e300
    row[1] = table[1] = 1e300
    step_back(marginals, forwards, table, row, made, ratios, matrix.ravel(), beta, width)
    with np.errstate(over="ignore"):
        quotients = before * (row if made else table) * 0.5
    quotients[1] = 0.0  # where a label cannot be, its ratio is not asked for, though it overflows
    np.testing.assert_allclose(marginals[width:], 3 * forwards[width:] * before, rtol=1e-14)
    np.testing.assert_allclose(ratios[width:], quotients, rtol=1e-14)
    np.testing.assert_allclose(beta, quotients @ matrix, rtol=1e-13)


@pytest.mark.parametrize("n_rows", [0, 1, 7])
@pytest.mark.parametrize("width", WIDTHS)
def test_outer_products(width: int, n_rows: int) -> None:
    rng = np.random.default_rng(width)
    left, right, sums = rng.random((n_rows + 1, width)), rng.random((n_rows, width)), rng.random((width, width))
    expected = sums + left[1:].T @ right
    add_all(sums.reshape(-1), left.ravel(), right.ravel(), n_rows, width)
    np.testing.assert_allclose(sums, expected, rtol=1e-13)
