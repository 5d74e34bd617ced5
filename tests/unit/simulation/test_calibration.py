"""From curves and points to forecasts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from labelworth.simulation.basis import Comparison, ForecastBasis, Points, Simulated
from labelworth.simulation.calibration import (
    TUNED,
    Constants,
    calibrate,
    from_scale,
    interpolated,
    regression_of,
    source_share,
    to_scale,
)
from labelworth.simulation.learner import MODES
from labelworth.simulation.simulator import WHOLE

SIZES = np.array([12, 25, 50, 80])
NODES = np.array([12, 50, 200, 800])
ASKED = np.array([200, 400, 800])
CONSTANTS = Constants(0.4, -0.05, 0.1, 0.3, 0.1, 0.07, 1.5)


def curve(sizes: np.ndarray, source: str) -> np.ndarray:
    """Error rates that fall on the log-odds scale."""
    slope = {"labels-only": -0.3, "semi-supervised": -0.5}[source]
    return expit(0.4 + slope * np.log(sizes / 12))


def basis_of(points: np.ndarray, noise: float = 1e-3, n_replicates: int = 2) -> ForecastBasis:
    """A basis whose simulated curves carry a little replicate noise."""
    wobble = np.array([[0.02], [-0.02]])[:n_replicates]
    simulated = {
        (source, mode, WHOLE, measure): Simulated(NODES, expit(logit(curve(NODES, source)) + wobble))
        for source in MODES
        for mode in MODES
        for measure in ("error", "log_loss")
    }
    covariance = noise * (np.eye(4) + 1)
    stored = {
        (mode, measure): Points(SIZES, points, covariance) for mode in MODES for measure in ("error", "log_loss")
    }
    comparisons = {"error": Comparison(-0.02, 0.02), "log_loss": Comparison(-0.1, 0.05)}
    return ForecastBasis(100, 2000, stored, simulated, comparisons)


@pytest.mark.parametrize("measure", ["error", "log_loss"])
def test_scales_are_undone(measure: str) -> None:
    values = np.array([0.01, 0.3, 0.9])
    np.testing.assert_allclose(from_scale(measure, to_scale(measure, values)), values)


def test_curves_are_straight_in_log_labels_between_and_beyond_nodes() -> None:
    simulated = Simulated(NODES, curve(NODES, "semi-supervised")[None, :])
    sizes = np.array([6, 12, 30, 800, 1600])
    values, variance = interpolated("error", simulated, sizes)
    np.testing.assert_allclose(values, logit(curve(sizes, "semi-supervised")))
    np.testing.assert_array_equal(variance, 0)
    _, spread = interpolated("error", Simulated(NODES, np.array([[0.3] * 4, [0.4] * 4])), np.array([12, 24.5]))
    at_node = np.var(logit([0.3, 0.4]), ddof=1) / 2
    np.testing.assert_allclose(spread[0], at_node)
    assert at_node / 2 <= spread[1] < at_node


def test_the_posterior_equals_weighted_least_squares() -> None:
    """The same numbers from the normal equations with the prior as further observations."""
    basis = basis_of(np.array([0.6, 0.5, 0.42, 0.35]))
    regression = regression_of(basis, "labels-only", "error", ASKED)
    _, means, variances = regression._given(CONSTANTS, 1.0)
    share = source_share(basis.comparisons["log_loss"], CONSTANTS.doubt)
    # Unknowns: blend, level, tilt; the second curve counts through its difference from the first.
    rows = np.column_stack([regression.at_points[:, 1] - regression.at_points[:, 0], regression.at_points[:, 2:]])
    target = regression.observed - regression.at_points[:, 0]
    weights = np.linalg.inv(regression.noise + CONSTANTS.misfit_sd**2 * np.eye(4))
    precision = np.diag([1 / CONSTANTS.blend_sd**2, 1 / CONSTANTS.level_sd**2, 1 / CONSTANTS.tilt_sd**2])
    prior = np.array([share, 0.0, CONSTANTS.tilt_mean])
    information = rows.T @ weights @ rows + precision
    mean = np.linalg.solve(information, rows.T @ weights @ target + precision @ prior)
    ahead = np.column_stack([regression.at_sizes[:, 1] - regression.at_sizes[:, 0], regression.at_sizes[:, 2:]])
    np.testing.assert_allclose(means, regression.at_sizes[:, 0] + ahead @ mean, rtol=1e-9)
    spread = np.einsum("li,ij,lj->l", ahead, np.linalg.inv(information), ahead)
    drift = CONSTANTS.drift_sd**2 * np.log(ASKED / 100)
    np.testing.assert_allclose(variances, spread + regression.simulation_noise + drift, rtol=1e-9)


def test_a_pilot_that_contradicts_its_simulation_is_believed_and_widens_the_interval() -> None:
    usual, contrary = basis_of(curve(SIZES, "labels-only")), basis_of(np.full(4, 0.93))
    for basis, is_contrary in ((usual, False), (contrary, True)):
        regression = regression_of(basis, "labels-only", "error", ASKED)
        _, means, variances = regression._given(CONSTANTS, 1.0)
        found = regression.solved(CONSTANTS)
        # Tails hardly matter where all is right, and decide where it is not.
        assert (found.variances > (4 if is_contrary else 0.9) * variances).all()
        assert (np.abs(found.means - means) > 1).all() == is_contrary


def test_points_move_the_level_and_little_data_moves_it_less() -> None:
    low, high = basis_of(curve(SIZES, "labels-only") - 0.1), basis_of(curve(SIZES, "labels-only") + 0.1)
    sure = [calibrate(one, "labels-only", "error", ASKED, CONSTANTS).values for one in (low, high)]
    assert (sure[0] < sure[1]).all()
    doubtful = [
        calibrate(basis_of(curve(SIZES, "labels-only") + gap, noise=0.1), "labels-only", "error", ASKED, CONSTANTS)
        for gap in (-0.1, 0.1)
    ]
    assert (doubtful[1].values - doubtful[0].values < 0.3 * (sure[1] - sure[0])).all()
    assert (doubtful[0].variances > calibrate(low, "labels-only", "error", ASKED, CONSTANTS).variances).all()


def test_intervals_widen_with_the_distance_and_quantiles_are_in_order() -> None:
    found = calibrate(basis_of(curve(SIZES, "labels-only")), "labels-only", "error", ASKED, TUNED["error"])
    assert (np.diff(found.variances) > 0).all()
    assert (found.quantiles(0.05) < found.values).all()
    assert (found.values < found.quantiles(0.95)).all()


def test_the_better_source_weighs_more() -> None:
    assert source_share(Comparison(-0.1, 0.05), 1.0) > 0.9
    assert source_share(Comparison(0.1, 0.05), 1.0) < 0.1
    assert source_share(Comparison(0.1, 0.05), 4.0) > source_share(Comparison(0.1, 0.05), 1.0)
    assert source_share(Comparison(0.0, 0.0), 1.0) == 0.5


def test_one_mode_has_one_source() -> None:
    both = basis_of(curve(SIZES, "labels-only"))
    alone = replace(
        both,
        points={key: value for key, value in both.points.items() if key[0] == "labels-only"},
        simulated={key: value for key, value in both.simulated.items() if key[0] == key[1] == "labels-only"},
        comparisons={},
    )
    found = calibrate(alone, "labels-only", "error", ASKED, Constants(1e-6, 0.0, 1e-6, 0.3, 0.1, 0.1, 1.0))
    np.testing.assert_allclose(found.values, curve(ASKED, "labels-only"), rtol=1e-4)


def test_a_policy_is_forecast_on_its_own_curve() -> None:
    basis = basis_of(curve(SIZES, "labels-only"))
    harder = {
        (source, mode, "every-other", measure): Simulated(one.sizes, expit(logit(one.values) + 0.5))
        for (source, mode, _, measure), one in basis.simulated.items()
    }
    basis = replace(basis, simulated={**basis.simulated, **harder})
    whole = calibrate(basis, "labels-only", "error", ASKED, CONSTANTS)
    half = calibrate(basis, "labels-only", "error", ASKED, CONSTANTS, policy="every-other")
    np.testing.assert_allclose(half.means - whole.means, 0.5)


def test_a_basis_survives_json() -> None:
    basis = basis_of(curve(SIZES, "labels-only"))
    again = ForecastBasis.from_dict(basis.to_dict())
    before, after = (calibrate(one, "semi-supervised", "log_loss", ASKED, CONSTANTS) for one in (basis, again))
    np.testing.assert_array_equal(before.means, after.means)
    np.testing.assert_array_equal(before.variances, after.variances)
