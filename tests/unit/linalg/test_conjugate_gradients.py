from itertools import pairwise

import numpy as np
import pytest

from labelworth.linalg.conjugate_gradients import LockstepConjugateGradients

RNG = np.random.default_rng(0)
ROOT = RNG.standard_normal((30, 30))
MATRIX = ROOT @ ROOT.T + np.eye(30)
NEAR = MATRIX + 0.1 * np.diag(RNG.random(30))
RIGHT = RNG.standard_normal((30, 4))


def run(n_steps: int, right=RIGHT) -> LockstepConjugateGradients:
    solver = LockstepConjugateGradients(
        lambda block: MATRIX @ block, lambda block: np.linalg.solve(NEAR, block), right.copy()
    )
    for _ in range(n_steps):
        solver.step()
    return solver


def test_solutions_and_forms_are_those_of_a_direct_solve() -> None:
    solver = run(12)
    np.testing.assert_allclose(solver.solutions, np.linalg.solve(MATRIX, RIGHT), rtol=1e-8, atol=1e-10)
    expected = np.einsum("ij,ij->j", RIGHT, np.linalg.solve(MATRIX, RIGHT))
    np.testing.assert_allclose(solver.forms, expected, rtol=1e-10)
    assert solver.remainders() < 1e-10
    np.testing.assert_allclose(solver.residuals, RIGHT - MATRIX @ solver.solutions, atol=1e-9)


def test_what_is_left_is_foreseen() -> None:
    expected = np.einsum("ij,ij->j", RIGHT, np.linalg.solve(MATRIX, RIGHT)).sum()
    for steps in range(2, 6):
        solver = run(steps)
        # Forms rise to what is expected; below it is rounding.
        left = max(1 - solver.forms.sum() / expected, 0.0)
        assert left / 20 < solver.remainders()[0] < 20 * left + 1e-14


def test_what_is_left_is_told_block_by_block() -> None:
    """A block of small forms counts as much as one of large ones."""
    scaled = run(3, RIGHT * np.array([1.0, 1.0, 1e-6, 1e-6])).remainders(2)
    np.testing.assert_allclose(scaled, run(3).remainders(2), rtol=1e-9)
    assert (run(1).remainders(2) == np.inf).all()
    assert run(3, np.zeros((30, 2))).remainders() == 0


def test_a_linear_map_of_the_solutions_comes_from_the_directions() -> None:
    mapped, found = RNG.standard_normal((7, 30)), []

    def product(block: np.ndarray) -> np.ndarray:
        found.append(mapped @ block)
        return MATRIX @ block

    solver = LockstepConjugateGradients(product, lambda block: np.linalg.solve(NEAR, block), RIGHT.copy())
    for _ in range(4):
        solver.step()
    np.testing.assert_allclose(solver.of_solutions(found), mapped @ solver.solutions, atol=1e-12)


def test_forms_rise_to_their_limit_from_below() -> None:
    expected = np.einsum("ij,ij->j", RIGHT, np.linalg.solve(MATRIX, RIGHT))
    forms = [run(steps).forms for steps in range(1, 6)]
    for earlier, later in pairwise(forms):
        assert (earlier <= later + 1e-12).all()
        assert (later <= expected * (1 + 1e-12)).all()


def test_the_rule_of_gauss_gives_log_determinants() -> None:
    """Averaged over all unit vectors times the root of the neighbor, the trace of the logarithm is exact."""
    lower = np.linalg.cholesky(NEAR)
    solver = run(30, lower @ np.eye(30))
    relative = np.linalg.slogdet(MATRIX)[1] - np.linalg.slogdet(NEAR)[1]
    assert solver.gauss().of(np.log).sum() == pytest.approx(relative, rel=1e-8)


def test_columns_that_have_ended_stay_ended() -> None:
    right = np.zeros((30, 2))
    right[:, 1] = RIGHT[:, 0]
    solver = run(60, right)
    assert not solver.solutions[:, 0].any()
    assert solver.forms[0] == 0
    np.testing.assert_allclose(MATRIX @ solver.solutions[:, 1], right[:, 1], rtol=1e-9, atol=1e-9)
    assert np.isfinite(solver.gauss().nodes).all()


def test_an_operator_that_is_not_positive_is_refused() -> None:
    solver = LockstepConjugateGradients(lambda block: -block, lambda block: block, RIGHT.copy())
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        solver.step()


def test_a_preconditioner_that_is_not_positive_is_refused() -> None:
    signs = np.where(np.arange(30) < 15, 1.0, -1.0)[:, None]
    solver = LockstepConjugateGradients(
        lambda block: MATRIX @ block, lambda block: signs * block, RIGHT * (signs > 0)
    )
    with pytest.raises(np.linalg.LinAlgError, match="preconditioner"):
        solver.step()


@pytest.mark.parametrize("seed", range(20))
def test_what_is_left_of_an_ended_column_may_have_any_sign(seed) -> None:
    """On a subspace, rounding leaves it: r' C^-1 r of a residual that is nothing but rounding may be negative."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((6, 6))
    matrix, onto = root @ root.T + np.eye(6), np.eye(6) - 1 / 6
    near = matrix + 0.01 * np.eye(6)
    right = onto @ rng.standard_normal((6, 3))
    solver = LockstepConjugateGradients(
        lambda block: onto @ (matrix @ (onto @ block)), lambda block: onto @ np.linalg.solve(near, block), right
    )
    for _ in range(12):
        solver.step()
    projected = onto @ matrix @ onto
    np.testing.assert_allclose(projected @ solver.solutions, right, atol=1e-8)
    np.testing.assert_allclose(
        solver.gauss().of(np.ones_like), np.einsum("ij,ij->j", right, onto @ np.linalg.solve(near, right))
    )


def test_without_a_preconditioner_solutions_are_those_of_a_direct_solve() -> None:
    solver = LockstepConjugateGradients(lambda block: MATRIX @ block, lambda block: block, RIGHT)
    for _ in range(60):
        solver.step()
    np.testing.assert_allclose(solver.solutions, np.linalg.solve(MATRIX, RIGHT), rtol=1e-7)
