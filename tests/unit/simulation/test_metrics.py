"""Macro-F1, recall at a precision and precision at a recall: values, resamples, names."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import log_expit, logit
from scipy.stats import norm
from sklearn.metrics import f1_score

from labelworth.errors import InvalidInputError
from labelworth.simulation.basis import ForecastBasis, forecast_basis
from labelworth.simulation.calibration import METRIC_SPREADS, TUNED, calibrate, constants_of, interpolated
from labelworth.simulation.learner import keep_labels
from labelworth.simulation.metrics import (
    FEWEST_OF_CLASS,
    MacroF1,
    Metric,
    RateAtLevel,
    metric_of,
    pilot_units,
    resampled_covariance,
    resampled_times,
)
from labelworth.simulation.scales import from_scale
from support.learners import document_learner, documents

CLASSES = ("ham", "spam")
FALSE_ALARM = 1e-6


@dataclass(frozen=True)
class Scored:
    """Predictions of two classes with the log-odds of the second."""

    odds: np.ndarray

    @property
    def best(self) -> np.ndarray:
        return (self.odds > 0).astype(np.int64)

    def log_posteriors(self, temperature: float) -> np.ndarray:
        return np.stack([log_expit(-self.odds / temperature), log_expit(self.odds / temperature)], axis=1)


def enumerated_rate(metric: RateAtLevel, scores: np.ndarray, is_class: np.ndarray, times: np.ndarray) -> float:
    """Every threshold in turn, positions that are there several times written out."""
    scores, is_class = np.repeat(scores, times), np.repeat(is_class, times)
    best = 0.0
    for threshold in set(scores.tolist()):
        passed = scores >= threshold
        right = int((passed & is_class).sum())
        rates = {"recall": right / is_class.sum(), "precision": right / passed.sum()}
        if rates[metric.held] >= metric.level - 1e-12:
            best = max(best, rates[metric.asked])
    return best


@pytest.mark.parametrize("asked", ["recall", "precision"])
@pytest.mark.parametrize("level", [0.5, 0.6, 0.8, 1.0])
@pytest.mark.parametrize("n_scores", [2, 6, 1000])
def test_the_best_threshold_is_that_of_all_that_there_are(asked: str, level: float, n_scores: int) -> None:
    """With few scores most are ties, which no threshold divides."""
    rng = np.random.default_rng([n_scores, round(10 * level)])
    metric = RateAtLevel(asked, "spam", level)
    for _ in range(40):
        scores, codes = rng.integers(n_scores, size=12).astype(float), rng.integers(2, size=12)
        times = rng.multinomial(12, np.full(12, 1 / 12), size=4)
        values = metric.shortfalls(scores, codes, CLASSES, times.astype(float))
        for own, value in zip(times, values, strict=True):
            if not own[codes == 1].any():
                assert np.isnan(value)
                continue
            expected = enumerated_rate(metric, scores, codes == 1, own)
            assert value == pytest.approx(1 - expected, abs=1e-12)


def test_ties_are_not_divided() -> None:
    """Control for the enumeration: two of three with one score are right, so precision is 2/3 and never one."""
    scores, codes = np.array([1.0, 1.0, 1.0, 0.0]), np.array([1, 1, 0, 1])
    metric = RateAtLevel("recall", "spam", 0.9)
    assert metric.shortfalls(scores, codes, CLASSES, np.ones((1, 4))).tolist() == [1.0]
    apart = np.array([1.2, 1.1, 1.0, 0.0])
    assert metric.shortfalls(apart, codes, CLASSES, np.ones((1, 4)))[0] == pytest.approx(1 / 3)


def test_macro_f1_is_that_of_scikit_learn_over_the_classes_that_there_are() -> None:
    rng = np.random.default_rng(1)
    for n_classes in (2, 3, 7):
        for _ in range(30):
            codes, best = rng.integers(n_classes, size=(2, 20))
            times = rng.multinomial(20, np.full(20, 1 / 20), size=3)
            values = MacroF1().shortfalls(best, codes, range(n_classes), times.astype(float))
            for own, value in zip(times, values, strict=True):
                actual, predicted = np.repeat(codes, own), np.repeat(best, own)
                there = np.unique(actual)
                expected = f1_score(actual, predicted, labels=there, average="macro", zero_division=0)
                assert value == pytest.approx(1 - expected, abs=1e-12)


def drawn_units(rng: np.random.Generator, n_units: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three positions per unit that share its class and luck: codes and scores of two fits, (n_units, 3) each."""
    codes = np.repeat(rng.integers(2, size=(n_units, 1)), 3, axis=1)
    luck = rng.normal(size=(n_units, 1))
    first = 2.0 * (codes - 0.5) + luck + 0.5 * rng.normal(size=codes.shape)
    return codes, first, first + 0.7 * rng.normal(size=codes.shape)


