"""Fewer columns for classifiers that do not mind."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

from labelworth.estimators.pools.narrow import Columns, RowSpace, narrowed


def rows(n: int, n_columns: int, seed: int = 0) -> sp.csr_array:
    return sp.random_array((n, n_columns), density=0.05, rng=np.random.default_rng(seed), format="csr")


@pytest.mark.parametrize(("n_columns", "kind"), [(500, RowSpace), (40, Columns)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_in_fewer_columns_predicts_the_same(n_columns: int, kind: type, n_classes: int) -> None:
    others = rows(30, n_columns, 1)
    features = sp.csr_array(rows(80, n_columns) @ sp.diags_array(1.0 * (np.arange(n_columns) != 3)))
    features.eliminate_zeros()
    codes = np.arange(80) % n_classes
    # Run to its end: both paths stop within rounding of the one optimum.
    classifier = LogisticRegression(C=10.0, tol=1e-10, max_iter=5000)
    narrow = narrowed(classifier, features)
    assert isinstance(narrow, kind)
    assert narrow(features).shape[1] < n_columns
    whole = classifier.fit(features, codes).predict_proba(others)
    fewer = classifier.fit(narrow(features), codes).predict_proba(narrow(others))
    np.testing.assert_allclose(fewer, whole, atol=1e-6)
    # Negative control: axes that are not of unit length change the penalty, and with it what is predicted.
    stretched = classifier.fit(3 * narrow(features), codes).predict_proba(3 * narrow(others))
    assert np.abs(stretched - whole).max() > 1e-3


def test_inner_products_are_those_of_the_rows() -> None:
    features = rows(20, 300)
    features = sp.csr_array(sp.vstack([features, features[:2]]))  # two rows again: fewer axes than rows
    turned = RowSpace.of(features)(features)
    assert turned.shape == (22, 20)
    np.testing.assert_allclose(turned @ turned.T, (features @ features.T).toarray(), atol=1e-12)


@pytest.mark.parametrize(
    "classifier",
    [
        LinearSVC(),
        SGDClassifier(),
        LogisticRegression(solver="liblinear"),
        LogisticRegression(solver="saga", l1_ratio=1.0),
    ],
)
def test_others_are_given_all_columns(classifier: object) -> None:
    assert narrowed(classifier, rows(20, 300)) is None


def test_dense_features_stay_as_they_are() -> None:
    assert narrowed(LogisticRegression(), rows(20, 300).toarray()) is None
