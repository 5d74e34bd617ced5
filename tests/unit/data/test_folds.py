import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.folds import labeled_folds
from labelworth.errors import InvalidInputError, LabelworthWarning


def pool(sizes: tuple[int, ...] = (7, 12, 4), n_unlabeled: int = 10) -> Evidence:
    labels: list[object] = [code for code, size in enumerate(sizes) for _ in range(size)]
    labels += [-1] * n_unlabeled + [[0, 1]] * 3
    np.random.default_rng(1).shuffle(labels)
    return encode_labels(labels)


def test_every_gold_row_is_tested_once_and_no_other_ever() -> None:
    evidence = pool()
    folds = labeled_folds(evidence, 4, np.random.default_rng(0))
    tested = np.concatenate([fold.test for fold in folds])
    np.testing.assert_array_equal(np.sort(tested), np.flatnonzero(evidence.is_gold))
    for fold in folds:
        np.testing.assert_array_equal(np.sort(np.concatenate([fold.train, fold.test])), np.arange(evidence.n_samples))
        assert np.isin(np.flatnonzero(~evidence.is_gold), fold.train).all()


@pytest.mark.parametrize("n_folds", [2, 3, 5, 10])
def test_classes_and_folds_are_dealt_evenly(n_folds: int) -> None:
    evidence = pool()
    folds = labeled_folds(evidence, n_folds, np.random.default_rng(0))
    per_fold = np.array([evidence.take(fold.test).label_counts() for fold in folds])
    assert (np.ptp(per_fold, axis=0) <= 1).all()
    assert np.ptp(per_fold.sum(axis=1)) <= 1
    for fold in folds:
        assert (evidence.take(fold.train).label_counts() > 0).all()


def test_the_seed_decides() -> None:
    evidence = pool()
    first, again, other = (labeled_folds(evidence, 3, np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert all(np.array_equal(a.test, b.test) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a.test, b.test) for a, b in zip(first, other, strict=True))


def test_a_class_with_one_label_stays_in_training_and_a_warning_says_so() -> None:
    evidence = pool((5, 5, 1))
    with pytest.warns(LabelworthWarning, match=r"1 class\(es\) with a single label \(2\).*not tested"):
        folds = labeled_folds(evidence, 5, np.random.default_rng(0))
    lonely = int(np.flatnonzero(evidence.codes == 2)[0])
    assert all(lonely in fold.train for fold in folds)


def test_too_few_labels_are_refused_with_the_number_there_is() -> None:
    with pytest.raises(InvalidInputError, match=r"5 folds need at least 5 labeled rows.*Got 4"):
        labeled_folds(pool((2, 2)), 5, np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="Got 0"):
        labeled_folds(encode_labels([-1, -1]), 2, np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="at least 2 folds"):
        labeled_folds(pool(), 1, np.random.default_rng(0))


def test_scikit_learn_accepts_the_folds() -> None:
    y = np.array([0, 1, -1] * 10)
    features = np.zeros((30, 1))
    folds = [(fold.train, fold.test) for fold in labeled_folds(encode_labels(y), 5, np.random.default_rng(0))]
    scores = cross_val_score(DummyClassifier(strategy="constant", constant=0), features, y, cv=folds)
    assert scores.tolist() == [0.5] * 5  # unlabeled rows, a third of all, are never scored
    search = GridSearchCV(DummyClassifier(strategy="constant"), {"constant": [0, 1]}, cv=folds)
    assert search.fit(features, y).best_score_ == 0.5
