import json

import numpy as np
import pytest

import labelworth as lw
from labelworth.criteria.information import document_information
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import over_fractions
from labelworth.models.classes.multinomial import MultinomialModel
from support.small_models import drawn_multinomial

MODEL = drawn_multinomial(2, 3, {4: 1.0})


def test_every_point_holds_every_criterion() -> None:
    table = document_information(MODEL, labeled_fractions=[1.0, 0.1], n_samples=200)
    exact = enumerated_information(MODEL)
    for place, point in enumerate(table.points):
        for name in CRITERIA:
            expected = over_fractions(exact, name, np.array([1.0, 0.1]), n_samples=200).values[place]
            assert point.figures[name] == pytest.approx(expected, rel=1e-12), name
        assert point.is_identifiable
        assert not point.standard_errors


def test_the_package_offers_it() -> None:
    table = lw.information(MODEL, labeled_fractions=[0.5], n_samples=10)
    assert table.points[0].labeled_fraction == 0.5


@pytest.mark.parametrize("method", ["enumeration", "formula", "sampling"])
def test_the_answer_is_plain_json(method) -> None:
    table = document_information(MODEL, labeled_fractions=[1.0, 0.1], n_samples=200, method=method)
    answer = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert answer["method"] == method
    for point in answer["points"]:
        assert all((f"{name}_se" in point) == (method == "sampling") for name in CRITERIA)


def test_an_unidentified_point_has_no_figures_but_named_directions() -> None:
    table = document_information(drawn_multinomial(2, 2, {2: 1.0}), labeled_fractions=[0.0, 0.1], n_samples=200)
    without, with_labels = table.points
    assert not without.is_identifiable
    assert all(figure is None for figure in without.figures.values())
    assert without.weak_directions[0].relative_information == 0.0
    assert any("probabilities[" in name for name in without.weak_directions[0].parameters)
    assert with_labels.is_identifiable
    assert table.is_identifiable


def test_the_formula_names_the_same_open_directions() -> None:
    model = drawn_multinomial(2, 2, {2: 1.0})
    by_formula, by_sum = (
        document_information(model, labeled_fractions=[0.0, 0.5], n_samples=10, method=method).points
        for method in ("formula", "enumeration")
    )
    assert not by_formula[0].is_identifiable
    assert by_formula[0].weak_directions[0].parameters == by_sum[0].weak_directions[0].parameters
    assert by_formula[1].figures["total_variance"] == pytest.approx(by_sum[1].figures["total_variance"], rel=1e-8)


def test_without_labels_the_order_of_the_classes_is_said_to_be_open() -> None:
    table = document_information(MODEL, labeled_fractions=[0.0], n_samples=10)
    assert table.points[0].is_identifiable
    assert "order" in table.notes[0]


def test_sampling_that_stopped_early_says_how_many_draws_would_do() -> None:
    model = drawn_multinomial(4, 5, {2: 0.3, 3: 0.6, 5: 0.1}, seed=1)
    table = document_information(model, labeled_fractions=[0.01], n_samples=10, method="sampling", max_draws=20_000)
    assert "draws would do" in table.notes[0]


def test_words_too_rare_to_be_drawn_are_told() -> None:
    words = [[0.5, 0.5 - 1e-9, 1e-9], [0.2, 0.8 - 1e-9, 1e-9]]
    model = MultinomialModel(("a", "b"), [0.4, 0.6], words, LengthDistribution.single(2))
    table = document_information(model, labeled_fractions=[0.5], n_samples=10, method="sampling", max_draws=20_000)
    assert "too rare" in table.notes[0]


def test_matrices_carry_the_names_of_the_parameters() -> None:
    table = document_information(MODEL, labeled_fractions=[0.5], n_samples=10)
    matrices = table.matrices()
    assert matrices["parameters"] == MODEL.coordinates.names()
    np.testing.assert_allclose(
        np.array(matrices["complete"]) - 0.5 * np.array(matrices["missing"]),
        table.information_of(table.points[0]),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        np.array(matrices["complete"]) - matrices["missing"], matrices["marginal"], rtol=1e-12, atol=1e-15
    )


def test_a_large_vocabulary_has_figures_but_no_matrices() -> None:
    words = np.random.default_rng(0).dirichlet(np.full(2000, 5.0), size=2)
    model = MultinomialModel(("a", "b"), [0.2, 0.8], words, LengthDistribution.single(20))
    table = document_information(model, labeled_fractions=[0.1], n_samples=10)
    assert table.points[0].figures["total_variance"] > 0
    assert table.points[0].weak_directions is None
    with pytest.raises(InvalidInputError, match="3999 rows"):
        table.matrices()


@pytest.mark.parametrize("fractions", [[], [1.5], [-0.1], [np.nan], [[0.5]]])
def test_senseless_fractions_are_refused(fractions) -> None:
    with pytest.raises(InvalidInputError, match="fraction"):
        document_information(MODEL, labeled_fractions=fractions, n_samples=10)
