import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.choice import choose
from labelworth.fisher.documents.population import LABEL_OR_NOT, DocumentPopulation
from labelworth.models.classes.bernoulli import BernoulliModel
from labelworth.models.classes.multinomial import MultinomialModel
from support.small_models import drawn_multinomial

FRACTIONS = [1.0, 0.1]


def chosen(model, method="auto"):
    return choose(DocumentPopulation(model), LABEL_OR_NOT, FRACTIONS, method, np.random.default_rng(0))


def test_small_models_are_enumerated() -> None:
    choice = chosen(drawn_multinomial(2, 3, {4: 1.0}))
    assert choice.information.method == "enumeration"
    assert "15 distinct" in choice.reason


def test_two_classes_of_many_words_have_a_formula() -> None:
    choice = chosen(drawn_multinomial(2, 30, {40: 1.0}))
    assert choice.information.method == "formula"


def test_more_classes_of_many_words_are_sampled() -> None:
    choice = chosen(drawn_multinomial(3, 12, {20: 1.0}))
    assert choice.information.method == "sampling"
    assert "3 classes" in choice.reason


@pytest.mark.parametrize("method", ["enumeration", "formula", "sampling"])
def test_a_method_asked_for_is_used(method) -> None:
    choice = chosen(drawn_multinomial(2, 3, {4: 1.0}), method)
    assert choice.information.method == method
    assert choice.reason == "asked for"


def test_the_formula_needs_two_classes() -> None:
    with pytest.raises(InvalidInputError, match="two classes"):
        chosen(drawn_multinomial(3, 3, {4: 1.0}), "formula")


def test_the_formula_needs_documents() -> None:
    model = BernoulliModel(("a", "b"), [0.5, 0.5], [[0.2, 0.4], [0.3, 0.9]])
    with pytest.raises(InvalidInputError, match="multinomial models with two classes"):
        chosen(model, "formula")


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="enumeration, formula, sampling"):
        chosen(drawn_multinomial(2, 3, {4: 1.0}), "guess")


def test_one_word_leaves_only_the_class_probabilities() -> None:
    model = MultinomialModel(("a", "b"), [0.3, 0.7], [[1.0], [1.0]], LengthDistribution.single(3))
    assert chosen(model).information.n_parameters == 1
