"""The best of the steps that fit."""

import numpy as np
import pytest
import scipy.optimize

from labelworth.tradeoff.polytope import Polytope
from labelworth.tradeoff.quadratic import closest_point


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("rank", [None, 1, 0])
def test_the_step_is_the_minimum_of_the_quadratic(seed: int, rank: int | None) -> None:
    rng = np.random.default_rng(seed)
    n_arms = int(rng.integers(1, 7))
    polytope = Polytope(rng.uniform(0, 3, n_arms), 10.0, rng.uniform(2, 20))
    rows, limits = polytope.rows
    start = rng.dirichlet(np.ones(n_arms + 1))[:-1]
    start = polytope.shrunk(start * polytope.most) / polytope.most
    # Of full rank, of arms in proportion to each other and one of no information, and of no curvature at all.
    root = rng.standard_normal((n_arms, n_arms if rank is None else rank))
    if rank == 1:
        root[rng.integers(n_arms)] = 0.0
    curvature, gradient = root @ root.T * 10 ** rng.uniform(-3, 3), rng.standard_normal(n_arms)
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


def test_a_corner_where_many_limits_meet() -> None:
    # Five arms of no information and one of some, at the end of the money and of the pool at once.
    polytope = Polytope(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0]), 10.0, 10.0)
    rows, limits = polytope.rows
    start = np.full(6, 1 / 6)
    curvature, gradient = np.diag([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, -3.0, 0.0, 0.0, 0.0])
    step = closest_point(rows, limits, start, gradient, curvature)
    np.testing.assert_allclose(start + step, [0, 0, 1, 0, 0, 0], atol=1e-9)
