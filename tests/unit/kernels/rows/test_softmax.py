import numpy as np
import pytest

from labelworth.arrays import FloatArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.rows.softmax import exponentiate, normalize


@compiled()
def powers(values: FloatArray, shift: float) -> float:
    """Words of the machine can only be spoken in a kernel."""
    return exponentiate(values, 0, len(values), shift)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 40.0, 700.0])
def test_exponentials_are_exact_to_the_last_places(scale: float) -> None:
    numbers = scale * np.random.default_rng(0).uniform(-1, 1, size=400)
    values = numbers.copy()
    total = powers(values, 0.0)
    np.testing.assert_allclose(values, np.exp(numbers), rtol=5e-16)
    np.testing.assert_allclose(total, np.exp(numbers).sum(), rtol=1e-14)


def test_exponentials_at_the_ends_of_the_range() -> None:
    values = np.array([0.0, -0.0, -709.0, -np.inf])
    assert powers(values, 0.0) == pytest.approx(2.0, rel=1e-15)
    np.testing.assert_allclose(values, [1.0, 1.0, 0.0, 0.0], rtol=0, atol=1e-307)


@pytest.mark.parametrize("n_columns", [4, 8, 20, 52])
@pytest.mark.parametrize("spread", [0.1, 30.0, 1000.0])
def test_row_becomes_probabilities_times_the_weight(n_columns: int, spread: float) -> None:
    rng = np.random.default_rng(1)
    logs = spread * rng.standard_normal(3 * n_columns) - 5000.0
    logs[n_columns + 1] = -np.inf
    values, sums = logs.copy(), rng.random(n_columns + 1)
    before = sums.copy()
    log_total = normalize(values, n_columns, n_columns, 0.3, sums)

    row = logs[n_columns : 2 * n_columns]
    shares = np.exp(row - row.max())
    np.testing.assert_allclose(log_total, row.max() + np.log(shares.sum()), rtol=1e-14)
    expected = 0.3 * shares / shares.sum()
    np.testing.assert_allclose(values[n_columns : 2 * n_columns], expected, rtol=1e-13, atol=1e-307)
    np.testing.assert_allclose(sums[:n_columns], before[:n_columns] + expected, rtol=1e-13)
    # Nothing beside the row is touched.
    assert sums[n_columns] == before[n_columns]
    np.testing.assert_array_equal(values[:n_columns], logs[:n_columns])
    np.testing.assert_array_equal(values[2 * n_columns :], logs[2 * n_columns :])


def test_row_of_impossible_classes_becomes_zeros() -> None:
    values, sums = np.full(8, -np.inf), np.zeros(9)
    assert normalize(values, 0, 8, 1.0, sums) == -np.inf
    assert not values.any()
    assert not sums.any()
