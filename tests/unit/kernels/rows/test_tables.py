import numpy as np
import pytest

from labelworth.kernels.rows import tables
from labelworth.kernels.rows.tables import (
    aligned_zeros,
    collect_table,
    logarithms,
    padded_width,
    smoothed_shares,
    spread_logarithms,
    sum_of_logarithms,
)


@pytest.mark.parametrize(("n_classes", "width"), [(1, 4), (4, 4), (5, 8), (50, 52)])
def test_rows_are_padded_to_whole_vectors(n_classes: int, width: int) -> None:
    assert padded_width(n_classes) == width


@pytest.mark.parametrize("size", [1, 1000, 10**6])
def test_memory_begins_at_a_cache_line(size: int) -> None:
    zeros = aligned_zeros(size)
    assert zeros.shape == (size,)
    assert zeros.ctypes.data % 64 == 0
    assert not zeros.any()


@pytest.mark.parametrize(("n_classes", "n_words"), [(1, 1), (3, 70), (7, 129)])
def test_spread_logarithms_and_collected_tables(n_classes: int, n_words: int) -> None:
    table = np.random.default_rng(0).random((n_classes, n_words))
    width = padded_width(n_classes)
    padded = aligned_zeros(n_words * width)
    for first in range(0, n_words, 50):
        spread_logarithms(table, padded, width, first, min(first + 50, n_words))
    np.testing.assert_allclose(padded.reshape(n_words, width)[:, :n_classes], np.log(table.T), rtol=5e-16)
    back = np.full(table.shape, np.nan)
    collect_table(padded, back, width, 0, n_words)
    np.testing.assert_allclose(back, np.log(table), rtol=5e-16)


@pytest.mark.parametrize("shape", [(0,), (3, 5), (2, 2000)])
def test_logarithms_equal_those_of_numpy(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).random(shape) ** 3
    np.testing.assert_allclose(logarithms(values), np.log(values), rtol=5e-16)


def test_logarithms_of_zero_and_of_the_smallest_numbers() -> None:
    values = np.array([[0.0, 5e-324, 1e-310], [1.0, 0.25, 1e-308]])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(logarithms(values), np.log(values), rtol=5e-16)


@pytest.mark.parametrize("size", [1, 64, 1000])
def test_sum_of_logarithms(size: int) -> None:
    values = np.random.default_rng(0).random(size)
    assert sum_of_logarithms(values) == pytest.approx(np.log(values).sum(), rel=1e-13)
    values[0] = 0.0
    assert sum_of_logarithms(values) == -np.inf


@pytest.mark.parametrize("shape", [(1, 1), (3, 70), (1100, 65), (2, 5, 7)])
def test_sum_of_logarithms_of_columns_that_count_more_than_once(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    # From subnormal numbers to large ones: products alone would leave what doubles hold.
    values = 10.0 ** rng.uniform(-320, 300, size=shape)
    times = rng.integers(1, 9, size=int(np.prod(shape[1:]))).astype(float)
    columns = np.log(values).reshape(shape[0], -1).sum(axis=0)
    assert sum_of_logarithms(values, times) == pytest.approx(columns @ times, rel=1e-12)
    values[0, 0] = 0.0
    assert sum_of_logarithms(values, times) == -np.inf


@pytest.mark.parametrize("smoothing", [0.0, 0.25, 1e-300])
@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (2, 3000)])
def test_shares_equal_their_definition(shape: tuple[int, int], smoothing: float) -> None:
    counts = np.random.default_rng(0).poisson(1.0, size=shape) + np.eye(*shape)
    expected = (counts + smoothing) / (counts + smoothing).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(smoothed_shares(counts, smoothing), expected, rtol=1e-14)


def test_smoothing_falls_on_columns_as_often_as_said() -> None:
    counts, times = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([1.0, 3.0])
    np.testing.assert_allclose(smoothed_shares(counts, 0.5, times), [[0.5, 0.5], [0.25, 0.75]])
    np.testing.assert_allclose(smoothed_shares(counts, 0.0, times), [[1.0, 0.0], [0.25, 0.75]])


def test_row_of_zeros_is_shared_evenly() -> None:
    np.testing.assert_array_equal(
        smoothed_shares(np.array([[0.0, 0.0], [1.0, 3.0]]), 0.0), [[0.5, 0.5], [0.25, 0.75]]
    )


def test_shares_do_not_depend_on_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(0).random((3, 17_000))
    results = []
    for n_threads in (1, 3):
        monkeypatch.setattr(tables, "n_threads_for", lambda size, n_threads=n_threads: n_threads)
        results.append(smoothed_shares(counts, 0.1))
    np.testing.assert_array_equal(*results)
