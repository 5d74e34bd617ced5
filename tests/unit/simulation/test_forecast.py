"""Forecasts, end to end on small data."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from labelworth.data.evidence import Evidence
from labelworth.data.rows import Rows
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.any_rows import AnyLearner
from labelworth.policies.spec import parse_policy
from labelworth.simulation.basis import ForecastBasis, forecast_basis, simulated_sizes
from labelworth.simulation.calibration import power_law_of
from labelworth.simulation.forecast import forecast, simulation_warning
from labelworth.simulation.learner import MODES, Mode, keep_labels
from labelworth.simulation.power_law import FLATTEST, STEEPEST, PowerLaw, fit_power_law
from labelworth.simulation.scales import Measure
from labelworth.simulation.simulator import WHOLE
from support.learners import conditional_learner, document_learner, documents, relabeled, sentence_learner, sentences

ASKED = [80, 160, 320]


@pytest.fixture(scope="module")
def basis() -> ForecastBasis:
    samples = documents(500)
    return forecast_basis(document_learner(samples), keep_labels(samples, np.arange(40)), max(ASKED))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("measure", ["error", "log_loss"])
def test_values_lie_within_their_intervals(basis: ForecastBasis, mode: Mode, measure: Measure) -> None:
    assert basis.n_labeled == 40
    assert basis.n_units == 500
    curve = forecast(basis, mode, measure, ASKED)
    assert (curve.low < curve.values).all()
    assert (curve.values < curve.high).all()


def test_the_basis_does_not_depend_on_the_mode_of_the_learner_nor_on_workers(basis: ForecastBasis) -> None:
    samples = documents(500)
    learner = document_learner(samples).in_mode("labels-only")
    again = forecast_basis(learner, keep_labels(samples, np.arange(40)), max(ASKED), workers=2)
    np.testing.assert_array_equal(
        forecast(again, "labels-only", "error", ASKED).values, forecast(basis, "labels-only", "error", ASKED).values
    )


def test_one_size_is_forecast_as_among_others(basis: ForecastBasis) -> None:
    alone, among = (forecast(basis, "semi-supervised", "error", sizes) for sizes in ([160], ASKED))
    np.testing.assert_allclose(alone.values, among.values[1:2])


def test_the_power_law_stands_beside_it(basis: ForecastBasis) -> None:
    law = power_law_of(basis, "labels-only", "error")
    np.testing.assert_array_equal(forecast(basis, "labels-only", "error", ASKED).power_law, law.at(np.array(ASKED)))


def test_the_asymptotic_excess_is_moved_to_the_level_of_the_pilot(basis: ForecastBasis) -> None:
    curve = forecast(basis, "labels-only", "error", ASKED, excess=lambda sizes: 2.0 / sizes)
    points = basis.points["labels-only", "error"]
    expected = points.means[-1] + 2.0 / np.array(ASKED) - 2.0 / points.sizes[-1]
    np.testing.assert_allclose(curve.asymptotic, expected)
    assert forecast(basis, "labels-only", "log_loss", ASKED).asymptotic is None


def many_words(n_documents: int, rng: np.random.Generator, emission: np.ndarray) -> Samples:
    codes = rng.integers(len(emission), size=n_documents)
    counts = np.array([rng.multinomial(10, emission[code]) for code in codes], dtype=np.float64)
    return Samples(sp.csr_array(counts), Evidence(codes, ("a", "b", "c")))


def test_forecasts_are_near_what_is_realized_and_nearer_than_the_pilot_s_own_error() -> None:
    """Three classes over 200 words, labels that follow from the words: eight times the labels of five pilots."""
    gaps, stale = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        emission = rng.dirichlet(np.ones(200), size=3)
        samples, fresh = many_words(800, rng, emission), many_words(3000, rng, emission)
        learner = document_learner(samples).in_mode("labels-only")
        known = learner.fit(fresh)
        samples = relabeled(samples, learner.predict(known, samples).best)
        basis = forecast_basis(learner, keep_labels(samples, np.arange(60)), 480)
        curve = forecast(basis, "labels-only", "error", [480])
        fitted = learner.fit(keep_labels(samples, np.arange(480)))
        realized = (learner.predict(fitted, fresh).best != learner.predict(known, fresh).best).mean()
        gaps.append(abs(curve.values[0] - realized))
        stale.append(abs(curve.points[-1] - realized))
    assert np.mean(gaps) < 0.03
    assert np.mean(gaps) < 0.3 * np.mean(stale)


def test_labels_that_do_not_follow_from_the_words_are_noticed() -> None:
    samples = documents(500, length=3)
    learner = document_learner(samples)
    best = learner.predict(learner.fit(samples), samples).best
    sure = relabeled(samples, best)
    rng = np.random.default_rng(3)
    noisy = relabeled(samples, np.where(rng.random(len(best)) < 0.5, rng.permutation(best), best))
    noticed = []
    for data in (sure, noisy):
        basis = forecast_basis(learner, keep_labels(data, np.arange(150)), 200)
        noticed.append("does not seem able to follow" in (simulation_warning(basis, "labels-only") or ""))
    assert noticed == [False, True]


def test_where_a_model_is_too_simple_for_labels_without_noise_it_is_said_to_be_one_of_the_reasons() -> None:
    X = np.random.default_rng(0).standard_normal((600, 8))
    rows = Rows(X, Evidence((X[:, 0] * X[:, 1] > 0).astype(np.int64), ("a", "b")))
    learner = AnyLearner(LogisticRegression(), mode="labels-only", modes=("labels-only",))
    basis = forecast_basis(learner, keep_labels(rows, np.arange(300)), 500)
    warned = simulation_warning(basis, "labels-only")
    assert warned is not None
    assert "This model" in warned
    assert "too simple" in warned


def test_sequences_under_policies() -> None:
    data = sentences(60)
    learner = sentence_learner(data)
    shown = keep_labels(data, np.arange(15))
    basis = forecast_basis(learner, shown, 40, policies=[parse_policy("every-other")])
    whole, half = (forecast(basis, "labels-only", "log_loss", [30], policy=spec) for spec in (WHOLE, "every-other"))
    assert np.isfinite(half.values).all()
    assert half.values[0] != whole.values[0]


def test_a_conditional_field_has_one_mode() -> None:
    data = sentences(40)
    learner = conditional_learner()
    basis = forecast_basis(learner, keep_labels(data, np.arange(15)), 30)
    assert basis.modes == ("labels-only",)
    with pytest.raises(InvalidInputError, match="Nothing was simulated"):
        forecast(basis, "semi-supervised", "error", [30])


def test_beyond_the_pool_the_curve_is_extended(basis: ForecastBasis) -> None:
    assert simulated_sizes(np.array([5, 32]), 4000, 500)[-1] == 475
    near, far = forecast(basis, "labels-only", "error", [320, 4000]).values
    assert far < near


@pytest.mark.parametrize("sizes", [[], [0], [1.5], [[10]]])
def test_invalid_sizes_are_refused(basis: ForecastBasis, sizes: list) -> None:
    with pytest.raises(InvalidInputError, match="whole"):
        forecast(basis, "labels-only", "error", sizes)


def test_too_few_labels_or_workers_are_refused() -> None:
    samples = documents(50)
    learner = document_learner(samples)
    with pytest.raises(InvalidInputError, match="at least 10"):
        forecast_basis(learner, keep_labels(samples, np.arange(5)), 20)
    with pytest.raises(InvalidInputError, match="worker"):
        forecast_basis(learner, keep_labels(samples, np.arange(20)), 20, workers=0)


SIZES = np.array([12, 25, 50, 80])


def test_a_power_law_is_found_again() -> None:
    truth = PowerLaw(0.08, 1.4, 0.6)
    found = fit_power_law(SIZES, truth.at(SIZES), np.full(4, 1e-4))
    np.testing.assert_allclose([found.floor, found.scale, found.exponent], [0.08, 1.4, 0.6], rtol=1e-6)


def test_no_grid_point_of_its_parameters_fits_better() -> None:
    values, variances = np.array([0.5, 0.31, 0.3, 0.2]), np.array([2e-3, 1e-3, 1e-3, 5e-4])

    def squares(law: PowerLaw) -> float:
        return float((np.square(values - law.at(SIZES)) / variances).sum())

    found = fit_power_law(SIZES, values, variances)
    others = [
        PowerLaw(floor, scale, exponent)
        for floor in np.linspace(0, 0.3, 16)
        for scale in np.linspace(0, 6, 61)
        for exponent in np.linspace(FLATTEST, STEEPEST, 40)
    ]
    assert squares(found) <= min(map(squares, others))


def test_weights_count() -> None:
    values = np.array([0.5, 0.4, 0.3, 0.4])
    trusted = fit_power_law(SIZES, values, np.array([1.0, 1.0, 1.0, 1e-6]))
    assert abs(trusted.at(SIZES)[-1] - 0.4) < 1e-3
    doubted = fit_power_law(SIZES, values, np.array([1e-6, 1e-6, 1e-6, 1.0]))
    assert abs(doubted.at(SIZES)[-1] - 0.4) > 0.05


def test_a_rising_curve_is_told_flat_and_nothing_is_negative() -> None:
    found = fit_power_law(SIZES, np.array([0.1, 0.2, 0.3, 0.4]), np.full(4, 1e-3))
    assert found.scale == 0.0
    assert found.floor == pytest.approx(0.25)
    steep = fit_power_law(SIZES, np.array([0.5, 0.1, 0.01, 0.0]), np.full(4, 1e-3))
    assert min(steep.floor, steep.scale) >= 0
    assert FLATTEST <= steep.exponent <= STEEPEST


@pytest.mark.parametrize(
    ("sizes", "variances"), [(SIZES[:1], np.ones(1)), (SIZES, np.zeros(4)), (SIZES, np.full(4, np.nan))]
)
def test_too_little_to_go_by_is_refused(sizes: np.ndarray, variances: np.ndarray) -> None:
    with pytest.raises(InvalidInputError):
        fit_power_law(sizes, np.full(len(sizes), 0.3), variances)
