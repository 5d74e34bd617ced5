"""Gaussian classes for dense vectors: measurements, embeddings."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from labelworth.arrays import FloatArray
from labelworth.data.counts import as_vectors
from labelworth.data.samples import Samples
from labelworth.estimators.classifier import GenerativeClassifier
from labelworth.estimators.estimator import AT_LEAST_ZERO
from labelworth.models.protocol import AnyFamily

if TYPE_CHECKING:
    from labelworth.models.classes.gaussian_model import Covariance


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianClasses(GenerativeClassifier):
    """A Gaussian per class, learned from labeled and unlabeled rows.

    Parameters
    ----------
    covariance : "shared", "diagonal" or "full"
        One covariance for all classes (linear discriminant analysis), variances per class (Gaussian naive Bayes), or
        a covariance per class (quadratic discriminant analysis).
    smoothing : float
        The prior of every covariance counts as so many rows with the variances of the data as a whole.
    mean_smoothing : float
        The prior of every mean counts as so many rows at the center of the data.
    class_smoothing : float
        Add-alpha smoothing of the class probabilities.
    unlabeled_weight, start_smoothing, max_iter, tol, n_init, accelerate, unlabeled, random_state
        As in `MultinomialNaiveBayes`.

    Attributes
    ----------
    classes_, model_, fit_, n_iter_, converged_, n_features_in_, feature_names_in_
        As in `MultinomialNaiveBayes`; `model_` is a `GaussianModel`.

    Examples
    --------
    >>> X = [[0.1, 0.0], [0.9, 1.0], [0.0, 0.2], [1.0, 0.8]]
    >>> GaussianClasses().fit(X, ["a", "b", -1, -1]).predict(X).tolist()
    ['a', 'b', 'a', 'b']
    """

    covariance: "Covariance" = "shared"
    smoothing: float = 1.0
    mean_smoothing: float = 0.01

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GenerativeClassifier._parameter_constraints,
        "covariance": [StrOptions({"shared", "diagonal", "full"})],
        "smoothing": [AT_LEAST_ZERO],
        "mean_smoothing": [AT_LEAST_ZERO],
    }

    def _family(self, samples: Samples) -> AnyFamily:
        from labelworth.models.classes.gaussian import GaussianFamily

        return GaussianFamily.for_samples(
            samples,
            self.covariance,
            smoothing=self.smoothing,
            mean_smoothing=self.mean_smoothing,
            class_smoothing=self.class_smoothing,
        )

    def _features(self, X: Any) -> FloatArray:
        return as_vectors(X)
