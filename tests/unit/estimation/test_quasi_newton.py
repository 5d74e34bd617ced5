from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

from labelworth.errors import DidNotConvergeWarning, InvalidInputError
from labelworth.estimation.quasi_newton import Objective, minimize


def objective_of(value, gradient) -> Objective:
    def objective(theta: np.ndarray, target: np.ndarray) -> float:
        target[:] = gradient(theta)
        return float(value(theta))

    return objective


def quadratic(matrix: np.ndarray, target: np.ndarray) -> Objective:
    return objective_of(lambda x: (x - target) @ matrix @ (x - target) / 2, lambda x: matrix @ (x - target))


@pytest.mark.parametrize("memory", [1, 3, 10])
def test_a_quadratic_is_minimized(memory: int) -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(30, 30))
    matrix, target = root @ root.T + np.eye(30), rng.normal(size=30)
    descent = minimize(quadratic(matrix, target), np.zeros(30), tolerance=1e-20, memory=memory)
    assert descent.converged
    np.testing.assert_allclose(descent.theta, target, atol=1e-6)
    assert (np.diff(descent.value_path) <= 0).all()
    assert len(descent.value_path) == descent.n_iterations + 1


def test_a_bent_valley_is_followed_to_its_end() -> None:
    descent = minimize(objective_of(rosen, rosen_der), np.full(12, -1.2), tolerance=1e-16)
    assert descent.converged
    np.testing.assert_allclose(descent.theta, np.ones(12), atol=1e-6)
    assert descent.n_evaluations < 400
    np.testing.assert_allclose(descent.gradient, rosen_der(descent.theta))


def test_steps_are_those_of_the_two_loops_written_out() -> None:
    """The first iterations against the textbook recursion on vectors, with the same steps along the directions."""
    rng = np.random.default_rng(1)
    root = rng.normal(size=(8, 8))
    matrix, target = root @ root.T / 8 + np.eye(8), rng.normal(size=8)
    seen: list[np.ndarray] = []

    def watched(theta: np.ndarray, gradient: np.ndarray) -> float:
        seen.append(theta.copy())
        return quadratic(matrix, target)(theta, gradient)

    with pytest.warns(DidNotConvergeWarning):
        descent = minimize(watched, np.zeros(8), tolerance=0.0, max_iterations=5, memory=3)
    assert descent.n_evaluations == 6  # every first trial was accepted: the points seen are the points visited
    gradients = [matrix @ (point - target) for point in seen]
    steps = [after - before for before, after in pairwise(seen)]
    changes = [after - before for before, after in pairwise(gradients)]
    for last in range(1, 5):
        kept = range(max(0, last - 3), last)
        vector, alphas = gradients[last].copy(), {}
        for place in reversed(kept):
            alphas[place] = steps[place] @ vector / (steps[place] @ changes[place])
            vector -= alphas[place] * changes[place]
        vector *= steps[last - 1] @ changes[last - 1] / (changes[last - 1] @ changes[last - 1])
        for place in kept:
            beta = changes[place] @ vector / (steps[place] @ changes[place])
            vector += (alphas[place] - beta) * steps[place]
        np.testing.assert_allclose(steps[last], -vector, atol=1e-12)


def test_starting_at_the_minimum_ends_there() -> None:
    descent = minimize(quadratic(np.eye(3), np.zeros(3)), np.zeros(3), tolerance=1e-9)
    assert descent.converged
    assert descent.n_iterations == 0


def test_running_out_of_iterations_is_told() -> None:
    with pytest.warns(DidNotConvergeWarning, match="after 3 iterations"):
        descent = minimize(objective_of(rosen, rosen_der), np.full(12, -1.2), tolerance=1e-16, max_iterations=3)
    assert not descent.converged
    assert descent.n_iterations == 3


def test_steps_into_the_void_are_taken_back() -> None:
    """A barrier: minus log is not a number beyond zero."""

    def barrier(theta: np.ndarray, gradient: np.ndarray) -> float:
        if (theta <= 0).any():
            gradient[:] = np.nan
            return np.nan
        gradient[:] = 1 - 0.01 / theta
        return float((theta - 0.01 * np.log(theta)).sum())

    descent = minimize(barrier, np.array([5.0, 0.5]), tolerance=1e-15)
    np.testing.assert_allclose(descent.theta, 0.01, rtol=1e-5)


def test_bad_arguments_are_refused() -> None:
    objective = quadratic(np.eye(2), np.zeros(2))
    for arguments in ({"tolerance": -1.0}, {"tolerance": np.nan}, {"memory": 0}, {"max_iterations": 0}):
        with pytest.raises(InvalidInputError, match="must"):
            minimize(objective, np.zeros(2), **{"tolerance": 1e-6, **arguments})
    with pytest.raises(InvalidInputError, match="where the descent begins"):
        minimize(objective_of(lambda x: np.inf, lambda x: x), np.zeros(2), tolerance=1e-6)
