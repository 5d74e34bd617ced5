"""From curves and points to forecasts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import multivariate_normal

from labelworth.arrays import FloatArray
from labelworth.simulation.basis import Comparison, ForecastBasis, Points, Simulated
from labelworth.simulation.calibration import TUNED, Calibrated, Constants, calibrate, interpolated, regression_of
from labelworth.simulation.learner import MODES
from labelworth.simulation.open_labels import OpenLabels
from labelworth.simulation.power_law import USUAL_SLOPES, fit_odds_law
from labelworth.simulation.simulator import WHOLE

SIZES = np.array([12, 25, 50, 80])
NODES = np.array([12, 50, 200, 800])
ASKED = np.array([200, 400, 800])
CONSTANTS = Constants({"labels-only": 1.0, "semi-supervised": 3.0}, 0.1, 0.1, 0.05, 0.4, -0.05, 0.1, 0.07, 0.2)
CLASS_COUNTS = np.array([30, 30, 40])
CHANCE = 1 - 40.5 / 101.5
ERRORS = {"labels-only": 0.35, "semi-supervised": 0.4}


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
    none = {(source, measure): 0.0 for source in MODES for measure in ("error", "log_loss")}
    return ForecastBasis("sequences", 100, 2000, stored, simulated, comparisons, ERRORS, none, CLASS_COUNTS)


def all_follow(basis: ForecastBasis, policy: str = WHOLE, constants: Constants = CONSTANTS) -> Calibrated:
    """A calibration that takes all labels to follow from the features."""
    regression = regression_of(basis, "labels-only", "error", ASKED, policy)
    return replace(regression, open_labels=OpenLabels(np.zeros(1), np.ones(1))).solved(constants)


def test_curves_are_straight_in_log_labels_between_and_beyond_nodes() -> None:
    simulated = Simulated(NODES, curve(NODES, "semi-supervised")[None, :])
    sizes = np.array([6, 12, 30, 800, 1600])
    np.testing.assert_allclose(interpolated("error", simulated, sizes), logit(curve(sizes, "semi-supervised")))
    both = Simulated(NODES, np.array([[0.3] * 4, [0.4] * 4]))
    np.testing.assert_allclose(interpolated("error", both, NODES), logit([0.3, 0.4]).mean())


@pytest.mark.parametrize(("share", "growth"), [(0.0, 0.0), (0.3, 0.0), (0.3, 20.0)])
def test_given_a_share_the_posterior_is_that_of_drawn_curves(share: float, growth: float) -> None:
    """Against least squares with level, tilt and every step of the drift as unknowns of their own."""
    basis = basis_of(np.array([0.6, 0.5, 0.42, 0.35]))
    regression = regression_of(basis, "labels-only", "error", ASKED)
    constants = replace(CONSTANTS, growth=growth)
    _, means, covariances = (part[0] for part in regression.given(constants, np.array([share])))
    sizes = np.concatenate([SIZES, ASKED])
    law = fit_odds_law(np.log(SIZES / 100), regression.observed, regression.noise, basis.kind)
    simulated = [logit(share * CHANCE + (1 - share) * curve(sizes, source)) for source in MODES]
    # The second source has three times the weight, and misses more: 40 labels of 100, not 35.
    behind = np.log((40.5 / 60.5) / (35.5 / 65.5)) / CONSTANTS.source_scale
    second = 3 * np.exp(-behind) / (1 + 3 * np.exp(-behind))
    prior = (
        0.9 * ((1 - second) * simulated[0] + second * simulated[1])
        + 0.1 * law.at(np.log(sizes / 100))
        + CONSTANTS.level_mean
    )
    steps = np.log(sizes / 100)
    # The drift leaves the pilot's size to both sides, a step from one size to the next.
    left, right = np.argsort(-steps[:4]), 4 + np.argsort(steps[4:])
    drift = np.zeros((7, 7))
    for way, spread in ((left, CONSTANTS.drift_sd), (right, CONSTANTS.ahead_sd)):
        for number, size in enumerate(way):
            lengths = np.diff(np.abs(steps[way[: number + 1]]), prepend=0.0)
            drift[size, way[: number + 1]] = spread * np.sqrt(lengths)
    unknowns = np.column_stack([np.full(7, CONSTANTS.level_sd), CONSTANTS.tilt_sd * steps, drift])
    unknowns *= np.sqrt(1 + growth * regression.noise[3, 3])
    prior = prior + CONSTANTS.tilt_mean * steps
    weights = np.linalg.inv(regression.noise)
    information = unknowns[:4].T @ weights @ unknowns[:4] + np.eye(9)
    target = unknowns[:4].T @ weights @ (regression.observed - prior[:4])
    posterior = np.linalg.inv(information)
    np.testing.assert_allclose(means, prior[4:] + unknowns[4:] @ posterior @ target, rtol=1e-7)
    np.testing.assert_allclose(covariances, unknowns[4:] @ posterior @ unknowns[4:].T, rtol=1e-7)


def test_shares_weigh_as_likely_as_the_points_are() -> None:
    """Against densities of the points integrated over level, tilt and drift by many draws (z below 5)."""
    basis = basis_of(0.3 * CHANCE + 0.7 * curve(SIZES, "labels-only"))
    regression = regression_of(basis, "labels-only", "error", ASKED)
    solved = regression.solved(CONSTANTS)
    rng, n_draws = np.random.default_rng(0), 20_000
    steps = regression.at_points.steps
    # Sizes rise, so the walk from the pilot's size goes backwards through them.
    lengths = np.abs(np.diff(steps[::-1], prepend=0.0))
    walk = np.cumsum(np.sqrt(lengths) * rng.standard_normal((n_draws, 4)), axis=1)[:, ::-1]
    moves = (
        CONSTANTS.level_mean
        + CONSTANTS.level_sd * rng.standard_normal((n_draws, 1))
        + (CONSTANTS.tilt_mean + CONSTANTS.tilt_sd * rng.standard_normal((n_draws, 1))) * steps
        + CONSTANTS.drift_sd * walk
    )
    densities = []
    indices = [0, 4, 9]
    for share in regression.open_labels.shares[indices]:
        centers = regression.at_points.blended("error", np.array([share]), CHANCE, CONSTANTS)[0] + moves
        densities.append(multivariate_normal(np.zeros(4), regression.noise).pdf(regression.observed - centers))
    prior = regression.open_labels.probabilities[indices]
    expected = np.mean(densities, axis=1) * prior
    errors = np.std(densities, axis=1) / np.sqrt(n_draws) * prior
    scale = solved.weights[indices].sum() / expected.sum()
    assert (np.abs(solved.weights[indices] - scale * expected) < 5 * scale * (errors + errors.sum())).all()


def test_what_the_pilot_errs_above_its_simulation_is_not_taken_away() -> None:
    follows = curve(SIZES, "labels-only")
    for share in (0.0, 0.45):
        basis = basis_of(share * CHANCE + (1 - share) * follows, noise=1e-5)
        found = calibrate(basis, "labels-only", "error", ASKED, CONSTANTS)
        truth = share * CHANCE + (1 - share) * curve(ASKED, "labels-only")
        # On a grid whose first step is half as long as the others.
        assert found.floor.low <= share * CHANCE + 0.02
        assert found.floor.high >= share * CHANCE
        assert (np.abs(found.values - truth) < 0.03).all()
        assert (found.quantiles(0.05) < truth).all()
        assert (truth < found.quantiles(0.95)).all()
    # A calibration that knows of no floor goes on falling.
    blind = all_follow(basis)
    assert (truth > blind.values + 0.03).any()


def test_a_pilot_that_contradicts_its_simulation_is_believed_and_widens_the_interval() -> None:
    """Errors that rise while simulated ones fall: no floor explains them."""
    usual, contrary = basis_of(curve(SIZES, "labels-only")), basis_of(np.array([0.2, 0.3, 0.7, 0.93]))
    widths = []
    for basis, is_contrary in ((usual, False), (contrary, True)):
        found = calibrate(basis, "labels-only", "error", ASKED, TUNED["sequences"]["error"])
        assert (found.contradiction > 0.9) == is_contrary
        widths.append(np.sqrt(found.mixture.variance))
    assert (widths[1] > 2.5 * widths[0]).all()
    assert found.values[0] > 0.7


def test_differences_of_forecasts_vary_together() -> None:
    found = all_follow(basis_of(curve(SIZES, "labels-only")))
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
    found = calibrate(
        basis_of(curve(SIZES, "labels-only")), "labels-only", "error", ASKED, TUNED["sequences"]["error"]
    )
    assert (np.diff(found.mixture.variance) > 0).all()
    assert (found.quantiles(0.05) < found.values).all()
    assert (found.values < found.quantiles(0.95)).all()


def test_what_a_source_takes_for_overlap_is_not_called_what_stays() -> None:
    """Another model may tell classes apart that a mixture takes to overlap: only labels say what stays."""
    basis = basis_of(curve(SIZES, "labels-only"))
    overlapping = replace(basis, source_overlaps=dict.fromkeys(basis.source_overlaps, 0.2))
    floors = [calibrate(own, "labels-only", "error", ASKED, CONSTANTS).floor for own in (basis, overlapping)]
    assert floors[0] == floors[1]


def test_one_mode_has_one_source() -> None:
    both = basis_of(curve(SIZES, "labels-only"))
    alone = replace(
        both,
        points={key: value for key, value in both.points.items() if key[0] == "labels-only"},
        simulated={key: value for key, value in both.simulated.items() if key[0] == key[1] == "labels-only"},
        comparisons={},
        source_errors={"labels-only": 0.3},
        source_overlaps={("labels-only", "error"): 0.0, ("labels-only", "log_loss"): 0.0},
    )
    found = all_follow(alone, constants=Constants({"labels-only": 2.0}, 0.1, 0.0, 0.0, 1e-6, 0.0, 1e-6, 1e-6, 1e-6))
    np.testing.assert_allclose(found.values, curve(ASKED, "labels-only"), rtol=1e-4)


def test_a_policy_is_forecast_on_its_own_curve() -> None:
    basis = basis_of(curve(SIZES, "labels-only"))
    harder = {
        (source, mode, "every-other", measure): Simulated(one.sizes, expit(logit(one.values) + 0.5))
        for (source, mode, _, measure), one in basis.simulated.items()
    }
    basis = replace(basis, simulated={**basis.simulated, **harder})
    whole, half = all_follow(basis), all_follow(basis, "every-other")
    # The power law goes through the points of units labeled whole.
    np.testing.assert_allclose(half.mixture.mean - whole.mixture.mean, 0.5 * (1 - CONSTANTS.law))


def test_a_basis_survives_json() -> None:
    basis = basis_of(curve(SIZES, "labels-only"))
    again = ForecastBasis.from_dict(basis.to_dict())
    before, after = (calibrate(one, "semi-supervised", "log_loss", ASKED, CONSTANTS) for one in (basis, again))
    np.testing.assert_array_equal(before.means, after.means)
    np.testing.assert_array_equal(before.covariances, after.covariances)


def test_the_law_of_odds_is_the_most_probable_line_under_the_usual_slopes() -> None:
    rng = np.random.default_rng(3)
    steps, log_odds = np.log([0.25, 0.5, 1.0]), np.array([0.3, -0.1, -0.2])
    spread = rng.standard_normal((3, 3))
    covariance = spread @ spread.T + 0.1 * np.eye(3)
    for kind, (mean, sd) in USUAL_SLOPES.items():
        found = fit_odds_law(steps, log_odds, covariance, kind)

        def surprise(line: FloatArray, mean: float = mean, sd: float = sd) -> float:
            missed = log_odds - line[0] - line[1] * steps
            return float(missed @ np.linalg.solve(covariance, missed) + ((line[1] - mean) / sd) ** 2)

        least = minimize(surprise, np.zeros(2), method="BFGS", options={"gtol": 1e-9}).x
        np.testing.assert_allclose([found.level, found.slope], least, atol=1e-6)
    # Points that say nothing leave the usual slope; points that say all leave none of it.
    assert fit_odds_law(steps, log_odds, 1e9 * covariance, "linear").slope == pytest.approx(
        USUAL_SLOPES["linear"][0], abs=1e-6
    )
    line = fit_odds_law(steps, 0.5 - 0.7 * steps, 1e-9 * covariance, "linear")
    assert line.at(np.log([4.0]))[0] == pytest.approx(0.5 - 0.7 * np.log(4), abs=1e-6)
