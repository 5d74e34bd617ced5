import numpy as np
import pytest

from labelworth.linalg.symmetric import SingularMatrixError, cholesky, largest_eigenvalue


def positive_definite(d: int, seed: int) -> np.ndarray:
    root = np.random.default_rng(seed).standard_normal((d, 2 * d))
    return root @ root.T / d


def test_the_cholesky_factor_multiplies_back() -> None:
    matrix = positive_definite(7, seed=0)
    lower, _ = cholesky(matrix)
    np.testing.assert_allclose(lower @ lower.T, matrix, rtol=1e-12, atol=1e-14)
    assert np.all(np.triu(lower, 1) == 0)


def test_the_condition_does_not_notice_the_units_of_the_coordinates() -> None:
    matrix = positive_definite(5, seed=1)
    units = 10.0 ** np.arange(-10, 10, 4)
    _, plain = cholesky(matrix)
    _, rescaled = cholesky(matrix * units * units[:, None])
    assert rescaled == pytest.approx(plain, rel=1e-6)


def test_a_singular_matrix_is_refused_with_its_null_direction() -> None:
    root = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(SingularMatrixError) as caught:
        cholesky(root @ root.T)
    null = caught.value.null_vectors
    assert null.shape == (3, 1)
    np.testing.assert_allclose(np.abs(null[:, 0]), np.ones(3) / np.sqrt(3), rtol=1e-10)
    np.testing.assert_allclose(root.T @ null, 0, atol=1e-12)


def test_a_parameter_without_information_is_the_null_direction() -> None:
    with pytest.raises(SingularMatrixError) as caught:
        cholesky(np.diag([2.0, 0.0, 3.0]))
    np.testing.assert_allclose(np.abs(caught.value.null_vectors[:, 0]), [0, 1, 0], atol=1e-12)


def test_an_indefinite_matrix_is_refused() -> None:
    with pytest.raises(SingularMatrixError, match="not positive definite"):
        cholesky(np.diag([1.0, -1.0]))


@pytest.mark.parametrize("size", [3, 200])
def test_the_largest_eigenvalue_is_that_of_a_full_decomposition(size: int) -> None:
    matrix = positive_definite(size, seed=2)
    value, vector = largest_eigenvalue(lambda block: matrix @ block, size)
    assert value == pytest.approx(np.linalg.eigvalsh(matrix)[-1], rel=1e-12)
    np.testing.assert_allclose(matrix @ vector, value * vector, rtol=1e-6, atol=1e-9 * value)


def test_equal_largest_eigenvalues_are_found() -> None:
    size = 150
    rotation, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((size, size)))
    values = np.linspace(0, 1, size)
    values[-4:] = 1.0
    matrix = (rotation * values) @ rotation.T
    value, _ = largest_eigenvalue(lambda block: matrix @ block, size)
    assert value == pytest.approx(1.0, rel=1e-12)
