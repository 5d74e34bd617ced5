"""prop:efficiency1: sqrt(n) (theta_hat - theta) is asymptotically normal with covariance I(f)^-1.

False-alarm rate 1e-6 per assertion, shared by all directions; the stated tolerance is for finite n.
"""

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.estimation.fit import fit
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import of_fraction, over_fractions
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from support.oracles import enumerated_multinomial
from support.replicates import draw_replicates, estimate
from support.statistical import assert_covariance_is, assert_mean_is

pytestmark = pytest.mark.statistical

FRACTION, N_SAMPLES, N_REPLICATES = 0.2, 4000, 4000
MODEL = MultinomialModel(("a", "b"), [0.4, 0.6], [[0.6, 0.3, 0.1], [0.15, 0.25, 0.6]], LengthDistribution.single(4))
ORACLE = enumerated_multinomial(MODEL.class_probabilities, MODEL.word_probabilities, {4: 1.0})
INFORMATION = enumerated_information(MODEL)


@pytest.fixture(scope="module")
def estimates() -> np.ndarray:
    """Maximum-likelihood estimates of many experiments, (n_replicates, d)."""
    data = draw_replicates(ORACLE, N_SAMPLES, np.full(2, FRACTION), N_REPLICATES, np.random.default_rng(0))
    return estimate(data)


@pytest.fixture(scope="module")
def errors(estimates) -> np.ndarray:
    return estimates - ORACLE.theta


def test_the_covariance_of_the_estimates_is_the_inverse_information(errors) -> None:
    assert_covariance_is(errors, INFORMATION.covariance(N_SAMPLES * of_fraction(FRACTION)), model_tolerance=0.05)


def test_estimates_of_two_more_fractions_obey_it_too() -> None:
    for seed, fraction in ((1, 0.05), (2, 0.6)):
        data = draw_replicates(ORACLE, N_SAMPLES, np.full(2, fraction), 1500, np.random.default_rng(seed))
        assert_covariance_is(
            estimate(data) - ORACLE.theta,
            INFORMATION.covariance(N_SAMPLES * of_fraction(fraction)),
            model_tolerance=0.05,
        )


@pytest.mark.parametrize("wrong", ["labels only", "all labeled", "information itself"])
def test_other_formulas_are_rejected(errors, wrong) -> None:
    complete = np.linalg.inv(INFORMATION.complete)
    covariance = {
        "labels only": complete / (FRACTION * N_SAMPLES),
        "all labeled": complete / N_SAMPLES,
        "information itself": INFORMATION.at(FRACTION) / N_SAMPLES,
    }[wrong]
    with pytest.raises(AssertionError):
        assert_covariance_is(errors, covariance, model_tolerance=0.05)


def test_a_covariance_wrong_in_one_direction_only_is_rejected(errors) -> None:
    """Errors that cancel in the total are seen direction by direction."""
    values, vectors = np.linalg.eigh(INFORMATION.covariance(N_SAMPLES * of_fraction(FRACTION)))
    values = values * np.array([1.0, 1.3, 1.0, 0.7, 1.0])
    with pytest.raises(AssertionError):
        assert_covariance_is(errors, (vectors * values) @ vectors.T, model_tolerance=0.05)


def test_the_total_variance_is_the_expected_squared_error_of_the_named_tables(errors) -> None:
    named = errors @ MODEL.coordinates.jacobian().T
    predicted = over_fractions(INFORMATION, "total_variance", np.array([FRACTION]), n_samples=N_SAMPLES).values[0]
    squares = np.square(named).sum(axis=1)
    assert_mean_is(squares, predicted, model_tolerance=0.05 * predicted)
    free_only = np.trace(INFORMATION.covariance(N_SAMPLES * of_fraction(FRACTION)))
    with pytest.raises(AssertionError):
        assert_mean_is(squares, free_only, model_tolerance=0.05 * predicted)


def realized_excess(estimates: np.ndarray) -> dict[str, np.ndarray]:
    """Excess log-losses of every estimate, exactly, on every document and class."""
    joint, marginal = ORACLE.joint, ORACLE.joint.sum(axis=1)
    losses = {"joint": [], "marginal": [], "conditional": []}
    for theta in estimates:
        guess = ORACLE.joint_at(theta)
        losses["joint"].append(np.sum(joint * np.log(joint / guess)))
        losses["marginal"].append(np.sum(marginal * np.log(marginal / guess.sum(axis=1))))
        losses["conditional"].append(losses["joint"][-1] - losses["marginal"][-1])
    return {name: np.array(values) for name, values in losses.items()}


def test_excess_log_losses_are_those_the_estimates_pay(estimates) -> None:
    realized, at = realized_excess(estimates), np.array([FRACTION])
    predicted = {
        "joint": over_fractions(INFORMATION, "excess_joint_log_loss", at, n_samples=N_SAMPLES).values[0],
        "marginal": over_fractions(INFORMATION, "excess_marginal_log_loss", at, n_samples=N_SAMPLES).values[0],
        "conditional": over_fractions(INFORMATION, "excess_log_loss", at, n_samples=N_SAMPLES).values[0],
    }
    for name, values in realized.items():
        assert_mean_is(values, predicted[name], model_tolerance=0.05 * predicted[name])
    all_labeled = over_fractions(INFORMATION, "excess_log_loss", np.array([1.0]), n_samples=N_SAMPLES).values[0]
    with pytest.raises(AssertionError):
        assert_mean_is(realized["conditional"], all_labeled, model_tolerance=0.05 * all_labeled)


def test_the_fits_of_the_package_obey_it() -> None:
    """Through documents, evidence and EM; fewer experiments, so a coarser test of the same statement."""
    rng = np.random.default_rng(3)
    family = MultinomialFamily(MODEL.classes, 3, smoothing=0.0, class_smoothing=0.0, lengths=MODEL.lengths)
    found = []
    for _ in range(200):
        samples = MODEL.sample(2000, rng)
        hidden = np.flatnonzero(rng.random(2000) >= 0.3)
        fitted = fit(family, samples.hide(hidden), tolerance=1e-11)
        found.append(fitted.model.coordinates.flatten(fitted.model.tables))
    errors = np.array(found) - ORACLE.theta
    assert_covariance_is(errors, INFORMATION.covariance(2000 * of_fraction(0.3)), model_tolerance=0.05)
    with pytest.raises(AssertionError):
        assert_covariance_is(errors, INFORMATION.covariance(2000 * of_fraction(1.0)), model_tolerance=0.05)
