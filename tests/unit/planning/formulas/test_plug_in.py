"""The information at a fit and near it: exact, or from the same draws with weights."""

import numpy as np
import pytest

from labelworth.fisher.documents.population import enumerated_information
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.planning.formulas.plug_in import NearbyInformation
from support.pilots import drawn_documents, true_model

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
