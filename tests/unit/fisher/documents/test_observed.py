import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import fit
from labelworth.fisher.documents.observed import observed_information
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import over_fractions
from labelworth.models.classes.multinomial import MultinomialFamily
from support.oracles import dense_evidence, enumerated_multinomial
from support.small_models import drawn_multinomial

SMOOTHING = 0.7


def partly_labeled(n_samples: int, fraction: float, seed: int = 0) -> Samples:
    model = drawn_multinomial(3, 4, {5: 1.0}, seed=4)
    samples = model.sample(n_samples, np.random.default_rng(seed))
    return samples.hide(np.arange(int(fraction * n_samples), n_samples))


def with_ambiguous_rows(samples: Samples, n_rows: int) -> Samples:
    """The last rows say "not the third class"."""
    codes = samples.evidence.codes.copy()
    codes[-n_rows:] = -2 - np.arange(n_rows)
    evidence = Evidence(codes, samples.evidence.classes, np.tile([1.0, 1.0, 0.0], (n_rows, 1)))
    return Samples(samples.features, evidence, samples.weights)


def converged(samples: Samples):
    family = MultinomialFamily.for_samples(samples, smoothing=SMOOTHING, class_smoothing=0.4)
    return fit(family, samples, tolerance=1e-13)


def numerical_hessian(fitted, samples: Samples) -> np.ndarray:
    """Minus the Hessian of the penalized log-likelihood: complex-step gradients, central differences."""
    model = fitted.model
    oracle = enumerated_multinomial(model.class_probabilities, model.word_probabilities, {5: 1.0})
    rows = oracle.rows_of(samples.counts.toarray())
    evidence = dense_evidence(samples.evidence.codes, 3, samples.evidence.weights)
    weights = samples.sample_weights

    def objective(theta: np.ndarray) -> complex:
        head, words = theta[:2], theta[2:].reshape(3, 3)
        prior = 0.4 * (np.log(head).sum() + np.log(1 - head.sum()))
        prior += SMOOTHING * (np.log(words).sum() + np.log(1 - words.sum(axis=1)).sum())
        return weights @ oracle.log_likelihood(theta, rows, evidence) + prior

    def gradient(theta: np.ndarray) -> np.ndarray:
        return np.array([objective(theta + 1e-30j * unit).imag / 1e-30 for unit in np.eye(len(theta))])

    step = 1e-6
    columns = [
        (gradient(oracle.theta + step * unit) - gradient(oracle.theta - step * unit)) / (2 * step)
        for unit in np.eye(len(oracle.theta))
    ]
    return -np.array(columns)


@pytest.mark.parametrize("kind", ["plain", "weighted", "ambiguous"])
def test_at_the_fitted_fraction_it_is_the_hessian_of_the_objective(kind) -> None:
    samples = partly_labeled(300, 0.2)
    if kind == "weighted":
        samples = samples.weighted(np.random.default_rng(1).uniform(0.5, 2.0, size=300))
    if kind == "ambiguous":
        samples = with_ambiguous_rows(samples, 30)
    fitted = converged(samples)
    curve = observed_information(fitted.model, samples, fitted.family.prior_curvature(fitted.model))
    total = samples.sample_weights.sum()
    expected = numerical_hessian(fitted, samples) / total
    np.testing.assert_allclose(
        curve.at(curve.lowest_fraction), expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max()
    )
    unseen = samples.sample_weights[samples.evidence.is_unlabeled].sum()
    assert curve.lowest_fraction == pytest.approx(1 - unseen / total, rel=1e-12)


def test_without_the_prior_it_is_not_that_hessian() -> None:
    """The negative control: the prior matters at this size."""
    samples = partly_labeled(300, 0.2)
    fitted = converged(samples)
    curve = observed_information(fitted.model, samples, np.zeros((11, 11)))
    expected = numerical_hessian(fitted, samples) / 300
    assert np.abs(curve.at(0.2) / expected - 1).max() > 0.01


def test_larger_fractions_are_valid_and_smaller_ones_refused() -> None:
    samples = partly_labeled(300, 0.2)
    fitted = converged(samples)
    curve = observed_information(fitted.model, samples, fitted.family.prior_curvature(fitted.model))
    assert np.all(np.diff(over_fractions(curve, "total_variance", np.linspace(0.2, 1, 9)).values) < 0)
    with pytest.raises(InvalidInputError, match=r"from 0\.2 up"):
        over_fractions(curve, "total_variance", np.array([0.19]))


def test_far_from_a_maximum_it_is_refused() -> None:
    """At a saddle, all classes alike, more likelihood lies in opposite directions."""
    samples = partly_labeled(400, 0.0).hide()
    model = drawn_multinomial(3, 4, {5: 1.0}, seed=4)
    pooled = np.asarray(samples.counts.sum(axis=0)).ravel() / samples.counts.sum()
    saddle = model.with_tables(
        {"class_probabilities": np.full((1, 3), 1 / 3), "word_probabilities": np.tile(pooled, (3, 1))}
    )
    with pytest.raises(NotIdentifiableError, match="let the fit converge"):
        observed_information(saddle, samples, np.zeros((11, 11)))


def test_with_many_samples_it_approaches_the_expected_information() -> None:
    samples = partly_labeled(60_000, 0.3, seed=5)
    fitted = converged(samples)
    curve = observed_information(fitted.model, samples, fitted.family.prior_curvature(fitted.model))
    expected = enumerated_information(fitted.model)
    fractions = np.array([0.3, 1.0])
    np.testing.assert_allclose(
        over_fractions(curve, "total_variance", fractions).values,
        over_fractions(expected, "total_variance", fractions).values,
        rtol=0.03,
    )


def test_fully_labeled_samples_have_nothing_missing() -> None:
    samples = partly_labeled(200, 1.0)
    fitted = converged(samples)
    curve = observed_information(fitted.model, samples, fitted.family.prior_curvature(fitted.model))
    assert curve.lowest_fraction == 1.0
    assert not curve.missing.any()
