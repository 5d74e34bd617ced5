"""Extrapolation jumps to the end of a geometric walk, and becomes careful after a refusal."""

import numpy as np

from labelworth.estimation.expectation_maximization import SquaredExtrapolation


def test_a_walk_with_one_rate_ends_in_one_leap() -> None:
    end, offset, rate = np.array([3.0, -1.0]), np.array([1.0, 2.0]), 0.7
    walk = [end + rate**step * offset for step in range(3)]
    assert SquaredExtrapolation(longest=100.0).step(*walk)
    np.testing.assert_allclose(walk[0], end, rtol=1e-12)


def test_a_straight_walk_has_no_end_to_leap_to() -> None:
    walk = [np.array([0.0, 0.0]), np.array([1.0, 1.0]), np.array([2.0, 2.0])]
    assert not SquaredExtrapolation().step(*walk)


def test_a_walk_that_has_arrived_needs_no_leap() -> None:
    walk = [np.array([1.0]), np.array([0.0]), np.array([0.4])]  # turned back: stretch below 1
    assert not SquaredExtrapolation().step(*walk)


def test_the_longest_leap_is_kept_within_bounds_that_follow_success() -> None:
    end, offset, rate = np.zeros(1), np.ones(1), 0.99
    walk = [end + rate**step * offset for step in range(3)]
    extrapolation = SquaredExtrapolation()
    leap = walk[0].copy()
    assert extrapolation.step(leap, *walk[1:])
    assert abs(leap[0]) > 0.5  # bounded: the end itself would take a stretch of 100
    extrapolation.accepted()
    assert extrapolation.longest == 16.0
    extrapolation.step(*walk)
    extrapolation.refused()
    assert extrapolation.longest == 4.0
    extrapolation.refused()
    assert extrapolation.longest == 4.0
