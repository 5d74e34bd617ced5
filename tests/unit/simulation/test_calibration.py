"""From curves and points to forecasts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import multivariate_normal, norm

from labelworth.simulation.basis import Comparison, ForecastBasis, Points, Simulated
from labelworth.simulation.calibration import (
    TUNED,
    Constants,
    CurvesAt,
    NormalMixture,
    calibrate,
    interpolated,
    regression_of,
    source_share,
)
from labelworth.simulation.learner import MODES
from labelworth.simulation.scales import FLOORS
from labelworth.simulation.simulator import WHOLE

SIZES = np.array([12, 25, 50, 80])
NODES = np.array([12, 50, 200, 800])
ASKED = np.array([200, 400, 800])
CONSTANTS = Constants(0.4, -0.05, 0.1, 0.3, 0.1, 0.07, 1.5, 0.5)
NO_FLOOR = replace(CONSTANTS, floor_probability=1e-12)


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


@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_given_a_floor_the_posterior_equals_weighted_least_squares(floor: float) -> None:
    """The same numbers from the normal equations with the prior as further observations."""
    basis = basis_of(np.array([0.6, 0.5, 0.42, 0.35]))
    regression = regression_of(basis, "labels-only", "error", ASKED)
    _, means, covariances = (part[0] for part in regression.given(CONSTANTS, np.array([floor])))
    share = source_share(basis.comparisons["log_loss"], CONSTANTS.doubt)

    def lifted(curves: np.ndarray) -> np.ndarray:
        return logit(floor + (1 - floor) * expit(curves))

    def noise(at: CurvesAt) -> np.ndarray:
        """By finite differences: how far the lifted curve moves with the simulated one."""
        moved = (lifted(at.curves + 1e-6) - lifted(at.curves - 1e-6)) / 2e-6
        return np.diag((moved**2 * at.variances).mean(axis=1) / 2)

    # Unknowns: blend, level, tilt; the second curve counts through its difference from the first.
    def unknowns(at: CurvesAt) -> tuple[np.ndarray, np.ndarray]:
        alone, together = lifted(at.curves).T
        return alone, np.column_stack([together - alone, np.ones(len(alone)), at.steps])

    alone, rows = unknowns(regression.at_points)
    weights = np.linalg.inv(regression.noise + noise(regression.at_points) + CONSTANTS.misfit_sd**2 * np.eye(4))
    precision = np.diag([1 / CONSTANTS.blend_sd**2, 1 / CONSTANTS.level_sd**2, 1 / CONSTANTS.tilt_sd**2])
    prior = np.array([share, 0.0, CONSTANTS.tilt_mean])
    information = rows.T @ weights @ rows + precision
    target = regression.observed - alone
    mean = np.linalg.solve(information, rows.T @ weights @ target + precision @ prior)
    alone, ahead = unknowns(regression.at_sizes)
    np.testing.assert_allclose(means, alone + ahead @ mean, rtol=1e-8)
    spread = ahead @ np.linalg.inv(information) @ ahead.T + noise(regression.at_sizes)
    steps = np.log(ASKED / 100)
    drift = CONSTANTS.drift_sd**2 * np.minimum.outer(steps, steps)
    np.testing.assert_allclose(covariances, spread + drift, rtol=1e-7)


def test_floors_weigh_as_likely_as_the_points_are() -> None:
    """Against densities of the points integrated over level, tilt and blend by many draws (z below 5)."""
    basis = basis_of(0.2 + 0.8 * curve(SIZES, "labels-only"))
    regression = regression_of(basis, "labels-only", "error", ASKED)
    found = regression.solved(CONSTANTS)
    rng, n_draws = np.random.default_rng(0), 20_000
    share = source_share(basis.comparisons["log_loss"], CONSTANTS.doubt)
    blend = share + CONSTANTS.blend_sd * rng.standard_normal(n_draws)
    level = CONSTANTS.level_sd * rng.standard_normal(n_draws)
    tilt = CONSTANTS.tilt_mean + CONSTANTS.tilt_sd * rng.standard_normal(n_draws)
    at = regression.at_points
    densities = []
    for floor in (0.0, 0.2, 0.5):
        alone, together = logit(floor + (1 - floor) * expit(at.curves)).T
        moved = expit(at.curves) / (floor + (1 - floor) * expit(at.curves))
        noise = regression.noise + np.diag((moved**2 * at.variances).mean(axis=1) / 2 + CONSTANTS.misfit_sd**2)
        centers = np.outer(1 - blend, alone) + np.outer(blend, together) + level[:, None] + np.outer(tilt, at.steps)
        densities.append(multivariate_normal(np.zeros(4), noise).pdf(regression.observed - centers))
    prior = np.array(
        [1 - CONSTANTS.floor_probability, *[CONSTANTS.floor_probability / (len(FLOORS["error"]) - 1)] * 2]
    )
    places = [FLOORS["error"].index(floor) for floor in (0.0, 0.2, 0.5)]
    expected = np.mean(densities, axis=1) * prior
    errors = np.std(densities, axis=1) / np.sqrt(n_draws) * prior
    scale = found.weights[places].sum() / expected.sum()
    assert (np.abs(found.weights[places] - scale * expected) < 5 * scale * (errors + errors.sum())).all()


def test_what_the_pilot_errs_above_its_simulation_is_not_taken_away() -> None:
    follows = curve(SIZES, "labels-only")
    for share in (0.0, 0.3):
        basis = basis_of(share + (1 - share) * follows, noise=1e-5)
        found = calibrate(basis, "labels-only", "error", ASKED, CONSTANTS)
        truth = share + (1 - share) * curve(ASKED, "labels-only")
        assert found.floor.low <= share <= found.floor.high
        assert (np.abs(found.values - truth) < 0.03).all()
        assert (found.quantiles(0.05) < truth).all()
        assert (truth < found.quantiles(0.95)).all()
    # A calibration that knows of no floor goes on falling.
    blind = calibrate(basis, "labels-only", "error", ASKED, NO_FLOOR)
    assert (truth > blind.values + 0.03).any()


def test_a_pilot_that_contradicts_its_simulation_is_believed_and_widens_the_interval() -> None:
    """Errors that rise while simulated ones fall: no floor explains them."""
    usual, contrary = basis_of(curve(SIZES, "labels-only")), basis_of(np.array([0.2, 0.3, 0.7, 0.93]))
    widths = []
    for basis, is_contrary in ((usual, False), (contrary, True)):
        found = calibrate(basis, "labels-only", "error", ASKED, TUNED["error"])
        assert (found.contradiction > 0.9) == is_contrary
        widths.append(np.sqrt(found.mixture.variance))
    assert (widths[1] > 2.5 * widths[0]).all()
    assert found.values[0] > 0.7


def test_differences_of_forecasts_vary_together() -> None:
    found = calibrate(basis_of(curve(SIZES, "labels-only")), "labels-only", "error", ASKED, NO_FLOOR)
    contrast = np.array([[-1.0, 1.0, 0.0]])
    parts = found.means[:, 1] - found.means[:, 0]
    within = [covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1] for covariance in found.covariances]
    mean = found.weights @ parts
    expected = np.sqrt(found.weights @ (np.array(within) + (parts - mean) ** 2))
    np.testing.assert_allclose(found.contrast_errors(contrast), expected)
    assert expected < np.sqrt(found.mixture.variance[0])


def test_points_move_the_level_and_little_data_moves_it_less() -> None:
    low, high = basis_of(curve(SIZES, "labels-only") - 0.1), basis_of(curve(SIZES, "labels-only") + 0.1)
    sure = [calibrate(one, "labels-only", "error", ASKED, CONSTANTS).values for one in (low, high)]
    assert (sure[0] < sure[1]).all()
    doubtful = [
        calibrate(basis_of(curve(SIZES, "labels-only") + gap, noise=0.1), "labels-only", "error", ASKED, CONSTANTS)
        for gap in (-0.1, 0.1)
    ]
    assert (doubtful[1].values - doubtful[0].values < 0.3 * (sure[1] - sure[0])).all()
    here = calibrate(low, "labels-only", "error", ASKED, CONSTANTS).mixture.variance
    assert (doubtful[0].mixture.variance > here).all()


def test_intervals_widen_with_the_distance_and_quantiles_are_in_order() -> None:
    found = calibrate(basis_of(curve(SIZES, "labels-only")), "labels-only", "error", ASKED, TUNED["error"])
    assert (np.diff(found.mixture.variance) > 0).all()
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
    found = calibrate(alone, "labels-only", "error", ASKED, Constants(1e-6, 0.0, 1e-6, 0.3, 0.1, 0.1, 1.0, 1e-12))
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
    np.testing.assert_allclose(half.mixture.mean - whole.mixture.mean, 0.5)


def test_a_basis_survives_json() -> None:
    basis = basis_of(curve(SIZES, "labels-only"))
    again = ForecastBasis.from_dict(basis.to_dict())
    before, after = (calibrate(one, "semi-supervised", "log_loss", ASKED, CONSTANTS) for one in (basis, again))
    np.testing.assert_array_equal(before.means, after.means)
    np.testing.assert_array_equal(before.covariances, after.covariances)


MIXTURE = NormalMixture(
    np.array([0.7, 0.3]), np.array([[0.0, 1.0], [3.0, -2.0]]), np.array([[1.0, 0.25], [0.04, 4.0]])
)


def density(value: float, column: int) -> float:
    parts = norm.pdf(value, MIXTURE.means[:, column], np.sqrt(MIXTURE.variances[:, column]))
    return float(MIXTURE.weights @ parts)


@pytest.mark.parametrize("column", [0, 1])
def test_moments_and_quantiles_are_those_of_the_density(column: int) -> None:
    mean = quad(lambda x: x * density(x, column), -20, 20, points=[-2, 0, 1, 3])[0]
    square = quad(lambda x: x**2 * density(x, column), -20, 20, points=[-2, 0, 1, 3])[0]
    assert MIXTURE.mean[column] == pytest.approx(mean)
    assert MIXTURE.variance[column] == pytest.approx(square - mean**2)
    for probability in (0.05, 0.5, 0.95):
        end = MIXTURE.quantiles(probability)[column]
        assert quad(density, -20, end, args=(column,), points=[-2, 0])[0] == pytest.approx(probability, abs=1e-7)
