"""Forecasts as accuracies: one arm is its own curve, and what is held counts as what would do as much."""

import numpy as np
import pytest
from scipy.special import expit, logit

from labelworth.planning.simulated import ForecastLine, SimulatedAccuracy, simulated_surface, slope_errors
from labelworth.simulation.basis import Comparison, ForecastBasis, Points, Simulated
from labelworth.simulation.calibration import TUNED, calibrate
from labelworth.simulation.forecast import forecast
from labelworth.simulation.learner import MODES, Mode
from labelworth.simulation.pool_use import SHARES, PoolUse
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
        "sequences",
        100,
        1000,
        {("labels-only", "error"): Points(at, means, noise)},
        {("labels-only", "labels-only", WHOLE, "error"): Simulated(nodes, curves)},
        {},
        {"labels-only": 0.37},
        {("labels-only", "error"): 0.0},
        np.array([50, 50]),
    )
    sizes, values = np.array([100, 200]), np.array([0.35, 0.3])
    found = slope_errors(basis, "labels-only", "error", sizes, WHOLE, values)
    calibrated = calibrate(basis, "labels-only", "error", np.array([100, 200, 400]), TUNED["sequences"]["error"])
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


NODES, AT, N_UNITS = np.array([12, 50, 200, 800]), np.array([12, 25, 50, 80]), 2000


def curve(sizes: np.ndarray, mode: Mode) -> np.ndarray:
    return np.asarray(expit(-0.5 - 0.4 * np.log(sizes / 12) - (0.8 if mode == "semi-supervised" else 0.0)))


@pytest.fixture(scope="module")
def basis() -> ForecastBasis:
    measures = ("error", "log_loss")
    points = {
        (mode, measure): Points(AT, curve(AT, mode), 1e-4 * np.eye(4)) for mode in MODES for measure in measures
    }
    simulated = {
        (source, mode, WHOLE, measure): Simulated(NODES, np.tile(curve(NODES, mode), (2, 1)))
        for source in MODES
        for mode in MODES
        for measure in measures
    }
    errors = {"labels-only": 0.3, "semi-supervised": 0.3}
    comparisons = {"log_loss": Comparison(-0.1, 0.05)}
    none = {(source, measure): 0.0 for source in MODES for measure in measures}
    return ForecastBasis("sequences", 100, N_UNITS, points, simulated, comparisons, errors, none, np.array([50, 50]))


def use(*fractions: float) -> PoolUse:
    whole = np.full((2, len(NODES)), 0.1)
    gains = whole[:, :, None] * np.array(fractions)
    return PoolUse("semi-supervised", NODES, {"error": gains}, {"error": whole})


def error_at(basis: ForecastBasis, labels: float, mode: Mode) -> float:
    return float(forecast(basis, mode, "error", [round(labels)]).values[0])


def edge_at(basis: ForecastBasis, labels: float, mode: Mode, own: Mode) -> float:
    """The forecast, by hand: tilted where it is not the plan's own, from 100 labels on, to meet that at the end."""
    error = error_at(basis, labels, mode)
    gap = logit(error_at(basis, N_UNITS, own)) - logit(error_at(basis, N_UNITS, mode))
    share = max(np.log(labels / 100), 0) / np.log(N_UNITS / 100)
    return float(expit(logit(error) + share * gap))


@pytest.mark.parametrize("fractions", [(0.1, 0.9), (2.0, -1.0)])
@pytest.mark.parametrize("own", MODES)
def test_edges_are_the_forecasts_whatever_lies_between(
    basis: ForecastBasis, own: Mode, fractions: tuple[float, float]
) -> None:
    found = simulated_surface(basis, use(*fractions), "error", own)
    assert found.source == "simulated"
    for size, error in list(zip(found.n_samples, found.error[-1], strict=True))[::4]:
        assert error == pytest.approx(edge_at(basis, size, "labels-only", own), rel=0.01)
    for fraction, row in list(zip(found.labeled_fractions, found.error, strict=True))[:-1:4]:
        assert row[-1] == pytest.approx(edge_at(basis, fraction * N_UNITS, "semi-supervised", own), rel=0.01)


@pytest.mark.parametrize("own", MODES)
def test_with_a_label_on_everything_the_plans_own_forecast_stands(basis: ForecastBasis, own: Mode) -> None:
    found = simulated_surface(basis, use(0.1, 0.9), "error", own)
    ends = {mode: error_at(basis, N_UNITS, mode) for mode in MODES}
    assert found.error[-1][-1] == pytest.approx(ends[own], rel=1e-9)
    # The two forecasts differ there, so it would have been another had the other stood.
    assert abs(ends["labels-only"] - ends["semi-supervised"]) > 0.01


def test_between_the_edges_it_goes_as_far_as_refits_do(basis: ForecastBasis) -> None:
    found = simulated_surface(basis, use(0.1, 0.9), "error", "semi-supervised")
    met = 0
    for fraction, row in zip(found.labeled_fractions, found.error, strict=True):
        for size, error in zip(found.n_samples, row, strict=True):
            labels = fraction * size
            share = np.log(size / labels) / np.log(N_UNITS / labels) if labels < N_UNITS - 1 else 0.0
            for at, expected in zip(SHARES, (0.1, 0.9), strict=True):
                if error is not None and abs(share - at) < 0.01:
                    ends = [edge_at(basis, labels, mode, "semi-supervised") for mode in MODES]
                    assert (error - ends[0]) / (ends[1] - ends[0]) == pytest.approx(expected, abs=0.06)
                    met += 1
    assert met >= 5


def test_fewer_labels_than_were_learned_from_are_not_known(basis: ForecastBasis) -> None:
    found = simulated_surface(basis, use(0.3, 0.7), "error", "labels-only")
    for fraction, row in zip(found.labeled_fractions, found.error, strict=True):
        for size, error in zip(found.n_samples, row, strict=True):
            assert (error is None) == (fraction * size < AT[0])
    assert "forecast from labels alone" in found.words
