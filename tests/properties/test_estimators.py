"""Whatever is thrown at a classifier, it works or says what is wrong."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from labelworth import BernoulliNaiveBayes, GaussianClasses, LabelworthWarning, MultinomialNaiveBayes

CLASSIFIERS = [
    MultinomialNaiveBayes(),
    MultinomialNaiveBayes(alpha=0.0, document_length=20),
    MultinomialNaiveBayes(alpha=1e-300, accelerate=False),
    BernoulliNaiveBayes(),
    BernoulliNaiveBayes(alpha=0.0, binarize=None),
    GaussianClasses(),
    GaussianClasses(covariance="diagonal", smoothing=0.0, mean_smoothing=0.0),
    GaussianClasses(covariance="full", unlabeled_weight=0.5),
]
EXTREMES = [0.0, 1.0, 2.0, -1.0, 0.5, 1e-300, 1e17, 1e300, float("nan"), float("inf")]
LABELS = [0, 1, 2, -1, None, float("nan"), "a", "b", (0, 1), [0, 1, 2], [], True]


@st.composite
def matrices(draw: st.DrawFn) -> Any:
    """Mostly counts, sometimes anything; dense or sparse; sometimes without rows or columns."""
    shape = (draw(st.integers(0, 8)), draw(st.integers(0, 4)))
    values = st.integers(0, 3).map(float) if draw(st.booleans()) else st.sampled_from(EXTREMES)
    entries = draw(st.lists(values, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    matrix = np.array(entries, dtype=float).reshape(shape)
    form = draw(st.sampled_from([np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array]))
    return form(matrix)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, list[Any], Any]:
    """Features, labels and weights, mostly of the same length."""
    matrix = draw(matrices())
    n_labels = matrix.shape[0] + draw(st.sampled_from([0, 0, 0, 0, 1]))
    pool = draw(st.sampled_from([[0, 1, -1], [0, -1], [-1], ["a", "b", None], LABELS]))
    labels = draw(st.lists(st.sampled_from(pool), min_size=n_labels, max_size=n_labels))
    weights = draw(
        st.none()
        | st.lists(st.sampled_from([0.0, 1.0, 2.5, -1.0, float("nan")]), min_size=n_labels, max_size=n_labels)
    )
    return matrix, labels, weights


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
@given(problem=problems())
@settings(max_examples=40, deadline=None)
def test_a_fit_works_or_says_what_is_wrong(classifier: Any, problem: tuple[Any, list[Any], Any]) -> None:
    features, labels, weights = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelworthWarning)
        # scikit-learn compares kinds of labels before it refuses them.
        warnings.simplefilter("ignore", UserWarning)
        try:
            fitted = clone(classifier).fit(features, labels, weights)
            probabilities = fitted.predict_proba(features)
        except (ValueError, TypeError) as error:
            message = str(error)
        else:
            message = ""
    if message:
        assert len(message) > 20, "too short to help"
        return
    assert probabilities.shape == (features.shape[0], len(fitted.classes_))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-9)
    assert set(fitted.predict(features).tolist()) <= set(fitted.classes_.tolist())


@pytest.mark.parametrize("classifier", [CLASSIFIERS[0], CLASSIFIERS[3]], ids=str)
def test_a_million_columns_are_no_burden(classifier: Any) -> None:
    features = sp.csr_array(([1.0, 2.0, 1.0], ([0, 1, 2], [999_999, 5, 999_999])), shape=(3, 1_000_000))
    fitted = clone(classifier).fit(features, ["a", "b", -1])
    assert fitted.predict(features)[[0, 2]].tolist() == ["a", "a"]
