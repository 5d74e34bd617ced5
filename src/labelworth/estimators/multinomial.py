"""Multinomial naive Bayes for word counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.counts import as_counts, documents_with, rarity, rescale_documents
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
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
        The same for the class probabilities; very strong (1e6) it makes all classes equally frequent.
    word_weights : "counts" or "inverse-document"
        What a word counts: 1, or the logarithm of (rows / rows that hold it), of all rows fitted on, labeled or not.
        Weighted words want `document_length` too.
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
    word_weights_ : array of shape (n_features,)
        What each word counts, unless all count 1.

    Examples
    --------
    >>> X = [[3, 0, 1], [0, 3, 1], [2, 0, 2], [0, 4, 0]]
    >>> classifier = MultinomialNaiveBayes().fit(X, ["a", "b", -1, -1])
    >>> classifier.predict([[1, 0, 0], [0, 1, 0]]).tolist()
    ['a', 'b']
    """

    alpha: float = 1.0
    word_weights: Literal["counts", "inverse-document"] = "counts"
    document_length: float | None = None

    word_weights_: FloatArray = field(init=False)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GenerativeClassifier._parameter_constraints,
        "alpha": [AT_LEAST_ZERO],
        "word_weights": [StrOptions({"counts", "inverse-document"})],
        "document_length": [ABOVE_ZERO, None],
    }

    def _family(self, samples: Samples) -> AnyFamily:
        from labelworth.models.classes.multinomial import MultinomialFamily

        return MultinomialFamily.for_samples(samples, smoothing=self.alpha, class_smoothing=self.class_smoothing)

    def _learn_features(self, samples: Samples) -> None:
        if self._weighs_words:
            holding = sum(samples.each(_documents_with, samples.evidence.codes))
            self.word_weights_ = rarity(samples.n_samples, holding)

    def _features(self, X: Any) -> sp.csr_array:
        counts = as_counts(X, name="data X")
        if self._weighs_words:
            # Words of every row weigh nothing, and are no longer stored.
            counts = as_counts(sp.csr_array(counts @ sp.diags_array(self.word_weights_)))
        return counts if self.document_length is None else rescale_documents(counts, self.document_length)

    def _reader(self) -> "MultinomialNaiveBayes":
        reader = super()._reader()
        if self._weighs_words:
            reader.word_weights_ = self.word_weights_
        return reader

    @property
    def _weighs_words(self) -> bool:
        return self.word_weights != "counts"

    def learned(self) -> dict[str, Any]:
        return {"word_weights": self.word_weights_.tolist()} if self._weighs_words else {}

    def restore(self, learned: Mapping[str, Any], model: Any) -> None:
        if not self._weighs_words:
            return
        weights = np.asarray(learned["word_weights"], dtype=np.float64)
        if weights.shape != (model.n_features,) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise InvalidInputError(f"there must be a weight of 0 or more for each of {model.n_features:,} words")
        self.word_weights_ = weights

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # The blobs of scikit-learn's checks are no counts.
        tags.classifier_tags.poor_score = True
        tags.input_tags.positive_only = True
        return tags


def _documents_with(counts: Any, beside: Any) -> IntArray:
    return documents_with(as_counts(counts, name="data X"))
