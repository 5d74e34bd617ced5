"""Words as vectors, for classifiers that take few columns."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD

from labelworth.arrays import FloatArray

_N_DIMENSIONS = 64


class Dimensions(TransformerMixin, BaseEstimator):
    """Sparse rows in 64 dimensions, or in as many as there are words and rows for."""

    def fit(self, X: Any, y: Any = None) -> Self:
        self.decomposition_ = TruncatedSVD(max(1, min(_N_DIMENSIONS, *X.shape)), random_state=0).fit(X)
        return self

    def transform(self, X: Any) -> FloatArray:
        return np.asarray(self.decomposition_.transform(X))