def at_both_fits(metric: Metric, units: tuple[np.ndarray, ...], times: np.ndarray) -> np.ndarray:
    """Shortfalls of both fits, (2, n_times); `times` of units, or of positions."""
    codes, *fits = units
    of_positions = times if times.shape[1] == codes.size else np.repeat(times, 3, axis=1)
    return np.stack(
        [
            metric.shortfalls(metric.seen(Scored(fit.ravel()), CLASSES), codes.ravel(), CLASSES, of_positions)
            for fit in fits
        ]
    )


@pytest.mark.parametrize(
    "metric", [MacroF1(), RateAtLevel("recall", "spam", 0.7), RateAtLevel("precision", "spam", 0.8)]
)
def test_the_covariance_of_resamples_is_that_of_fresh_pilots(metric: Metric) -> None:
    """Each entry within 4.9 standard errors of both sides, a false alarm in a million.

    A variance from D fresh pilots is known to sqrt(2 / D) of itself. Resamples of positions, which forget that those
    of one unit share their luck, must fail.
    """
    n_units, n_pilots = 150, 1500
    rng = np.random.default_rng(3)
    fresh = np.stack(
        [at_both_fits(metric, drawn_units(rng, n_units), np.ones((1, n_units)))[:, 0] for _ in range(n_pilots)]
    )
    truth = np.cov(fresh.T)
    by_units, by_positions = [], []
    for seed in range(60):
        units = drawn_units(rng, n_units)
        resampled = at_both_fits(metric, units, resampled_times(n_units, seed)[1:])
        by_units.append(resampled_covariance(resampled, n_units))
        alone = at_both_fits(metric, units, resampled_times(3 * n_units, seed)[1:])
        by_positions.append(resampled_covariance(alone, 3 * n_units))
    allowed = norm.isf(FALSE_ALARM / 2) * np.sqrt(2 / n_pilots) * np.sqrt(np.outer(*2 * [np.diag(truth)]))
    for own, holds in ((by_units, True), (by_positions, False)):
        mean, noise = np.mean(own, axis=0), np.std(own, axis=0) / np.sqrt(len(own))
        is_near = np.abs(mean - truth) < allowed + norm.isf(FALSE_ALARM / 2) * noise
        assert is_near.all() == holds, mean / truth


def test_fits_that_are_sure_to_another_degree_share_a_threshold_as_shares_of_the_data() -> None:
    """Scores of one fit are ten times those of another: ranked among the same others, they are the same."""
    odds, others = np.array([-1.0, 0.5, 2.0]), np.linspace(-3, 3, 100)
    metric = RateAtLevel("recall", "spam", 0.9)
    plain = metric.seen(Scored(odds), CLASSES, Scored(others))
    sure = metric.seen(Scored(10 * odds), CLASSES, Scored(10 * others))
    np.testing.assert_allclose(plain, sure, atol=0.5 / 100)
    assert (np.diff(plain) > 0).all()
    assert np.abs(metric.seen(Scored(odds), CLASSES) - metric.seen(Scored(10 * odds), CLASSES)).max() > 1


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("macro-F1", "macro_f1"),
        ("Macro F1", "macro_f1"),
        ("recall of spam at precision 90%", "recall of spam at precision 0.9"),
        ("Precision of 'a/b at c' at recall of .8", "precision of a/b at c at recall 0.8"),
        ("recall of B-NP at precision 1", "recall of B-NP at precision 1"),
    ],
)
def test_names_of_metrics_are_read(text: str, spec: str) -> None:
    metric = metric_of(text)
    assert metric is not None
    assert metric.spec == spec
    assert metric_of(metric.spec) == metric


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recall", "at a level of the other"),
        ("recall of spam", "at a level of the other"),
        ("recall of spam at recall 90%", "at a level of the other"),
        ("recall of spam at precision 90", "written 90% or 0.9"),
        ("recall of spam at precision 0%", "above 0 %"),
        ("recall of spam at precision 1.2.3", "not a number"),
    ],
)
def test_half_a_metric_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        metric_of(text)


