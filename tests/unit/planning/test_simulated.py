"""Forecasts as accuracies: one arm is its own curve, and what is held counts as what would do as much."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import multivariate_normal

from labelworth.planning.simulated import ForecastLine, SimulatedAccuracy, slope_errors
from labelworth.simulation.basis import ForecastBasis, Points, Simulated
from labelworth.simulation.calibration import TAILS, TUNED
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


def test_errors_of_the_slope_are_those_of_level_and_tilt_given_the_points() -> None:
    """One source of labels: g(y) = f + a + b log(L / r); the slope over a doubling varies as b does, and by drift."""
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
    constants, simulated = TUNED["error"], 0.05**2
    smoothed = (100 * means + 0.5) / 101
    scale = 1 / (smoothed * (1 - smoothed))
    total = (noise + np.eye(3) * (0.5 / 100) ** 2) * np.outer(scale, scale) + constants.misfit_sd**2 * np.eye(3)
    shares = np.array([0.0, 0.0, np.log(80 / 50) / np.log(2)])
    total += np.diag(simulated * ((1 - shares) ** 2 + shares**2))
    rows = np.stack([np.ones(3), np.log(at / 100)], axis=1)
    residual = logit(smoothed) + 0.2 + 0.3 * np.log(at / 25) - constants.tilt_mean * rows[:, 1]
    evidence, tilts, variances = [], [], []
    for factor, chance in TAILS.items():
        prior = np.diag([factor * constants.level_sd, factor * constants.tilt_sd]) ** 2
        posterior = np.linalg.inv(np.linalg.inv(prior) + rows.T @ np.linalg.inv(total) @ rows)
        tilts.append((posterior @ rows.T @ np.linalg.inv(total) @ residual)[1])
        drift = (factor * constants.drift_sd) ** 2 / np.log(2)
        variances.append(posterior[1, 1] + 2 * simulated / np.log(2) ** 2 + drift)
        spread = multivariate_normal(np.zeros(3), rows @ prior @ rows.T + total)
        evidence.append(chance * spread.pdf(residual))
    weights = np.array(evidence) / sum(evidence)
    center = weights @ tilts
    variance = weights @ (np.array(variances) + (np.array(tilts) - center) ** 2)
    np.testing.assert_allclose(found, np.sqrt(variance) * values * (1 - values) / sizes, rtol=1e-9)
