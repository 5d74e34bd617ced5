"""From curves and points to forecasts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from labelworth.simulation.basis import Comparison, ForecastBasis, Points, Simulated
from labelworth.simulation.calibration import (
    FLOOR_SHARES,
    TUNED,
    Constants,
    Regression,
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
CONSTANTS = Constants(0.4, -0.05, 0.1, 0.3, 0.1, 0.07, 1.5, 0.3)
NO_FLOOR = replace(CONSTANTS, floor_share=1e-6)


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


def least_squares(regression: Regression, floor: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Means and variances from the normal equations, the prior as further observations, and the log-density."""
    share = source_share(regression.comparison, CONSTANTS.doubt)

    def design(curves: np.ndarray, tilt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Unknowns are blend, level and tilt; the second curve counts through its difference from the first."""
        alone, together = logit(floor + (1 - floor) * curves).T
        return alone, np.column_stack([together - alone, np.ones_like(tilt), tilt])

    offset, rows = design(regression.curves_at_points, regression.tilt_at_points)
    noise = regression.noise + CONSTANTS.misfit_sd**2 * np.eye(4)
    spread = np.diag([CONSTANTS.blend_sd**2, CONSTANTS.level_sd**2, CONSTANTS.tilt_sd**2])
    prior = np.array([share, 0.0, CONSTANTS.tilt_mean])
    information = rows.T @ np.linalg.inv(noise) @ rows + np.linalg.inv(spread)
    right = rows.T @ np.linalg.inv(noise) @ (regression.observed - offset) + np.linalg.inv(spread) @ prior
    ahead, columns = design(regression.curves_at_sizes, regression.tilt_at_sizes)
    means = ahead + columns @ np.linalg.solve(information, right)
    variances = np.einsum("li,ij,lj->l", columns, np.linalg.inv(information), columns)
    density = stats.multivariate_normal(offset + rows @ prior, rows @ spread @ rows.T + noise)
    return means, variances, float(density.logpdf(regression.observed))


def test_the_posterior_equals_weighted_least_squares() -> None:
    regression = regression_of(basis_of(np.array([0.6, 0.5, 0.42, 0.35])), "labels-only", "error", ASKED)
    found = regression.solved(NO_FLOOR)
    means, variances, _ = least_squares(regression, 0.0)
    np.testing.assert_allclose(found.means, means, rtol=1e-9)
    drift = CONSTANTS.drift_sd**2 * np.log(ASKED / 100)
    np.testing.assert_allclose(found.variances, variances + regression.simulation_noise + drift, rtol=1e-9)


def test_floors_are_averaged_by_their_probability() -> None:
    regression = regression_of(basis_of(np.array([0.5, 0.4, 0.38, 0.38])), "labels-only", "error", ASKED)
    found = regression.solved(CONSTANTS)
    floors = FLOOR_SHARES * expit(regression.observed).min()
    parts = [least_squares(regression, floor) for floor in floors]
    logs = np.array([part[2] for part in parts]) - FLOOR_SHARES / CONSTANTS.floor_share
    weights = np.exp(logs) / np.exp(logs).sum()
    mean = sum(weight * part[0] for weight, part in zip(weights, parts, strict=True))
    second = sum(weight * (part[1] + part[0] ** 2) for weight, part in zip(weights, parts, strict=True))
    np.testing.assert_allclose(found.means, mean, rtol=1e-9)
    drift = CONSTANTS.drift_sd**2 * np.log(ASKED / 100)
    np.testing.assert_allclose(found.variances, second - mean**2 + regression.simulation_noise + drift, rtol=1e-9)
    assert (found.values > regression.solved(NO_FLOOR).values).all()


def test_points_move_the_level_and_little_data_moves_it_less() -> None:
    low, high = basis_of(curve(SIZES, "labels-only") - 0.1), basis_of(curve(SIZES, "labels-only") + 0.1)
    sure = [calibrate(one, "labels-only", "error", ASKED, NO_FLOOR).values for one in (low, high)]
    assert (sure[0] < sure[1]).all()
    doubtful = [
        calibrate(basis_of(curve(SIZES, "labels-only") + gap, noise=0.1), "labels-only", "error", ASKED, NO_FLOOR)
        for gap in (-0.1, 0.1)
    ]
    assert (doubtful[1].values - doubtful[0].values < 0.3 * (sure[1] - sure[0])).all()
    assert (doubtful[0].variances > calibrate(low, "labels-only", "error", ASKED, NO_FLOOR).variances).all()


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
    found = calibrate(alone, "labels-only", "error", ASKED, Constants(1e-6, 0.0, 1e-6, 0.3, 0.1, 0.1, 1.0, 1e-6))
    np.testing.assert_allclose(found.values, curve(ASKED, "labels-only"), rtol=1e-4)


def test_a_policy_is_forecast_on_its_own_curve() -> None:
    basis = basis_of(curve(SIZES, "labels-only"))
    harder = {
        (source, mode, "every-other", measure): Simulated(one.sizes, expit(logit(one.values) + 0.5))
        for (source, mode, _, measure), one in basis.simulated.items()
    }
    basis = replace(basis, simulated={**basis.simulated, **harder})
    whole = calibrate(basis, "labels-only", "error", ASKED, NO_FLOOR)
    half = calibrate(basis, "labels-only", "error", ASKED, NO_FLOOR, policy="every-other")
    np.testing.assert_allclose(half.means - whole.means, 0.5)


def test_a_basis_survives_json() -> None:
    basis = basis_of(curve(SIZES, "labels-only"))
    again = ForecastBasis.from_dict(basis.to_dict())
    before, after = (calibrate(one, "semi-supervised", "log_loss", ASKED, CONSTANTS) for one in (basis, again))
    np.testing.assert_array_equal(before.means, after.means)
    np.testing.assert_array_equal(before.variances, after.variances)
