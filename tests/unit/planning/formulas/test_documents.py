"""The curve of the formulas, to stand beside a forecast by simulation."""

from dataclasses import replace

import numpy as np
import pytest

from labelworth.estimators.pools.documents import DocumentPool
from labelworth.fisher.documents.population import enumerated_information
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.planning.formulas.documents import NearbyInformation, formula_excess, why_no_excess
from labelworth.simulation.scales import Measure
from support.learners import document_learner, documents
from support.pilots import drawn_documents, true_model


@pytest.fixture(scope="module")
def given() -> DocumentPool:
    samples = documents(300, seed=4).hide(np.arange(300) >= 80)
    family = document_learner(samples).family
    return DocumentPool.of_family(family, samples)


def test_the_excess_log_loss_of_labels_alone_falls_with_their_number(given: DocumentPool) -> None:
    excess = formula_excess(given, "labels-only", "log_loss", 300.0, 0)
    assert excess is not None
    labels = np.array([10.0, 37.0, 80.0, 300.0])
    assert excess(labels) * labels == pytest.approx(np.full(4, excess(np.array([1.0]))[0]), rel=1e-9)


@pytest.mark.parametrize("measure", ["error", "log_loss"])
def test_other_documents_take_some_of_it_off_until_all_are_labeled(given: DocumentPool, measure: Measure) -> None:
    alone = formula_excess(given, "labels-only", measure, 300.0, 0)
    together = formula_excess(given, "semi-supervised", measure, 300.0, 0)
    assert alone is not None
    assert together is not None
    labels = np.array([20.0, 80.0, 200.0])
    assert (together(labels) < alone(labels)).all()
    assert together(np.array([300.0])) == pytest.approx(alone(np.array([300.0])), rel=1e-6)


def test_large_models_have_none_and_it_is_told(given: DocumentPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DocumentPool, "abilities", replace(DocumentPool.abilities, most_parameters=3))
    assert formula_excess(given, "labels-only", "error", 300.0, 0) is None
    assert f"this model has {given.n_parameters}" in why_no_excess(given)


ELSEWHERE = ((0.3, 0.3, 0.2, 0.1, 0.1), (0.05, 0.15, 0.15, 0.25, 0.4))


def largest_difference(first: np.ndarray, second: np.ndarray) -> float:
    """Relative to the largest entry."""
    return float(np.abs(first - second).max() / np.abs(second).max())


def test_a_small_model_is_enumerated() -> None:
    model = true_model()
    near = NearbyInformation.of(model, drawn_documents(20, 5, 0), np.random.default_rng(0))
    assert near.way == "enumeration"
    assert near.at(model).missing == pytest.approx(enumerated_information(model).missing)


def test_the_formula_gives_the_same_matrices() -> None:
    model = true_model()
    near = NearbyInformation(model, drawn_documents(20, 5, 0), "formula")
    exact = enumerated_information(model)
    assert near.at(model).missing == pytest.approx(exact.missing, rel=1e-8, abs=1e-10)
    assert near.at(model).complete == pytest.approx(exact.complete)


@pytest.mark.statistical
def test_weighted_draws_follow_the_parameters() -> None:
    fitted, other = true_model(), true_model(ELSEWHERE)
    drawn = fitted.sample(40_000, np.random.default_rng(1)).hide()
    near = NearbyInformation(fitted, drawn, "draws")
    assert largest_difference(near.at(fitted).missing, enumerated_information(fitted).missing) < 0.03
    exact = enumerated_information(other).missing
    assert largest_difference(near.at(other).missing, exact) < 0.03

    # Without the weights, the documents of the fit would pass for those of the other parameters.
    class Unweighted(NearbyInformation):
        @property
        def _fitted_evidence(self) -> np.ndarray:
            return np.logaddexp.reduce(other.log_joint(drawn), axis=1)

    assert largest_difference(Unweighted(fitted, drawn, "draws").at(other).missing, exact) > 0.03


def test_a_large_model_draws_its_documents() -> None:
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(40, 2.0), size=3)
    small = true_model()
    model = MultinomialModel(("a", "b", "c"), np.full(3, 1 / 3), words, small.lengths)
    near = NearbyInformation.of(model, drawn_documents(20, 5, 0), rng)
    assert near.way == "draws"
    assert near.documents.n_samples >= 20_000
    assert near.documents.evidence.is_unlabeled.all()