def test_too_few_examples_of_a_class_and_unknown_classes_are_refused() -> None:
    codes, owner = np.array([0] * 20 + [1] * (FEWEST_OF_CLASS - 1)), np.arange(19 + FEWEST_OF_CLASS)
    metric = RateAtLevel("recall", "spam", 0.9)
    with pytest.raises(InvalidInputError, match="from 4 labeled examples of the class"):
        pilot_units(metric, codes, owner, CLASSES)
    assert pilot_units(metric, np.append(codes, 1), np.append(owner, 99), CLASSES) == FEWEST_OF_CLASS
    with pytest.raises(InvalidInputError, match="'eggs' was asked for, which is none of the classes: ham, spam"):
        pilot_units(RateAtLevel("recall", "eggs", 0.9), codes, owner, CLASSES)


def test_macro_f1_hangs_on_the_rarest_class_and_a_rate_on_its_own() -> None:
    # Two positions per unit: of the third class there are three in two units, of the fourth none.
    codes, owner = np.array([0] * 8 + [1] * 6 + [2, 2, 2, -1]), np.repeat(np.arange(9), 2)
    classes = ("a", "b", "c", "d")
    assert MacroF1().n_examples(codes, owner, classes) == 2
    assert RateAtLevel("recall", "b", 0.9).n_examples(codes, owner, classes) == 3


@pytest.fixture(scope="module")
def basis() -> ForecastBasis:
    samples = documents(240)
    name = str(samples.evidence.classes[1])
    metrics = [MacroF1(), RateAtLevel("recall", name, 0.7)]
    return forecast_basis(
        document_learner(samples), keep_labels(samples, np.arange(60)), 180, metrics=metrics, workers=1
    )


def test_metrics_stand_beside_the_error_and_are_kept_with_it(basis: ForecastBasis) -> None:
    again = ForecastBasis.from_dict(basis.to_dict())
    assert again.to_dict() == basis.to_dict()
    assert basis.n_tested("error") == basis.n_tested("macro_f1") == 60
    (rate,) = (name for name in basis.metric_units if name != "macro_f1")
    assert 0 < basis.n_tested(rate) < 60
    for measure in ("macro_f1", rate):
        sizes = np.array([60, 120, 180])
        now, later = (calibrate(own, "labels-only", measure, sizes).quantiles(0.95) for own in (basis, again))
        np.testing.assert_array_equal(now, later)
        assert ((now > 0) & (now < 1)).all()


def test_metrics_have_wider_spreads_than_the_error() -> None:
    for kind in TUNED:
        error = constants_of(kind, "error")
        assert error is TUNED[kind]["error"]
        usual = TUNED["linear"]["metric"]  # One for all kinds.
        for name in ("macro_f1", "recall of a at precision 0.9", "precision of a at recall 0.5"):
            own, times = constants_of(kind, name), METRIC_SPREADS[metric_of(name).kind]
            for spread in ("level_sd", "tilt_sd", "drift_sd", "ahead_sd"):
                assert getattr(own, spread) == pytest.approx(times * getattr(usual, spread))
            assert own.level_sd > error.level_sd
            assert own.drift_sd > error.drift_sd
            assert own.ahead_sd > error.ahead_sd
            assert own.tilt_mean == error.tilt_mean


def test_a_replicate_without_a_unit_of_the_class_counts_nothing(basis: ForecastBasis) -> None:
    (rate,) = (name for name in basis.metric_units if name != "macro_f1")
    key = next(key for key in basis.simulated if key[-1] == rate)
    own = basis.simulated[key]
    values = np.vstack([own.values, np.full((1, own.values.shape[1]), np.nan)])
    more = type(own)(own.sizes, values, np.append(own.n_tested, 0.0))
    np.testing.assert_allclose(interpolated(rate, more, own.sizes), interpolated(rate, own, own.sizes))
    none = type(own)(own.sizes, np.zeros_like(own.values), own.n_tested)
    n_tested = own.n_tested.sum()
    np.testing.assert_allclose(
        from_scale(rate, interpolated(rate, none, own.sizes)), 0.5 / (n_tested + 1), rtol=1e-12
    )
    assert interpolated(rate, none, own.sizes)[0] == pytest.approx(logit(0.5 / (n_tested + 1)))
