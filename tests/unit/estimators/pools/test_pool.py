"""The public door through which plans get what they need of an estimator."""

import numpy as np
import pytest

import labelworth as lw
from labelworth.errors import NotIdentifiableError
from labelworth.estimators.kinds import KINDS
from labelworth.estimators.reading import pool_of
from labelworth.models.classes.multinomial import MultinomialFamily

X = np.array([[3, 0, 1], [0, 3, 1], [2, 0, 2], [0, 4, 0], [1, 0, 3], [0, 2, 2]])
Y = ["a", "b", "a", "b", None, None]
SENTENCES = [["the", "cat", "sleeps"], ["the", "dog"], ["a", "cat", "runs", "now"]]
TAGS = [["D", "N", "V"], ["D", None], None]


def test_a_pool_of_rows_has_one_position_each() -> None:
    pool = lw.MultinomialNaiveBayes().pool(X, Y)
    assert dict(pool.lengths.items()) == {1: 1.0}
    assert (pool.n_samples, pool.n_labeled, pool.n_labels, pool.n_unlabeled) == (6, 4, 4, 2)
    assert pool.is_labeled.tolist() == [True] * 4 + [False] * 2
    assert pool.n_parameters == 1 + 2 * 2
    assert pool.tokens_per_position == 4
    assert not pool.is_conditional


def test_a_pool_of_sequences_counts_tokens() -> None:
    pool = lw.HiddenMarkov(rare_words="none").pool(SENTENCES, TAGS)
    assert dict(pool.lengths.items()) == pytest.approx({2: 1 / 3, 3: 1 / 3, 4: 1 / 3})
    assert (pool.n_samples, pool.n_labeled, pool.n_labels, pool.n_unlabeled) == (3, 2, 4, 1)
    assert pool.is_whole.tolist() == [True, False]
    assert pool.abilities.rules
    assert lw.ConditionalRandomField().pool(SENTENCES, TAGS).is_conditional


@pytest.mark.parametrize("name", list(KINDS))
def test_a_pool_is_fitted_as_the_estimator_is_and_leaves_it_alone(name: str) -> None:
    kind = KINDS[name]
    given = (SENTENCES, TAGS) if kind.takes_sequences else (X, Y)
    estimator = kind.estimator()
    pool = estimator.pool(*given)
    assert not hasattr(estimator, "model_")
    fitted = kind.estimator().fit(*given).model_
    for key, table in pool.model.tables.items():
        np.testing.assert_array_equal(table, fitted.tables[key])
    again = pool_of(pool.data, None, name)
    for key, table in again.model.tables.items():
        np.testing.assert_array_equal(table, fitted.tables[key])


def test_a_family_is_fitted_to_samples_as_it_is() -> None:
    samples = lw.MultinomialNaiveBayes().pool(X, Y).data
    pool = pool_of(samples, None, MultinomialFamily.for_samples(samples))
    assert pool.model.kind == "multinomial"


def test_what_can_still_be_labeled_has_lengths_of_its_own() -> None:
    pool = lw.HiddenMarkov().pool(SENTENCES, TAGS)
    # The one sentence without a label has four tokens; all three have three in the mean.
    assert (list(pool.lengths_left.items()), pool.lengths.mean) == ([(4, 1.0)], 3.0)
    every = lw.HiddenMarkov().pool(SENTENCES[:2], [["D", "N", "V"], ["D", "N"]])
    assert list(every.lengths_left.items()) == list(every.lengths.items())


def test_classes_may_be_named_and_labels_must_not_all_be_one() -> None:
    assert lw.MultinomialNaiveBayes().pool(X, Y, classes=["b", "a"]).data.evidence.classes == ("b", "a")
    assert lw.HiddenMarkov().pool(SENTENCES, TAGS, classes=["V", "N", "D"]).model.classes == ("V", "N", "D")
    with pytest.raises(NotIdentifiableError, match="All labels say 'a'"):
        lw.MultinomialNaiveBayes().pool(X, ["a"] * 5 + [None])
    for n_labels, more, odds in ((2, 20, "about 9 in 10"), (5, 20, "about 8 in 10"), (50, 50, "about 5 in 10")):
        rows = np.ones((500, 2))
        said = rf"Label {more} more drawn at random \(`labelworth next --count {more}`\).* are {odds}, "
        with pytest.raises(NotIdentifiableError, match=said):
            lw.MultinomialNaiveBayes().pool(rows, ["a"] * n_labels + [None] * (500 - n_labels))
    with pytest.raises(NotIdentifiableError, match="Where -1 is a class, name another marker"):
        lw.MultinomialNaiveBayes().pool(np.ones((8, 2)), [1] * 5 + [-1] * 3)
    with pytest.raises(NotIdentifiableError, match=r"before\.$"):
        lw.MultinomialNaiveBayes().pool(np.ones((8, 2)), ["a"] * 5 + [None] * 3)
    with pytest.raises(NotIdentifiableError, match="No row without a label is left"):
        lw.MultinomialNaiveBayes().pool(X, ["a"] * 6)
    with pytest.raises(NotIdentifiableError, match="No document is labeled"):
        lw.MultinomialNaiveBayes().pool(X, [None] * 6, classes=["a", "b"])
    with pytest.raises(NotIdentifiableError, match="No token is labeled"):
        lw.HiddenMarkov(classes=["D", "N"]).pool(SENTENCES, [None] * 3)
