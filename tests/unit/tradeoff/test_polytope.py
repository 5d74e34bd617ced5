"""Designs that fit."""

import numpy as np

from labelworth.tradeoff.polytope import Polytope


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
