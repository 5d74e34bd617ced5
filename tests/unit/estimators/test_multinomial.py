from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from labelworth import DidNotConvergeWarning, InvalidInputError, MultinomialNaiveBayes, load
from labelworth.data.evidence import encode_labels
from labelworth.data.samples import Samples

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 40)
X = RNG.poisson(np.array([[9.0, 3, 3, 3], [3, 9, 3, 3], [3, 3, 9, 3]])[Y])
HIDDEN = np.where(np.arange(120) % 4 == 0, Y, -1)


def test_labels_alone_give_scikit_learns_naive_bayes() -> None:
    ours = MultinomialNaiveBayes(alpha=0.5, class_smoothing=0.0).fit(X, Y, sample_weight=1 + Y)
    theirs = MultinomialNB(alpha=0.5).fit(X, Y, sample_weight=1 + Y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)


def test_unlabeled_rows_change_the_fit_and_help_where_the_model_is_right() -> None:
    alone = MultinomialNaiveBayes(unlabeled_weight=0.0).fit(X, HIDDEN)
    together = MultinomialNaiveBayes().fit(X, HIDDEN)
    assert together.n_iter_ > 1
    assert together.converged_
    assert not np.allclose(alone.predict_proba(X), together.predict_proba(X))
    assert together.score(X, Y) > 0.8


def test_score_leaves_unlabeled_rows_out() -> None:
    fitted = MultinomialNaiveBayes().fit(X, Y)
    wrong = np.where(fitted.predict(X) == Y, Y, -1)
    assert fitted.score(X, wrong) == 1.0
    assert fitted.score(X, Y) < 1.0


def test_nothing_to_score_against_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="No row has a label"):
        MultinomialNaiveBayes().fit(X, Y).score(X, np.full(120, -1))


def test_a_document_length_makes_the_sizes_of_documents_irrelevant() -> None:
    scaled = X * RNG.integers(1, 9, 120)[:, None]
    first = MultinomialNaiveBayes(document_length=20).fit(X, HIDDEN).predict_proba(X)
    second = MultinomialNaiveBayes(document_length=20).fit(scaled, HIDDEN).predict_proba(scaled)
    np.testing.assert_allclose(first, second, rtol=1e-6)


def test_candidate_sets_are_evidence() -> None:
    y = [int(label) if row % 4 else [int(label), (int(label) + 1) % 3] for row, label in enumerate(Y)]
    assert MultinomialNaiveBayes().fit(X, y).score(X, Y) > 0.8


def test_words_never_seen_need_smoothing() -> None:
    plain = MultinomialNaiveBayes(alpha=0.0).fit([[1, 0], [2, 0]], [0, 1])
    with pytest.raises(InvalidInputError, match="alpha above 0"):
        plain.predict([[0, 1]])
    assert MultinomialNaiveBayes(alpha=1e-8).fit([[1, 0], [2, 0]], [0, 1]).predict([[0, 1]]).tolist() == [0]


def test_stopping_early_is_told() -> None:
    with pytest.warns(DidNotConvergeWarning):
        fitted = MultinomialNaiveBayes(max_iter=2, tol=1e-12).fit(X, HIDDEN)
    assert not fitted.converged_


def test_empty_documents_get_the_class_probabilities() -> None:
    fitted = MultinomialNaiveBayes().fit(X, Y)
    np.testing.assert_allclose(fitted.predict_proba(np.zeros((1, 4))), fitted.model_.class_probabilities[None])


def test_names_of_columns_are_kept() -> None:
    import pandas as pd

    fitted = MultinomialNaiveBayes().fit(pd.DataFrame(X, columns=list("abcd")), HIDDEN)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    assert fitted.model_.feature_names == tuple("abcd")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(len(Y)), "Every sample_weight is zero.*positive weight"),
        (-np.ones(len(Y)), "Negative"),
        ([1.0], "shape"),
        (np.full(len(Y), np.nan), "NaN"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        MultinomialNaiveBayes().fit(X, Y, sample_weight=weights)


def test_words_may_weigh_by_how_few_rows_hold_them(tmp_path: Path) -> None:
    """As weighting before the fit does; weights of the rows fitted on hold for others, and are kept in files."""
    rng = np.random.default_rng(0)
    counts, others = rng.poisson(0.6, (60, 8)), rng.poisson(0.6, (5, 8))
    y = np.where(np.arange(60) < 20, rng.integers(2, size=60), -1)
    weights = np.log(60 / (counts > 0).sum(axis=0))
    weighted = MultinomialNaiveBayes(word_weights="inverse-document", document_length=4).fit(counts, y)
    plain = MultinomialNaiveBayes(document_length=4).fit(counts * weights, y)
    np.testing.assert_allclose(weighted.word_weights_, weights)
    np.testing.assert_allclose(weighted.predict_proba(others), plain.predict_proba(others * weights), rtol=1e-9)
    weighted.save(tmp_path / "model.lw")
    restored = load(tmp_path / "model.lw")
    np.testing.assert_array_equal(restored.predict_proba(others), weighted.predict_proba(others))


def test_of_labels_without_a_word_refits_learn_the_shares_of_classes() -> None:
    counts = np.array([[0, 0], [0, 0], [0, 0], [2, 1], [1, 3]])
    classifier = MultinomialNaiveBayes(unlabeled_weight=0.0)
    data, learner = classifier.refits(Samples(counts, encode_labels(["a", "a", "b", "a", -1])))
    model = learner.fit(data.take(np.array([0, 1, 2, 4])))
    np.testing.assert_allclose(model.class_probabilities, [3 / 5, 2 / 5])
    np.testing.assert_allclose(np.exp(learner.predict(model, data).log_posteriors(1.0)), [[3 / 5, 2 / 5]] * 5)
    with pytest.raises(InvalidInputError, match="Every document is empty"):
        classifier.fit(counts[:3], ["a", "a", "b"])
