"""Forecasts as accuracies: one arm is its own curve, and what is held counts as what would do as much."""

import numpy as np
import pytest
from scipy.special import expit

from labelworth.planning.simulated.accuracy import ForecastLine, SimulatedAccuracy, slope_errors
from labelworth.simulation.basis import ForecastBasis, Points, Simulated
from labelworth.simulation.calibration import calibrate
from labelworth.simulation.constants import TUNED
from labelworth.simulation.simulator import WHOLE

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


def test_errors_of_the_slope_are_those_of_a_doubling() -> None:
    nodes, at = np.array([25, 50, 100, 200, 400]), np.array([25, 50, 80])
    curves = expit(np.stack([-0.2 - 0.3 * np.log(nodes / 25) + shift for shift in (0.05, -0.05)]))
    means, noise = np.array([0.44, 0.41, 0.37]), 1e-3 * (np.eye(3) + 1)
    basis = ForecastBasis(
        100,
        1000,
        {("labels-only", "error"): Points(at, means, noise)},
        {("labels-only", "labels-only", WHOLE, "error"): Simulated(nodes, curves)},
        {},
    )
    sizes, values = np.array([100, 200]), np.array([0.35, 0.3])
    found = slope_errors(basis, "labels-only", "error", sizes, WHOLE, values)
    calibrated = calibrate(basis, "labels-only", "error", np.array([100, 200, 400]), TUNED["error"])
    for place, (size, value) in enumerate(zip(sizes, values, strict=True)):
        own = np.stack([mean[[place, place + 1]] for mean in calibrated.means])
        rises = np.diff(own, axis=1)[:, 0]
        spreads = [
            one[place, place] + one[place + 1, place + 1] - 2 * one[place, place + 1]
            for one in calibrated.covariances
        ]
        center = calibrated.weights @ rises
        variance = calibrated.weights @ (np.array(spreads) + (rises - center) ** 2)
        expected = np.sqrt(variance) / np.log(2) * value * (1 - value) / size
        assert found[place] == pytest.approx(expected, rel=1e-9)
