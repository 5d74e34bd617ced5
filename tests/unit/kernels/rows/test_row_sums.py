import numpy as np
import pytest

from labelworth.arrays import AnyArray, FloatArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.rows.row_sums import NARROW, WIDEST, add_rows, gather_listed, scatter_listed


@compiled()
def run_add(
    target: FloatArray,
    table: FloatArray,
    stride: int,
    index: AnyArray,
    scale: AnyArray,
    first: int,
    last: int,
    n: int,
) -> None:
    """Words of the machine can only be spoken in a kernel."""
    add_rows(target, 1, table, 2, stride, index, scale, first, last, n)


@compiled()
def run_gather(
    packed: FloatArray, table: FloatArray, stride: int, index: AnyArray, scale: FloatArray, n: int
) -> None:
    gather_listed(packed, 1, table, 2, 2, stride, index, 1, len(index), 1.5, scale, 3, n)


@compiled()
def run_scatter(
    packed: FloatArray, table: FloatArray, stride: int, index: AnyArray, scale: FloatArray, n: int
) -> None:
    scatter_listed(packed, 1, table, 2, 2, stride, index, 1, len(index), 1.5, scale, 3, n)


@pytest.mark.parametrize("n_columns", range(4, WIDEST + 1, 4))
@pytest.mark.parametrize(("index_kind", "scale_kind"), [(np.int32, np.float64), (np.uint16, np.float32)])
def test_scaled_rows_are_added(n_columns: int, index_kind: type, scale_kind: type) -> None:
    rng = np.random.default_rng(0)
    stride = n_columns + 3
    table = rng.random(40 * stride + 2)
    index = rng.integers(0, 40, size=30).astype(index_kind)
    scale = rng.integers(1, 9, size=30).astype(scale_kind)
    target = rng.random(n_columns + 2)
    expected = target.copy()
    for place in range(3, 29):
        start = 2 + int(index[place]) * stride
        expected[1 : 1 + n_columns] += float(scale[place]) * table[start : start + n_columns]
    run_add(target, table, stride, index, scale, 3, 29, n_columns)
    np.testing.assert_allclose(target, expected, rtol=1e-13)


def test_no_rows_add_nothing() -> None:
    target = np.arange(6.0)
    run_add(target, np.ones(9), 4, np.zeros(3, dtype=np.int32), np.ones(3), 2, 2, 4)
    np.testing.assert_array_equal(target, np.arange(6.0))


@pytest.mark.parametrize("n_columns", range(1, NARROW + 1))
def test_listed_rows_are_gathered_and_scattered(n_columns: int) -> None:
    rng = np.random.default_rng(0)
    stride = n_columns + 2
    index = np.array([7, 4, 0, 9, 3], dtype=np.int32)
    packed, table, scale = rng.random(1 + 4 * stride), rng.random(2 + 10 * stride), rng.random(13)
    gathered, scattered = packed.copy(), table.copy()
    for place, number in enumerate(index[1:]):
        here, there = 1 + place * stride, 2 + number * stride
        factor = 1.5 * scale[3 + number]
        gathered[here : here + n_columns] += factor * table[there : there + n_columns]
        scattered[there : there + n_columns] += factor * packed[here : here + n_columns]
    ours = packed.copy()
    run_gather(ours, table, stride, index, scale, n_columns)
    np.testing.assert_allclose(ours, gathered, rtol=1e-14)
    ours = table.copy()
    run_scatter(packed, ours, stride, index, scale, n_columns)
    np.testing.assert_allclose(ours, scattered, rtol=1e-14)
