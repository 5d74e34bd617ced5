import numpy as np
import pytest

from labelworth.linalg.symmetric import Pencil, SingularMatrixError


def pair(d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first, second = rng.standard_normal((d, d + 3)), rng.standard_normal((d, d + 3))
    return first @ first.T, second @ second.T


@pytest.mark.parametrize("d", [1, 2, 9])
def test_both_matrices_become_diagonal(d: int) -> None:
    matrix, metric = pair(d, seed=d)
    pencil = Pencil.of(matrix, metric)
    vectors = pencil.vectors
    np.testing.assert_allclose(vectors.T @ metric @ vectors, np.eye(d), atol=1e-10)
    np.testing.assert_allclose(vectors.T @ matrix @ vectors, np.diag(pencil.values), atol=1e-10 * pencil.values.max())
    assert np.all(np.diff(pencil.values) >= 0)


def test_the_log_determinant_is_that_of_the_metric() -> None:
    matrix, metric = pair(6, seed=3)
    assert Pencil.of(matrix, metric).log_determinant == pytest.approx(np.linalg.slogdet(metric)[1], rel=1e-12)


def test_eigenvalues_survive_coordinates_of_very_different_units() -> None:
    matrix, metric = pair(6, seed=4)
    units = 10.0 ** np.array([-8.0, -4, 0, 2, 5, 9])
    rescaled = Pencil.of(matrix * units * units[:, None], metric * units * units[:, None])
    np.testing.assert_allclose(rescaled.values, Pencil.of(matrix, metric).values, rtol=1e-9)


def test_the_stated_tolerance_covers_the_rounding() -> None:
    matrix, metric = pair(8, seed=5)
    null = np.linalg.qr(np.random.default_rng(6).standard_normal((8, 3)))[0]
    projector = np.eye(8) - null @ null.T
    pencil = Pencil.of(projector @ matrix @ projector, metric)
    assert np.abs(pencil.values[:3]).max() <= pencil.tolerance * pencil.values[-1]
    assert pencil.values[3] > pencil.tolerance


def test_a_singular_metric_is_refused() -> None:
    with pytest.raises(SingularMatrixError):
        Pencil.of(np.eye(2), np.ones((2, 2)))
