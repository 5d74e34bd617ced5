"""Designs that fit, and the least of a convex function over them."""

import numpy as np
import pytest
import scipy.optimize

from labelworth.tradeoff.least_error import Objective, Polytope, least, least_step


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


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("rank", [None, 1])
def test_the_least_of_a_quadratic_is_proved_by_its_tangent(seed: int, rank: int | None) -> None:
    rng = np.random.default_rng(seed)
    n_arms = int(rng.integers(1, 7))
    polytope = Polytope(rng.uniform(0, 3, n_arms), 10.0, rng.uniform(2, 20))
    # Of full rank, or of arms in proportion to each other and one of no information.
    root = rng.standard_normal((n_arms, n_arms if rank is None else rank))
    if rank == 1:
        root[rng.integers(n_arms)] = 0.0
    scale = 10 ** rng.uniform(-12, 12)
    curvature, gradient = scale * root @ root.T / n_arms, scale * rng.standard_normal(n_arms)
    objective = Objective(
        lambda counts: float(gradient @ counts + counts @ curvature @ counts / 2),
        lambda counts: gradient + curvature @ counts,
        lambda value: scale,
    )
    counts = least(objective, polytope, polytope.shrunk(np.full(n_arms, 0.1)))
    assert objective.gap(counts, polytope) <= 1e-8 * scale
    np.testing.assert_allclose(polytope.shrunk(counts), counts, rtol=1e-15)


def test_where_the_value_is_infinite_nothing_is_found() -> None:
    polytope = Polytope(np.array([1.0, 1.0]), 10.0, 20.0)
    objective = Objective(
        lambda counts: float(1 / counts[0] + counts[1]) if counts[0] > 0 else np.inf,
        lambda counts: np.array([-1 / counts[0] ** 2, 1.0]),
        abs,
    )
    np.testing.assert_allclose(least(objective, polytope, np.array([1e-3, 5.0])), [10.0, 0.0], rtol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_the_shortest_step_into_a_polyhedron(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_arms, n_rows = int(rng.integers(1, 6)), int(rng.integers(1, 30))
    rows = rng.standard_normal((n_rows, n_arms))
    room = rows @ rng.standard_normal(n_arms) + rng.uniform(0, 0.5, n_rows)
    step = least_step(rows, room)
    assert (rows @ step <= room + 1e-9).all()
    # Shortest if and only if no linear program over the polyhedron sees a nearer point along the step itself.
    program = scipy.optimize.linprog(step, A_ub=rows, b_ub=room, bounds=(None, None))
    assert step @ step == pytest.approx(0.0 if (room >= 0).all() else program.fun, abs=1e-9)
