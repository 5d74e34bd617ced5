from pathlib import Path

import numpy as np
import pytest

import labelworth as lw
from labelworth.criteria import at_fit
from labelworth.criteria.at_fit import information_at_fit
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import fit
from labelworth.fisher.documents.observed import observed_information
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel


def drawn(n_words: int, n_samples: int, length: int = 20, n_classes: int = 3, seed: int = 0) -> Samples:
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(n_words, 0.3), n_classes) * 0.99 + 0.01 / n_words
    model = MultinomialModel(
        tuple(range(n_classes)), rng.dirichlet(np.full(n_classes, 5.0)), words, LengthDistribution.single(length)
    )
    samples = model.sample(n_samples, rng)
    return samples.hide(rng.random(n_samples) > 0.2)


def test_a_small_model_gets_the_observed_matrices_at_its_fixed_point() -> None:
    samples = drawn(8, 300)
    family = MultinomialFamily.for_samples(samples, smoothing=0.5)
    rough = fit(family, samples, tolerance=1e-3)
    table = information_at_fit(rough.model, family, samples, labeled_fractions=[0.5, 1.0])
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
    family = MultinomialFamily.for_samples(samples, smoothing=0.5)
    table = information_at_fit(fit(family, samples).model, family, samples)
    assert table.method == "matrix-free"
    assert table.n_parameters == 3 * 599 + 2
    losses = np.array([point.figures["excess_log_loss"] for point in table.points])
    errors = np.array([point.standard_errors["excess_log_loss"] for point in table.points])
    assert (np.diff(losses) < 0).all()
    assert (errors < 0.05 * losses).all()
    assert "worst_direction" not in table.points[0].figures
    with pytest.raises(InvalidInputError, match="the matrix-free way does without them"):
        table.matrices()


def test_a_classifier_answers_for_the_rows_it_was_fitted_to() -> None:
    samples = drawn(600, 1500)
    classifier = lw.MultinomialNaiveBayes(alpha=0.5).fit(samples.counts, samples.evidence.codes)
    table = classifier.information(samples.counts, samples.evidence.codes, labeled_fractions=[0.5, 1.0])
    assert table.method == "matrix-free"
    assert [point.labeled_fraction for point in table.points] == [0.5, 1.0]
    with pytest.raises(InvalidInputError, match="X has 599 features"):
        classifier.information(samples.counts[:, 1:], samples.evidence.codes)


def test_a_loaded_classifier_answers_as_the_fitted_one(tmp_path: Path) -> None:
    samples = drawn(8, 300)
    data = samples.counts, samples.evidence.codes
    classifier = lw.MultinomialNaiveBayes().fit(*data)
    classifier.save(tmp_path / "model.lw")
    tables = [one.information(*data) for one in (classifier, lw.load(tmp_path / "model.lw"))]
    assert tables[0].to_dict() == tables[1].to_dict()


@pytest.mark.statistical
def test_probes_agree_with_the_matrices_within_their_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """30 sets of 20 probes; by Student's t with 19 degrees of freedom 7.2 is passed once in 1e6 x 30."""
    samples = drawn(80, 400, length=4)
    family = MultinomialFamily.for_samples(samples, smoothing=0.5)
    model = fit(family, samples).model
    exact = information_at_fit(model, family, samples, labeled_fractions=[0.3]).points[0].figures
    monkeypatch.setattr(at_fit, "DENSE_LIMIT", 0)
    worst, squares = 0.0, []
    for seed in range(30):
        point = information_at_fit(model, family, samples, labeled_fractions=[0.3], seed=seed).points[0]
        for name in ("total_variance", "excess_log_loss", "unlabeled_per_labeled_example"):
            z = (point.figures[name] - exact[name]) / point.standard_errors[name]
            worst = max(worst, abs(z))
            squares.append(z**2)
    assert worst < 7.2
    assert np.mean(squares) < 2.5


def test_few_probes_are_told_with_how_many_would_do() -> None:
    samples = drawn(600, 400, length=4)
    family = MultinomialFamily.for_samples(samples, smoothing=0.5)
    table = information_at_fit(fit(family, samples).model, family, samples, n_probes=2)
    assert "2 probes leave a figure uncertain by" in table.notes[0]


def test_what_the_observed_information_cannot_answer_is_refused() -> None:
    samples = drawn(8, 300)
    family = MultinomialFamily.for_samples(samples, smoothing=0.5)
    model = fit(family, samples).model
    with pytest.raises(InvalidInputError, match=r"from 0\.2"):
        information_at_fit(model, family, samples, labeled_fractions=[0.01])
    with pytest.raises(InvalidInputError, match="must not be empty"):
        information_at_fit(model, family, samples, labeled_fractions=[])
    with pytest.raises(NotIdentifiableError, match="No row is labeled"):
        information_at_fit(model, family, samples.hide())


def test_a_classifier_says_what_is_missing_from_the_question() -> None:
    samples = drawn(8, 300)
    data = samples.counts, samples.evidence.codes
    weighted = lw.MultinomialNaiveBayes(unlabeled_weight=0.5).fit(*data)
    with pytest.raises(InvalidInputError, match=r"unlabeled_weight 0\.5"):
        weighted.information(*data)
    classifier = lw.MultinomialNaiveBayes().fit(*data)
    for question in ({"X": data[0]}, {"y": data[1]}):
        with pytest.raises(InvalidInputError, match="both X and y"):
            classifier.information(**question)
    with pytest.raises(InvalidInputError, match="give its model_"):
        lw.information(classifier, labeled_fractions=[1.0], n_samples=10)
