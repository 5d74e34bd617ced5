import numpy as np
import pytest
from numba import njit

from labelworth.kernels.chains.algebra import WIDEST, gather_rows, spread_rows


@njit(cache=False)
def gather(target, weights, rows, n_rows, n_columns):
    gather_rows(target, 1, weights, 2, rows, 3, n_rows, n_columns)


@njit(cache=False)
def spread(rows, weights, values, n_rows, n_columns):
    spread_rows(rows, 3, weights, 2, values, 1, n_rows, n_columns)


@pytest.mark.parametrize("n_rows", [0, 4, 16])
@pytest.mark.parametrize("n_columns", range(4, WIDEST + 1, 4))
def test_rows_are_gathered_and_spread(n_columns: int, n_rows: int) -> None:
    rng = np.random.default_rng(n_columns)
    weights, rows = rng.standard_normal(2 + n_rows), rng.standard_normal(3 + n_rows * n_columns)
    target = rng.standard_normal(1 + n_columns)
    block = rows[3:].reshape(n_rows, n_columns)
    expected = target.copy()
    expected[1:] += weights[2:] @ block
    gather(target, weights, rows, n_rows, n_columns)
    np.testing.assert_allclose(target, expected, rtol=1e-12, atol=1e-12)
    changed = rows.copy()
    spread(changed, weights, target, n_rows, n_columns)
    np.testing.assert_allclose(
        changed[3:].reshape(n_rows, n_columns), block + np.outer(weights[2:], target[1:]), atol=1e-12
    )
    np.testing.assert_array_equal(changed[:3], rows[:3])
