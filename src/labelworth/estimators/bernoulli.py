"""Bernoulli naive Bayes for features that are present or absent."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval

from labelworth.data.counts import as_counts
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimators.classifier import GenerativeClassifier
from labelworth.estimators.estimator import AT_LEAST_ZERO
from labelworth.models.protocol import AnyFamily


@dataclass(kw_only=True, eq=False, repr=False)
class BernoulliNaiveBayes(GenerativeClassifier):
    """Bernoulli naive Bayes that learns from labeled and unlabeled rows.

    Parameters
    ----------
    alpha : float
        Add-alpha smoothing of presence and absence, as a prior in the objective; 0 for plain maximum likelihood.
    class_smoothing : float
        The same for the class probabilities.
    binarize : float, optional
        A value above this is present. None: the features are 0 and 1 already.
    unlabeled_weight, start_smoothing, max_iter, tol, n_init, accelerate, unlabeled, random_state
        As in `MultinomialNaiveBayes`.

    Attributes
    ----------
    classes_, model_, fit_, n_iter_, converged_, n_features_in_, feature_names_in_
        As in `MultinomialNaiveBayes`; `model_` is a `BernoulliModel`.

    Examples
    --------
    >>> X = [[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0]]
    >>> BernoulliNaiveBayes().fit(X, ["a", "b", -1, -1]).predict(X).tolist()
    ['a', 'b', 'a', 'b']
    """

    alpha: float = 1.0
    binarize: float | None = 0.0

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GenerativeClassifier._parameter_constraints,
        "alpha": [AT_LEAST_ZERO],
        "binarize": [Interval(Real, None, None, closed="neither"), None],
    }

    def _family(self, samples: Samples) -> AnyFamily:
        from labelworth.models.classes.bernoulli import BernoulliFamily

        return BernoulliFamily.for_samples(samples, smoothing=self.alpha, class_smoothing=self.class_smoothing)

    def _features(self, X: Any) -> sp.csr_array:
        if self.binarize is None:
            return as_counts(X)
        if isinstance(X, np.ndarray):
            return as_counts(np.greater(X, self.binarize))
        if self.binarize < 0:
            raise InvalidInputError(
                f"With binarize={self.binarize} every absent value of a sparse matrix would be present; "
                "use a threshold of at least 0, or X.toarray()."
            )
        present = (X.data > self.binarize).astype(np.float64)
        return as_counts(sp.csr_array((present, X.indices, X.indptr), X.shape))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # The blobs of scikit-learn's checks are no counts.
        tags.classifier_tags.poor_score = True
        return tags
