"""What holds for the information of every small model."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.data.lengths import LengthDistribution
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import over_fractions
from labelworth.models.classes.multinomial import MultinomialModel

FRACTIONS = np.array([0.02, 0.3, 1.0])


@st.composite
def models(draw) -> MultinomialModel:
    n_classes, n_words, length = draw(st.integers(2, 4)), draw(st.integers(2, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # Every probability at least a hundredth of an equal share: the theory is for the interior.
    priors = 0.99 * rng.dirichlet(np.ones(n_classes)) + 0.01 / n_classes
    words = 0.99 * rng.dirichlet(np.ones(n_words), size=n_classes) + 0.01 / n_words
    return MultinomialModel(tuple(range(n_classes)), priors, words, LengthDistribution.single(length))


@settings(max_examples=40, deadline=None)
@given(models())
def test_what_is_missing_lies_between_nothing_and_everything(model) -> None:
    rules = enumerated_information(model).whitened
    assert rules.lost[0] >= -rules.tolerance
    assert rules.lost[-1] <= 1 + rules.tolerance


@settings(max_examples=40, deadline=None)
@given(models())
def test_more_labels_never_hurt_a_right_model(model) -> None:
    information = enumerated_information(model)
    for name in CRITERIA:
        values = over_fractions(information, name, FRACTIONS, n_samples=100).values
        assert np.all(np.diff(values) <= 1e-9 * np.abs(values).max()), name


@settings(max_examples=40, deadline=None)
@given(models(), st.randoms(use_true_random=False))
def test_the_names_of_classes_and_words_do_not_matter(model, random) -> None:
    classes, words = list(range(len(model.classes))), list(range(model.n_features))
    random.shuffle(classes)
    random.shuffle(words)
    renamed = MultinomialModel(
        model.classes,
        model.class_probabilities[classes],
        model.word_probabilities[np.ix_(classes, words)],
        model.lengths,
    )
    one, other = enumerated_information(model), enumerated_information(renamed)
    for name in CRITERIA:
        np.testing.assert_allclose(
            over_fractions(one, name, FRACTIONS, n_samples=100).values,
            over_fractions(other, name, FRACTIONS, n_samples=100).values,
            rtol=1e-7,
            err_msg=name,
        )
