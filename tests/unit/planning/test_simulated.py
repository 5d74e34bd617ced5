"""Forecasts as accuracies: one arm is its own curve, and what is held counts as what would do as much."""

import numpy as np
import pytest

from labelworth.planning.simulated import ForecastLine, SimulatedAccuracy

SIZES = np.array([10.0, 20.0, 40.0, 80.0, 160.0])


def line(level: float = 0.0) -> ForecastLine:
    return ForecastLine(SIZES, level + 1 / np.log(SIZES))


def accuracy() -> SimulatedAccuracy:
    """The second rule is half as good per sequence: it needs twice as many for the same error."""
    whole, half = line(), ForecastLine(2 * SIZES, 1 / np.log(SIZES))
    return SimulatedAccuracy(
        ("everything", "window:2"),
        (whole, half),
        np.array([4.0, 2.0]),
        whole.at(20.0),
        np.array([20.0, 40.0]),
        "error",
        "",
    )


def test_a_line_passes_through_what_it_was_asked_at() -> None:
    assert [line().at(size) for size in SIZES] == pytest.approx((1 / np.log(SIZES)).tolist())
    assert line().at(1000.0) == line().at(160.0)


def test_sizes_and_values_are_inverses_at_the_knots() -> None:
    assert [line().size_of(value) for value in 1 / np.log(SIZES)] == pytest.approx(SIZES.tolist())
    assert line().size_of(0.0) == pytest.approx(160.0)


def test_one_arm_is_its_own_curve() -> None:
    found = accuracy()
    assert found.error(np.zeros(2)) == pytest.approx(1 / np.log(20))
    assert found.error(np.array([20.0, 0.0])) == pytest.approx(1 / np.log(40))
    assert found.error(np.array([0.0, 40.0])) == pytest.approx(1 / np.log(40))


def test_arms_add_up_in_what_would_do_as_much() -> None:
    found = accuracy()
    # 20 held and 20 whole are 40; those are worth 80 of the other rule, and 80 more make 160: as good as 80 whole.
    assert found.error(np.array([20.0, 80.0])) == pytest.approx(1 / np.log(80), rel=1e-6)
