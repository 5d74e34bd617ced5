import numpy as np
import pytest

from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.linalg.low_rank import DiagonalPlusLowRank, compress, constrained_inverse


def random_matrix(seed: int, size: int = 30, rank: int = 4, scale: float = 0.1) -> DiagonalPlusLowRank:
    rng = np.random.default_rng(seed)
    core = rng.standard_normal((rank, rank)) * scale
    return DiagonalPlusLowRank(1 + rng.random(size), rng.standard_normal((size, rank)) / np.sqrt(size), core + core.T)


def unit_vector(seed: int, size: int = 30) -> np.ndarray:
    vector = np.random.default_rng(seed).standard_normal(size)
    return vector / np.linalg.norm(vector)


def test_product_trace_and_diagonal_are_those_of_the_dense_matrix(seed: int) -> None:
    first, second = random_matrix(seed), random_matrix(seed + 1, rank=3)
    vectors = np.random.default_rng(seed).standard_normal((30, 2))

    np.testing.assert_allclose(first.times(vectors), first.dense() @ vectors, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(first.times(vectors[:, 0]), first.dense() @ vectors[:, 0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(first.entries_on_diagonal(), np.diag(first.dense()), rtol=1e-12)
    np.testing.assert_allclose(first.trace_with(second), np.trace(first.dense() @ second.dense()), rtol=1e-12)
    np.testing.assert_allclose(first.scaled(-2.0).dense(), -2 * first.dense(), rtol=1e-12)


def test_sandwich_is_that_of_the_dense_matrices(seed: int) -> None:
    outer, inner = random_matrix(seed), random_matrix(seed + 1, rank=3)

    np.testing.assert_allclose(
        outer.around(inner).dense(), outer.dense() @ inner.dense() @ outer.dense(), rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("size", [3, 40, 5000])
def test_compression_keeps_the_matrix_and_finds_its_rank(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    basis = rng.standard_normal((size, 3))
    factor = basis @ rng.standard_normal((3, 20))
    core = rng.standard_normal((20, 20))
    core = core + core.T

    small_factor, small_core = compress(factor, core, tolerance=1e-12)

    probe = rng.standard_normal((size, 2))
    expected = factor @ (core @ (factor.T @ probe))
    np.testing.assert_allclose(
        small_factor @ (small_core @ (small_factor.T @ probe)),
        expected,
        rtol=1e-9,
        atol=1e-11 * np.abs(expected).max(),
    )
    assert small_factor.shape == (size, 3)
    np.testing.assert_allclose(small_factor.T @ small_factor, np.eye(3), atol=1e-12)


def test_compression_of_nothing_is_nothing() -> None:
    factor, core = compress(np.empty((5, 0)), np.empty((0, 0)))

    assert factor.shape == (5, 0)
    assert core.shape == (0, 0)


def test_inverse_is_the_inverse_on_the_plane_and_zero_along_the_normal(seed: int) -> None:
    matrix, normal = random_matrix(seed), unit_vector(seed)

    solved = constrained_inverse(matrix, normal)

    plane = np.linalg.svd(normal[None, :])[2][1:].T
    inside = plane.T @ matrix.dense() @ plane
    np.testing.assert_allclose(
        solved.inverse.dense(), plane @ np.linalg.inv(inside) @ plane.T, rtol=1e-10, atol=1e-13
    )
    np.testing.assert_allclose(solved.log_determinant, np.linalg.slogdet(inside)[1], rtol=1e-11)


def test_inverse_exists_on_the_plane_where_the_whole_matrix_is_singular() -> None:
    normal = unit_vector(3)
    # The identity minus the projector on the normal: singular as a whole, the identity on the plane.
    matrix = DiagonalPlusLowRank(np.ones(30), normal[:, None], np.array([[-1.0]]))

    solved = constrained_inverse(matrix, normal)

    np.testing.assert_allclose(solved.inverse.dense(), np.eye(30) - np.outer(normal, normal), atol=1e-14)
    np.testing.assert_allclose(solved.log_determinant, 0.0, atol=1e-13)


def test_matrix_that_is_not_positive_is_refused() -> None:
    direction = np.zeros((30, 1))
    direction[0] = 1.0
    normal = np.zeros(30)
    normal[1] = 1.0

    with pytest.raises(NotIdentifiableError, match="not positive definite"):
        constrained_inverse(DiagonalPlusLowRank(np.ones(30), direction, np.array([[-1.5]])), normal)
    with pytest.raises(NotIdentifiableError, match="singular"):
        constrained_inverse(DiagonalPlusLowRank(np.zeros(30), direction, np.array([[1.0]])), normal)


def test_shapes_that_disagree_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="core"):
        DiagonalPlusLowRank(np.ones(3), np.ones((3, 2)), np.ones((1, 1)))
    with pytest.raises(InvalidInputError, match="normal"):
        constrained_inverse(random_matrix(0), np.ones(3))
