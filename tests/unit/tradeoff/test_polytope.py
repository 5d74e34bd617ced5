"""Steps that fit, and the best of them."""

import numpy as np
import pytest
import scipy.optimize

from labelworth.tradeoff.polytope import Polytope, closest_point


def test_the_most_of_each_arm_alone() -> None:
    polytope = Polytope(np.array([2.0, 0.0, 0.1]), 10.0, 20.0)
    np.testing.assert_array_equal(polytope.most, [5.0, 20.0, 20.0])
    np.testing.assert_array_equal(Polytope(np.array([2.0, 0.0]), 0.0, 20.0).most, [0.0, 20.0])


def test_what_is_shrunk_fits() -> None:
    polytope = Polytope(np.array([2.0, 0.0]), 10.0, 20.0)
    for counts in ([6.0, 1.0], [1.0, 50.0], [-1e-9, 4.0], [30.0, 30.0]):
        fitting = polytope.shrunk(np.array(counts))
        assert fitting.min() >= 0
        assert polytope.prices @ fitting <= 10.0 * (1 + 1e-15)
        assert fitting.sum() <= 20.0 * (1 + 1e-15)
    inside = np.array([1.0, 2.0])
    np.testing.assert_array_equal(polytope.shrunk(inside), inside)


@pytest.mark.parametrize("seed", range(40))
def test_the_step_is_the_minimum_of_the_quadratic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_arms = int(rng.integers(1, 7))
    polytope = Polytope(rng.uniform(0, 3, n_arms), 10.0, rng.uniform(2, 20))
    rows, limits = polytope.rows
    start = rng.dirichlet(np.ones(n_arms + 1))[:-1]
    start = polytope.shrunk(start * polytope.most) / polytope.most
    root = rng.standard_normal((n_arms, n_arms))
    curvature, gradient = (
        root @ root.T * 10 ** rng.uniform(-3, 3) + 1e-3 * np.eye(n_arms),
        rng.standard_normal(n_arms),
    )
    step = closest_point(rows, limits, start, gradient, curvature)
    assert (rows @ (start + step) <= limits + 1e-10).all()
    # Optimal if and only if no linear program over the polytope sees a way down.
    slope = gradient + curvature @ step
    program = scipy.optimize.linprog(slope, A_ub=rows, b_ub=limits, bounds=(None, None))
    assert slope @ (start + step) == pytest.approx(program.fun, abs=1e-7 * np.abs(gradient).max())


def test_a_negative_curvature_is_not_followed_out_of_the_polytope() -> None:
    polytope = Polytope(np.array([1.0, 1.0]), 10.0, 20.0)
    rows, limits = polytope.rows
    step = closest_point(
        rows, limits, np.array([0.2, 0.2]), np.array([-1.0, 0.5]), np.array([[1.0, 9.0], [9.0, -4.0]])
    )
    assert np.isfinite(step).all()
    assert (rows @ (np.array([0.2, 0.2]) + step) <= limits + 1e-9).all()
