"""Fewer columns for classifiers that do not mind."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

from labelworth.estimators.pools.narrow import Columns, RowSpace, fitted_narrowly, narrowed


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
    assert narrow.rows.shape[1] < n_columns
    whole = clone(classifier).fit(features, codes)
    again = clone(classifier)
    fewer = fitted_narrowly(again, features, lambda given: again.fit(given, codes))
    assert fewer.n_features_in_ == n_columns
    np.testing.assert_allclose(fewer.coef_, whole.coef_, atol=1e-5)
    np.testing.assert_allclose(fewer.predict_proba(others), whole.predict_proba(others), atol=1e-6)
    # Negative control: axes that are not of unit length change the penalty, and with it what is predicted.
    stretched = clone(classifier).fit(3 * narrow.rows, codes)
    stretched.coef_, stretched.n_features_in_ = 3 * narrow.spread(stretched.coef_), n_columns
    assert np.abs(stretched.predict_proba(others) - whole.predict_proba(others)).max() > 1e-3


def test_inner_products_are_those_of_the_rows() -> None:
    features = rows(20, 300)
    empty = sp.csr_array((1, 300))
    features = sp.csr_array(sp.vstack([features[:2], empty, features]))  # two rows again, and one that adds nothing
    turned = RowSpace.of(features).rows
    assert turned.shape == (23, 20)
    np.testing.assert_allclose(turned @ turned.T, (features @ features.T).toarray(), atol=1e-12)


def test_axes_are_orthogonal_and_of_unit_length() -> None:
    axes = RowSpace.of(rows(20, 300)).spread(np.eye(20))
    np.testing.assert_allclose(axes @ axes.T, np.eye(20), atol=1e-12)


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
