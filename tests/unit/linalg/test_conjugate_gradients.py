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
    assert solver.remainder() < 1e-10


def test_what_is_left_is_foreseen() -> None:
    expected = np.einsum("ij,ij->j", RIGHT, np.linalg.solve(MATRIX, RIGHT)).sum()
    for steps in range(2, 6):
        solver = run(steps)
        left = 1 - solver.forms.sum() / expected
        assert left / 20 < solver.remainder() < 20 * left + 1e-14


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
