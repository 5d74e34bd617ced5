import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.documents.population import (
    enumerate_outcomes,
    enumerated_information,
    n_outcomes,
)
from labelworth.fisher.information import of_fraction
from labelworth.models.classes.bernoulli import BernoulliModel
from labelworth.models.classes.gaussian import GaussianModel
from labelworth.models.classes.multinomial import MultinomialModel
from support.oracles import enumerated_bernoulli, enumerated_sequences
from support.small_models import ENUMERABLE, drawn_multinomial


@pytest.mark.parametrize(("n_classes", "n_words", "lengths"), ENUMERABLE)
def test_information_equals_the_sum_over_all_sequences(n_classes, n_words, lengths) -> None:
    model = drawn_multinomial(n_classes, n_words, lengths)
    oracle = enumerated_sequences(model.class_probabilities, model.word_probabilities, lengths)
    information = enumerated_information(model)
    scale = np.abs(oracle.complete_information).max()
    np.testing.assert_allclose(information.complete, oracle.complete_information, rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(information.missing, oracle.missing_information, rtol=1e-9, atol=1e-12 * scale)
    for fraction in (1.0, 0.3, 0.01):
        np.testing.assert_allclose(
            information.at(fraction), oracle.information(fraction), rtol=1e-8, atol=1e-12 * scale
        )


def test_eigenvalues_lie_between_zero_and_one() -> None:
    for spec in ENUMERABLE:
        rules = enumerated_information(drawn_multinomial(*spec)).whitened
        assert rules.lost[0] >= -rules.tolerance
        assert rules.lost[-1] <= 1 + rules.tolerance


def test_two_words_and_two_tokens_leave_directions_that_only_labels_see() -> None:
    """Three possible documents carry at most two numbers; the model has three for two classes, seven for four."""
    for n_classes, n_open in ((2, 1), (4, 5)):
        shares, _ = enumerated_information(drawn_multinomial(n_classes, 2, {2: 1.0})).whitened.shares(
            of_fraction(0.0)
        )
        assert (shares <= 1e-10).sum() == n_open


def test_the_number_of_outcomes_is_known_beforehand() -> None:
    model = drawn_multinomial(3, 4, {3: 0.5, 5: 0.5})
    outcomes = enumerate_outcomes(model)
    assert n_outcomes(model) == outcomes.samples.n_samples == 20 + 56
    assert outcomes.probabilities.sum() == pytest.approx(1, abs=1e-12)


def test_too_many_outcomes_are_refused_with_the_alternative() -> None:
    with pytest.raises(InvalidInputError, match=r"sampling"):
        enumerated_information(drawn_multinomial(2, 30, {40: 1.0}))


def test_zero_probabilities_are_refused() -> None:
    model = MultinomialModel(("a", "b"), [0.5, 0.5], [[1.0, 0.0], [0.5, 0.5]], LengthDistribution.single(2))
    with pytest.raises(InvalidInputError, match="word_probabilities"):
        enumerated_information(model)


def test_binary_features_equal_the_sum_over_all_vectors() -> None:
    rng = np.random.default_rng(0)
    priors, features = np.array([0.2, 0.3, 0.5]), rng.uniform(0.05, 0.95, size=(3, 4))
    information = enumerated_information(BernoulliModel(("a", "b", "c"), priors, features))
    oracle = enumerated_bernoulli(priors, features)
    np.testing.assert_allclose(information.complete, oracle.complete_information, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(information.missing, oracle.missing_information, rtol=1e-9, atol=1e-11)


def test_vectors_cannot_be_enumerated() -> None:
    model = GaussianModel(("a", "b"), [0.5, 0.5], [[0.0], [1.0]], [[[1.0]]], "shared")
    with pytest.raises(InvalidInputError, match="no finite set of outcomes"):
        enumerated_information(model)


def test_long_documents_that_tell_their_class_carry_all_information_unlabeled() -> None:
    """p(x, y) of most bags is too small for a double; the posterior is not."""
    words = [[0.90, 0.05, 0.05], [0.05, 0.90, 0.05], [0.05, 0.05, 0.90]]
    model = MultinomialModel(("a", "b", "c"), [0.2, 0.3, 0.5], words, LengthDistribution.single(600))
    information = enumerated_information(model)
    complete = model.complete_information()
    np.testing.assert_allclose(information.missing, 0.0, atol=1e-12 * np.abs(complete).max())
