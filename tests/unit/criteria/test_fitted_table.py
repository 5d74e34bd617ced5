import numpy as np
import pytest

import labelworth as lw
from labelworth.criteria.fitted_table import information_at_fit
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import fit
from labelworth.fisher.observed import observed_information
from labelworth.models.multinomial import MultinomialFamily, MultinomialModel


def drawn(n_words: int, n_samples: int, n_classes: int = 3, seed: int = 0) -> Samples:
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(n_words, 0.3), n_classes) * 0.99 + 0.01 / n_words
    model = MultinomialModel(
        tuple(range(n_classes)), rng.dirichlet(np.full(n_classes, 5.0)), words, LengthDistribution.single(20)
    )
    samples = model.sample(n_samples, rng)
    return samples.hide(rng.random(n_samples) > 0.2)


def test_a_small_model_gets_the_observed_matrices_at_its_fixed_point() -> None:
    samples = drawn(8, 300)
    family = MultinomialFamily.for_samples(samples, smoothing=0.5)
    rough = fit(family, samples, tolerance=1e-3)
    table = information_at_fit(rough, samples, labeled_fractions=[0.5, 1.0])
    settled = fit(family, samples, tolerance=1e-13, max_iterations=20_000)
    dense = observed_information(settled.model, samples, settled.family.prior_curvature(settled.model))
    for point in table.points:
        covariance = np.linalg.inv(dense.at(point.labeled_fraction)) / samples.n_samples
        jacobian = settled.model.coordinates.jacobian()
        expected = np.trace(jacobian @ covariance @ jacobian.T)
        assert point.figures["total_variance"] == pytest.approx(expected, rel=1e-4)
    assert table.method == "observed"
    assert table.n_samples == samples.n_samples


def test_a_model_too_large_for_matrices_is_asked_through_probes() -> None:
    samples = drawn(600, 1500)
    fitted = fit(MultinomialFamily.for_samples(samples, smoothing=0.5), samples)
    table = information_at_fit(fitted, samples)
    assert table.method == "matrix-free"
    assert table.curve.n_parameters == 3 * 599 + 2
    losses = np.array([point.figures["excess_log_loss"] for point in table.points])
    errors = np.array([point.standard_errors["excess_log_loss"] for point in table.points])
    assert (np.diff(losses) < 0).all()
    assert (errors < 0.05 * losses).all()
    assert "worst_direction" not in table.points[0].figures
    with pytest.raises(InvalidInputError, match="never if the information was computed without them"):
        table.matrices()


def test_a_classifier_answers_for_the_rows_it_was_fitted_to() -> None:
    samples = drawn(600, 1500)
    classifier = lw.MultinomialNaiveBayes(alpha=0.5).fit(samples.counts, samples.evidence.codes)
    table = classifier.information(samples.counts, samples.evidence.codes, labeled_fractions=[0.5, 1.0])
    assert table.method == "matrix-free"
    assert [point.labeled_fraction for point in table.points] == [0.5, 1.0]
    with pytest.raises(InvalidInputError, match="X has 599 features"):
        classifier.information(samples.counts[:, 1:], samples.evidence.codes)


def test_what_the_observed_information_cannot_answer_is_refused() -> None:
    samples = drawn(8, 300)
    family = MultinomialFamily.for_samples(samples, smoothing=0.5)
    with pytest.raises(InvalidInputError, match=r"unlabeled_weight 0\.5"):
        information_at_fit(fit(family, samples, unlabeled_weight=0.5), samples)
    with pytest.raises(InvalidInputError, match=r"from 0\.2"):
        information_at_fit(fit(family, samples), samples, labeled_fractions=[0.01])
    with pytest.raises(InvalidInputError, match="must not be empty"):
        information_at_fit(fit(family, samples), samples, labeled_fractions=[])
