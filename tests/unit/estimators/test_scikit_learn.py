"""The classifiers keep scikit-learn's manners: its own checks, pipelines, searches, clones and pickles."""

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from labelworth import BernoulliNaiveBayes, GaussianClasses, InvalidInputError, MultinomialNaiveBayes
from labelworth.data.evidence import encode_labels
from labelworth.data.folds import labeled_folds

CLASSIFIERS = [
    MultinomialNaiveBayes(),
    BernoulliNaiveBayes(),
    *(GaussianClasses(covariance=covariance) for covariance in ("shared", "diagonal", "full")),
]
EXPECTED_FAILURES = {"check_classifiers_classes": "it uses -1 as a class, which here marks an unlabeled row"}

TEXTS = ["goal match team", "team goal goal", "match team", "vote law state", "law law vote", "state vote"] * 4
TOPICS = ["sport", "sport", -1, "politics", "politics", -1] * 4


def check_name(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


CHECKS = [
    pytest.param(estimator, check, id=f"{classifier!r}-{check_name(check)}")
    for classifier in CLASSIFIERS
    for estimator, check in estimator_checks_generator(classifier)
    # The array API is an opt-in of the environment, off here.
    if check_name(check) != "check_array_api_input"
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learns_own_checks_pass(estimator: Any, check: Any) -> None:
    if check_name(check) in EXPECTED_FAILURES:
        with pytest.raises(AssertionError, match="-1, 1"):
            check(estimator)
    else:
        check(estimator)


@pytest.mark.parametrize(
    ("classifier", "name"),
    [
        *((MultinomialNaiveBayes(**{name: value}), name) for name, value in [
            ("alpha", "x"), ("alpha", np.inf), ("alpha", None), ("class_smoothing", -1.0), ("document_length", 0),
            ("document_length", "x"), ("unlabeled_weight", -1), ("start_smoothing", 0), ("max_iter", 1.5),
            ("max_iter", 0), ("tol", "x"), ("n_init", 0), ("accelerate", "yes"), ("random_state", "x"),
            ("unlabeled", []),
        ]),
        (BernoulliNaiveBayes(binarize="x"), "binarize"),
        (GaussianClasses(covariance=None), "covariance"),
        (GaussianClasses(smoothing=-1.0), "smoothing"),
    ],
)  # fmt: skip
def test_a_bad_parameter_is_named_as_it_was_given(classifier: Any, name: str) -> None:
    X, y = np.array([[3.0, 0.0], [0.0, 3.0], [2.0, 1.0]]), [0, 1, -1]
    for ask in (classifier.fit, classifier.check):
        with pytest.raises(InvalidInputError, match=f"The '{name}' parameter of {type(classifier).__name__} must"):
            ask(X, y)


def test_another_marker_lets_minus_one_be_a_class() -> None:
    X = np.array([[3, 0], [0, 3], [2, 1], [1, 2]])
    classifier = MultinomialNaiveBayes(unlabeled=None).fit(X, [-1, 1, None, None])
    assert classifier.classes_.tolist() == [-1, 1]
    assert classifier.predict(X).tolist() == [-1, 1, -1, 1]


def test_a_pipeline_learns_from_text() -> None:
    pipeline = make_pipeline(CountVectorizer(), MultinomialNaiveBayes()).fit(TEXTS, TOPICS)
    assert pipeline.predict(["a goal for the team", "a vote on the law"]).tolist() == ["sport", "politics"]
    assert pipeline.score(TEXTS, TOPICS) == 1.0


def test_cross_validation_scores_labeled_rows() -> None:
    X = CountVectorizer().fit_transform(TEXTS)
    y = np.array(TOPICS, dtype=object)
    folds = labeled_folds(encode_labels(y), 4, np.random.default_rng(0))
    pairs = [(fold.train, fold.test) for fold in folds]
    scores = cross_val_score(MultinomialNaiveBayes(), X, y, cv=pairs)
    assert scores.tolist() == [1.0] * 4


def test_a_grid_search_finds_the_better_setting() -> None:
    rng = np.random.default_rng(0)
    y = np.array([0, 1] * 30)
    X = rng.poisson(np.where(y[:, None] == 0, [4.0, 1.0], [1.0, 4.0]))
    search = GridSearchCV(MultinomialNaiveBayes(), {"alpha": [1.0, 1e6]}, cv=3).fit(X, y)
    assert search.best_params_ == {"alpha": 1.0}


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_a_pickle_predicts_the_same(classifier: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(2.0, (40, 3)).astype(float), np.array([0, 1, -1, -1] * 10)
    fitted = clone(classifier).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict_proba(X), fitted.predict_proba(X))
    assert copy.get_params() == fitted.get_params()


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_labels_alone_and_a_weight_of_zero_agree(classifier: Any) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.poisson(2.0, (60, 3)).astype(float), np.array([0, 1, -1] * 20)
    alone = clone(classifier).fit(X[y >= 0], y[y >= 0])
    weightless = clone(classifier).set_params(unlabeled_weight=0.0).fit(X, y)
    np.testing.assert_allclose(weightless.predict_proba(X), alone.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_probabilities_are_bayes_rule(classifier: Any) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.poisson(2.0, (60, 3)).astype(float), np.array([0, 1, 2, -1] * 15)
    fitted = clone(classifier).fit(X, y)
    probabilities = fitted.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.log(probabilities), fitted.predict_log_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(fitted.classes_[probabilities.argmax(axis=1)], fitted.predict(X))


def test_sparse_and_dense_counts_agree() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.poisson(0.7, (50, 6)), np.array([0, 1, -1, -1, -1] * 10)
    dense = MultinomialNaiveBayes().fit(X, y).predict_proba(X)
    sparse = MultinomialNaiveBayes().fit(sp.csc_matrix(X), y).predict_proba(sp.coo_array(X))
    np.testing.assert_allclose(sparse, dense, rtol=1e-12)
