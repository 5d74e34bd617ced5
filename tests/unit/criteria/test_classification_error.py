from dataclasses import replace

import numpy as np
import pytest

from labelworth.criteria import classification_error
from labelworth.criteria.classification_error import Inputs, excess_error, expected_losses, variances_of
from labelworth.data.lengths import LengthDistribution
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import of_fraction, over_fractions
from labelworth.models.classes.multinomial import MultinomialModel
from support.oracles import enumerated_multinomial
from support.small_models import drawn_multinomial
from support.statistical import assert_mean_is

FRACTIONS = np.array([1.0, 0.2])
TWO = MultinomialModel(("a", "b"), [0.45, 0.55], [[0.5, 0.3, 0.2], [0.3, 0.35, 0.35]], LengthDistribution.single(4))


def realized_losses(model: MultinomialModel, covariance: np.ndarray, n_draws: int, seed: int) -> np.ndarray:
    """Excess error of each drawn estimate: the real classifier of the real parameters, on every document."""
    lengths = dict(model.lengths.items())
    oracle = enumerated_multinomial(model.class_probabilities, model.word_probabilities, lengths)
    rng = np.random.default_rng(seed)
    errors = rng.multivariate_normal(np.zeros(len(oracle.theta)), covariance, size=n_draws)
    best = oracle.joint.max(axis=1).sum()
    rows = np.arange(len(oracle.joint))
    return np.array(
        [best - oracle.joint[rows, oracle.joint_at(oracle.theta + error).argmax(axis=1)].sum() for error in errors]
    )


@pytest.mark.statistical
@pytest.mark.parametrize("place", [0, 1])
def test_two_classes_equal_what_drawn_parameters_lose(place) -> None:
    """False-alarm rate 1e-6; 10 % for the curvature of the log-odds at this size."""
    information = enumerated_information(TWO)
    predicted = excess_error(TWO, information, 4000, FRACTIONS, np.random.default_rng(0))
    assert predicted.standard_errors is None
    losses = realized_losses(TWO, information.covariance(4000 * of_fraction(FRACTIONS[place])), 20_000, seed=place)
    value = predicted.values[place]
    assert_mean_is(losses, value, model_tolerance=0.1 * value)
    with pytest.raises(AssertionError):
        assert_mean_is(losses, 1.5 * value, model_tolerance=0.1 * value)


@pytest.mark.statistical
def test_more_classes_equal_what_drawn_parameters_lose() -> None:
    """False-alarm rate 1e-6 for the simulation; the prediction's own error and 10 % of curvature are allowed for."""
    model = drawn_multinomial(3, 3, {4: 1.0}, seed=3)
    information = enumerated_information(model)
    predicted = excess_error(model, information, 1500, np.array([0.3]), np.random.default_rng(0), n_draws=40_000)
    losses = realized_losses(model, information.covariance(1500 * of_fraction(0.3)), 10_000, seed=2)
    value, own = predicted.values[0], 5 * predicted.standard_errors[0]
    assert own < 0.2 * value
    assert_mean_is(losses, value, model_tolerance=0.1 * value + own)
    with pytest.raises(AssertionError):
        assert_mean_is(losses, 1.5 * value, model_tolerance=0.1 * value + own)


@pytest.mark.statistical
def test_draws_agree_with_the_formula_of_two_classes() -> None:
    """Five standard errors: a rate of 6e-7."""
    information = enumerated_information(TWO)
    exact = excess_error(TWO, information, 2000, FRACTIONS, np.random.default_rng(0)).values
    variances = [variances_of(information, 2000 * of_fraction(fraction)) for fraction in FRACTIONS]
    draws = np.random.default_rng(1).standard_normal((information.n_parameters, 50_000))
    losses, _ = expected_losses(TWO, Inputs.enumerated(TWO, 1000), information, variances, draws)
    errors = losses.std(axis=1, ddof=1) / np.sqrt(losses.shape[1])
    assert np.all(errors < 0.02 * exact)
    assert np.all(np.abs(losses.mean(axis=1) - exact) <= 5 * errors)


@pytest.mark.statistical
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sampled_documents_agree_with_all_of_them(n_classes, monkeypatch) -> None:
    """Five joint standard errors: a rate of 6e-7."""
    model = TWO if n_classes == 2 else drawn_multinomial(3, 3, {4: 1.0}, seed=3)
    information = enumerated_information(model)
    exact = excess_error(model, information, 300, FRACTIONS, np.random.default_rng(0), n_draws=4000)
    monkeypatch.setattr(classification_error, "_ENUMERATION_LIMIT", 0)
    sampled = excess_error(model, information, 300, FRACTIONS, np.random.default_rng(1), n_draws=400)
    own = np.zeros(2) if exact.standard_errors is None else exact.standard_errors
    assert np.all(sampled.standard_errors < 0.2 * sampled.values)
    assert np.all(np.abs(sampled.values - exact.values) <= 5 * np.hypot(own, sampled.standard_errors))


def test_the_error_of_sampled_information_is_passed_on() -> None:
    exact = enumerated_information(TWO)
    missing = exact.missing * np.array([0.97, 1.0, 1.03])[:, None, None]
    batches = np.stack([np.broadcast_to(exact.complete, missing.shape), exact.complete - missing], axis=1)
    noisy = replace(exact, batches=batches)
    figure = excess_error(TWO, noisy, 300, FRACTIONS, np.random.default_rng(0))
    loss = over_fractions(noisy, "excess_log_loss", FRACTIONS, n_samples=300)
    np.testing.assert_allclose(figure.standard_errors / figure.values, loss.standard_errors / loss.values, rtol=1e-12)


def test_more_labels_and_more_samples_lower_the_error() -> None:
    information = enumerated_information(TWO)
    few = excess_error(TWO, information, 300, np.linspace(0.05, 1, 8), np.random.default_rng(0)).values
    many = excess_error(TWO, information, 3000, np.linspace(0.05, 1, 8), np.random.default_rng(0)).values
    assert np.all(np.diff(few) < 0)
    assert np.all(many < few)
