"""Classifiers of scikit-learn that plans know by name, with the features they are usually given.

Features are made once from all rows, labeled or not; labels play no part in it. Settings are common ones; none was
chosen on the corpora of the studies but C = 10 for logistic regression on TF-IDF, which was tried there against 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labelworth.errors import InvalidInputError


@dataclass(frozen=True)
class NamedClassifier:
    """A classifier by name."""

    name: str
    words: str  # What people call it.
    build: Callable[[bool], Any]  # Whether X holds words -> the classifier.
    is_dense: bool = False  # Whether words are first brought to 64 dimensions: for neighbors and trees.
    is_slow: bool = False  # Whether a fit takes ten times as long as one of the others.


def _logistic(of_words: bool) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10.0 if of_words else 1.0, max_iter=300)


def _linear_svm(of_words: bool) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=1.0 if of_words else 0.1)


def _boosting(of_words: bool) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=15, min_samples_leaf=5)


def _forest(of_words: bool) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100)


def _nearest_neighbors(of_words: bool) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(5)


def _self_training(of_words: bool) -> Any:
    from sklearn.semi_supervised import SelfTrainingClassifier

    return SelfTrainingClassifier(_logistic(of_words), threshold=0.9)


NAMED: dict[str, NamedClassifier] = {
    one.name: one
    for one in (
        NamedClassifier("logistic", "logistic regression", _logistic),
        NamedClassifier("linear-svm", "linear SVM", _linear_svm),
        NamedClassifier("boosting", "boosted trees", _boosting, is_dense=True, is_slow=True),
        NamedClassifier("forest", "random forest", _forest, is_dense=True, is_slow=True),
        NamedClassifier("nearest-neighbors", "nearest neighbors", _nearest_neighbors, is_dense=True),
        NamedClassifier("self-training", "self-training logistic regression", _self_training),
    )
}


def classifier_named(name: str) -> NamedClassifier:
    """Look a classifier up.

    Raises
    ------
    InvalidInputError
        If there is none of that name.
    """
    if name not in NAMED:
        raise InvalidInputError(f"There is no classifier {name!r}. Choose one of {', '.join(NAMED)}.")
    return NAMED[name]


def holds_words(X: Any) -> bool:
    """Whether X is texts or sparse counts: both are brought to TF-IDF. Anything else is a table of numbers.

    Counts are whole and not negative. A sparse matrix of other values was weighted by somebody already: the
    logarithms of TF-IDF would turn its small values into large negative ones.
    """
    import numpy as np

    from labelworth.data.views import are_counts

    if hasattr(X, "tocsr"):
        return are_counts(X)
    return not hasattr(X, "columns") and np.asarray(X[:1] if hasattr(X, "__len__") else X).dtype.kind in "OUS"


def preparation_of(name: str, X: Any) -> Any:
    """What makes features of X for a classifier of that name, yet to be fitted.

    Raises
    ------
    InvalidInputError
        If there is no such name.
    """
    from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer, StandardScaler

    from labelworth.estimators.others.dimensions import Dimensions

    is_sparse, is_dense = hasattr(X, "tocsr"), classifier_named(name).is_dense
    if not holds_words(X):
        # Zeros stay zeros: linear models do not mind where columns have their middle.
        scaled = StandardScaler(with_mean=not is_sparse)
        return make_pipeline(scaled, Dimensions()) if is_sparse and is_dense else scaled
    weights = TfidfTransformer(sublinear_tf=True) if is_sparse else TfidfVectorizer(sublinear_tf=True, min_df=2)
    return make_pipeline(weights, Dimensions(), Normalizer()) if is_dense else make_pipeline(weights)
