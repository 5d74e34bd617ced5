import numpy as np
import pytest

from labelworth.linalg.lanczos import LockstepLanczos, Operator, column_products, largest_eigenvalue_bound, row_chunks


def inverse(nodes: np.ndarray) -> np.ndarray:
    return nodes / (1 - nodes)


def logarithm(nodes: np.ndarray) -> np.ndarray:
    return -np.log1p(-nodes)


def spectrum(seed: int, size: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues in [0, 0.99), most of them small, and orthonormal eigenvectors."""
    rng = np.random.default_rng(seed)
    return 0.99 * rng.random(size) ** 4, np.linalg.qr(rng.standard_normal((size, size)))[0]


def operator(values: np.ndarray, vectors: np.ndarray) -> Operator:
    matrix = (vectors * values) @ vectors.T

    def product(block: np.ndarray, out: np.ndarray) -> None:
        np.matmul(matrix, block, out=out)

    return product


def signs(seed: int, size: int, n_starts: int) -> np.ndarray:
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=(size, n_starts))


def forms(function, values: np.ndarray, vectors: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """z' f(A) z by the full decomposition."""
    return function(values) @ np.square(vectors.T @ starts)


@pytest.mark.parametrize("function", [inverse, logarithm, np.square])
def test_gauss_rule_equals_the_full_decomposition_after_enough_steps(function, seed: int) -> None:
    values, vectors = spectrum(seed)
    starts = signs(seed, 120, 4)
    run = LockstepLanczos(operator(values, vectors), starts.copy())
    run.advance(60)

    np.testing.assert_allclose(run.gauss().of(function), forms(function, values, vectors, starts), rtol=1e-10)


@pytest.mark.parametrize("function", [inverse, logarithm])
@pytest.mark.parametrize("n_steps", [1, 2, 5, 10, 20])
def test_gauss_and_radau_rules_bracket_the_form_of_every_start(function, n_steps: int, seed: int) -> None:
    values, vectors = spectrum(seed)
    starts = signs(seed, 120, 8)
    run = LockstepLanczos(operator(values, vectors), starts.copy())
    run.advance(n_steps)

    exact = forms(function, values, vectors, starts)
    rounding = 1e-11 * exact
    assert (run.gauss().of(function) <= exact + rounding).all()
    assert (run.radau(values.max()).of(function) >= exact - rounding).all()


def test_a_prescribed_node_below_the_spectrum_does_not_bound_from_above(seed: int) -> None:
    values, vectors = spectrum(seed)
    starts = signs(seed, 120, 8)
    run = LockstepLanczos(operator(values, vectors), starts.copy())
    run.advance(5)

    exact = forms(inverse, values, vectors, starts)
    assert (run.radau(0.0).of(inverse) < exact).all()


def test_brackets_close_with_more_steps(seed: int) -> None:
    values, vectors = spectrum(seed)
    run = LockstepLanczos(operator(values, vectors), signs(seed, 120, 4))
    widths = []
    for _ in range(3):
        run.advance(8)
        widths.append(float((run.radau(values.max()).of(inverse) - run.gauss().of(inverse)).max()))

    assert widths[0] > 10 * widths[1] > 100 * widths[2]


def test_largest_eigenvalue_is_approached_from_below(seed: int) -> None:
    values, vectors = spectrum(seed)
    run = LockstepLanczos(operator(values, vectors), signs(seed, 120, 4))
    run.advance(10)
    early = run.largest()
    run.advance(80)

    assert early < run.largest() <= values.max() * (1 + 1e-12)
    np.testing.assert_allclose(run.largest(), values.max(), rtol=1e-10)


@pytest.mark.parametrize("n_steps", [3, 6, 12, 24])
def test_bound_lies_above_the_largest_eigenvalue_where_what_was_found_does_not(n_steps: int) -> None:
    size, n_starts = 200, 3
    found, bounds, largest = [], [], []
    for draw in range(20):
        values, vectors = spectrum(draw, size)
        run = LockstepLanczos(operator(values, vectors), signs(draw, size, n_starts))
        run.advance(n_steps)
        found.append(run.largest())
        bounds.append(largest_eigenvalue_bound(found[-1], size, n_steps, n_starts))
        largest.append(values.max())

    # With a failure rate of 1e-6 each, 20 draws fail with a probability of 2e-5.
    assert (np.array(bounds) >= largest).all()
    assert (np.array(found) < largest).all()
    assert np.isfinite(bounds).all() == (n_steps > 4)


def test_starts_that_span_a_small_space_end_early(seed: int) -> None:
    values, vectors = spectrum(seed, 30)
    starts = np.column_stack([vectors[:, :3].sum(axis=1), np.zeros(30), 2 * vectors[:, 5]])
    run = LockstepLanczos(operator(values, vectors), starts.copy())
    run.advance(12)

    expected = [inverse(values[:3]).sum(), 0.0, 4 * inverse(values[5])]
    np.testing.assert_allclose(run.gauss().of(inverse), expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(run.radau(values.max()).of(inverse), expected, rtol=1e-10, atol=1e-14)


def test_weights_add_up_to_the_squared_lengths(seed: int) -> None:
    values, vectors = spectrum(seed)
    starts = np.random.default_rng(seed).standard_normal((120, 3))
    run = LockstepLanczos(operator(values, vectors), starts.copy())
    run.advance(10)

    np.testing.assert_allclose(run.gauss().of(np.ones_like), np.square(starts).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(run.gauss().take(slice(1, 2)).of(np.ones_like), np.square(starts[:, 1]).sum())


def test_columns_are_multiplied_piece_by_piece(seed: int) -> None:
    block = np.random.default_rng(seed).standard_normal((70_000, 3))
    pieces = list(row_chunks(block))

    assert len(pieces) > 1
    assert sum(len(block[piece]) for piece in pieces) == len(block)
    np.testing.assert_allclose(column_products(block, 2 * block), 2 * np.square(block).sum(axis=0), rtol=1e-12)
