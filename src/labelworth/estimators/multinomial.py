"""Multinomial naive Bayes for word counts."""

from dataclasses import dataclass
from typing import Any, ClassVar

import scipy.sparse as sp
from sklearn.utils import Tags

from labelworth.data.counts import as_counts, rescale_documents
from labelworth.data.samples import Samples
from labelworth.estimators.classifier import GenerativeClassifier
from labelworth.estimators.estimator import ABOVE_ZERO, AT_LEAST_ZERO
from labelworth.models.protocol import AnyFamily


@dataclass(kw_only=True, eq=False, repr=False)
class MultinomialNaiveBayes(GenerativeClassifier):
    """Multinomial naive Bayes that learns from labeled and unlabeled documents.

    Parameters
    ----------
    alpha : float
        Add-alpha smoothing of the words, as a prior in the objective; 0 for plain maximum likelihood.
    class_smoothing : float
        The same for the class probabilities.
    document_length : float, optional
        Rescale every document to this many words. Words are not independent, so long documents are overstated;
        9 to 100 often decides whether unlabeled documents help. None: as they are.
    unlabeled_weight : float
        How much an unlabeled row counts beside a labeled one; 0 uses the labels only.
    start_smoothing : float
        How many times stronger the smoothing is in the first, supervised model.
    max_iter : int
        EM steps at most.
    tol : float
        Stop when the gain still to come is below this many nats per row.
    n_init : int
        Starts; the best end is kept.
    accelerate : bool
        Whether EM extrapolates; such a step is kept only if the objective does not fall.
    unlabeled : hashable
        What stands in y for "not seen", beside None and NaN. Name another marker when -1 is a class.
    random_state : int, RandomState, Generator or None
        For random starts.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    model_ : MultinomialModel
        The fitted model.
    fit_ : Fit
        How it was found.
    n_iter_, converged_
        EM steps, and whether they converged.
    n_features_in_, feature_names_in_
        What was fitted on.

    Examples
    --------
    >>> X = [[3, 0, 1], [0, 3, 1], [2, 0, 2], [0, 4, 0]]
    >>> classifier = MultinomialNaiveBayes().fit(X, ["a", "b", -1, -1])
    >>> classifier.predict([[1, 0, 0], [0, 1, 0]]).tolist()
    ['a', 'b']
    """

    alpha: float = 1.0
    document_length: float | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GenerativeClassifier._parameter_constraints,
        "alpha": [AT_LEAST_ZERO],
        "document_length": [ABOVE_ZERO, None],
    }

    def _family(self, samples: Samples) -> AnyFamily:
        from labelworth.models.classes.multinomial import MultinomialFamily

        return MultinomialFamily.for_samples(samples, smoothing=self.alpha, class_smoothing=self.class_smoothing)

    def _features(self, X: Any) -> sp.csr_array:
        counts = as_counts(X, name="data X")
        return counts if self.document_length is None else rescale_documents(counts, self.document_length)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # The blobs of scikit-learn's checks are no counts.
        tags.classifier_tags.poor_score = True
        tags.input_tags.positive_only = True
        return tags
