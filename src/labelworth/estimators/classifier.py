"""What the three classifiers share: scikit-learn's manners around a family of models and its fit."""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from labelworth.arrays import UNLABELED, AnyArray, FloatArray
from labelworth.data.answers import Answers
from labelworth.data.counts import as_vectors
from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.rows import n_rows
from labelworth.data.samples import Samples
from labelworth.data.shards.features import ShardedFeatures
from labelworth.data.shards.folder import Shards
from labelworth.data.views import about_text_columns, about_texts
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import Fit, fit
from labelworth.estimators.estimator import (
    ABOVE_ZERO,
    AT_LEAST_ONE,
    AT_LEAST_ZERO,
    Estimator,
    data_of,
    generator,
    require_no_labels_beside,
)
from labelworth.estimators.targets import labeled_rows, read_targets
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import AnyFamily, AnyModel
from labelworth.progress import Progress

if TYPE_CHECKING:
    from labelworth.estimators.pools.documents import ClassLearner, DocumentPool
    from labelworth.robust.check import CheckReport
    from labelworth.simulation.learner import Mode


@dataclass(kw_only=True, eq=False, repr=False)
class GenerativeClassifier(ClassifierMixin, Estimator[Samples]):
    """A classifier that models p(x, y) and so learns from rows whose class was not seen.

    A subclass says how features are read and which family is fitted.
    """

    class_smoothing: float = 1.0
    unlabeled_weight: float = 1.0
    start_smoothing: float = 1.0
    max_iter: int = 1000
    tol: float = 1e-6
    n_init: int = 1
    accelerate: bool = True
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_smoothing": [AT_LEAST_ZERO],
        "unlabeled_weight": [AT_LEAST_ZERO],
        "start_smoothing": [ABOVE_ZERO],
        "max_iter": [AT_LEAST_ONE],
        "tol": [ABOVE_ZERO],
        "n_init": [AT_LEAST_ONE],
        "accelerate": ["boolean"],
        "unlabeled": [Hashable],
        "random_state": ["random_state", np.random.Generator],
    }

    model_: AnyModel = field(init=False)
    fit_: Fit[Any, Any] = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: AnyArray = field(init=False)

    @abstractmethod
    def _family(self, samples: Samples) -> AnyFamily:
        """The family to fit, from the parameters given."""

    @abstractmethod
    def _features(self, X: Any) -> "sp.csr_array | FloatArray":
        """Read features that scikit-learn has checked as the family wants them."""

    def _learn_features(self, samples: Samples) -> None:
        """Learn from samples, as they are, what later features are read by."""

    def _reader(self) -> Self:
        """A copy that knows how features are read, and nothing else: it may travel."""
        copy: Self = clone(self)
        return copy

    def _as_fitted(self, samples: Samples) -> Samples:
        """The samples with features as the family wants them, which are learned from."""
        self._learn_features(samples)
        features = samples.features
        if isinstance(features, ShardedFeatures):
            return replace(samples, features=features.changed(self._reader()._features))
        return replace(samples, features=self._features(features))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The log-probability of every class for every row, shape (n, n_classes)."""
        log_joint = self._log_joint(X)
        _, log_evidence = condition(log_joint, nothing_known(len(log_joint), self.model_.classes))
        impossible = np.flatnonzero(~np.isfinite(log_evidence))
        if impossible.size:
            raise InvalidInputError(
                f"{impossible.size} row(s) have probability zero under every class, first row {impossible[0]}; "
                "they hold features never seen before. Fit with alpha above 0."
            )
        return log_joint - log_evidence[:, None]

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of every class for every row, shape (n, n_classes)."""
        probabilities: FloatArray = np.exp(self.predict_log_proba(X))
        return probabilities

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of every row."""
        best = np.argmax(self.predict_log_proba(X), axis=1)
        most_probable: AnyArray = self.classes_[best]
        return most_probable

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy over the rows with one known class; the others are left out."""
        check_is_fitted(self)
        rows, labels = labeled_rows(y, self.unlabeled)
        if not rows.any():
            raise InvalidInputError("No row has a label to score against; give some whose class is known.")
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(labels, self.predict(X)[rows], sample_weight=weights))

    def information(self, X: Any = None, y: Any = None, *, sample_weight: Any = None, **options: Any) -> Any:
        """What labeled and unlabeled rows are worth.

        Parameters
        ----------
        X, y, sample_weight : optional
            What was fitted; Samples and Shards carry their labels. With them the answer holds for these rows, at
            labeled fractions from theirs up, for any number of parameters; without them the fitted model is taken
            for true.
        options
            Of `labelworth.criteria.at_fit.information_at_fit` with data, else of
            `labelworth.criteria.information.document_information`: labeled fractions, number of samples, method.
        """
        from labelworth.criteria.at_fit import information_at_fit
        from labelworth.criteria.information import document_information

        check_is_fitted(self)
        is_known = isinstance(X, Samples | Shards)
        if not is_known and (X is None) != (y is None):
            raise InvalidInputError("Give both X and y, the rows that were fitted, or neither.")
        if X is None:
            return document_information(self.model_, **options)
        if self.unlabeled_weight != 1:
            raise InvalidInputError(
                "The information at a fit is that of the likelihood, in which every row counts the same. "
                f"Got a classifier with unlabeled_weight {self.unlabeled_weight:g}; fit with 1."
            )
        trial = clone(self)
        if is_known:
            require_no_labels_beside(sample_weight, "Samples")
            samples = trial._read_as_known(data_of(X), y, None)
        else:
            self._validated(X, reset=False)
            samples = trial._samples(
                X, lambda: encode_labels(y, classes=self.model_.classes, unlabeled=self.unlabeled), sample_weight
            )
        return information_at_fit(self.model_, trial._family(samples), samples, **options)

    def refits(self, samples: Samples) -> "tuple[Samples, ClassLearner[Any]]":
        """The samples as this model takes them, and how it is fitted to parts of them."""
        from labelworth.estimators.pools.documents import ClassLearner

        trial = clone(self)
        data = trial._read_as_known(samples, None, None)
        mode: Mode = "semi-supervised" if self.unlabeled_weight > 0 else "labels-only"
        return data, ClassLearner(trial._family_of_pool(data), self.unlabeled_weight, self.start_smoothing, mode=mode)

    def _read_to_fit(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        if isinstance(X, Samples):
            require_no_labels_beside(sample_weight, "Samples")
            self.n_features_in_ = X.n_features
            if X.feature_names is not None:
                self.feature_names_in_ = np.asarray(X.feature_names, dtype=object)
            return self._read_as_known(X, y, None)
        return self._samples(X, lambda: read_targets(y, self.unlabeled), sample_weight)

    def _read_as_known(self, X: Any, y: Any, classes: Sequence[Hashable] | None) -> Samples:
        if isinstance(X, Samples):
            self.require_parameters()
            require_no_labels_beside(y, "Samples")
            return self._as_fitted(X)
        if y is None:
            raise InvalidInputError("Give y, one entry per row, with a marker for the rows whose class was not seen.")
        return self._samples(X, lambda: encode_labels(y, classes=classes, unlabeled=self.unlabeled), None)

    def _family_of_pool(self, samples: Samples) -> AnyFamily:
        """As plans fit it, to all samples and to parts of them.

        With what is read off all rows, whichever of them are learned from: in a few, features may not vary at all, or
        no document may have a word.
        """
        return self._family(samples).adapted(samples, samples.sample_weights)

    def _fitted(self, data: Samples, progress: Progress) -> Fit[Any, Any]:
        if self.unlabeled_weight == 0 and data.evidence.is_chosen:
            from labelworth.estimators.pools.documents import LABELS_ONLY

            raise InvalidInputError(LABELS_ONLY)
        return self._fit_of(self._family(data), data, progress)

    def _fit_of(self, family: AnyFamily, data: Samples, progress: Progress) -> Fit[Any, Any]:
        return fit(family, data, **self._search(progress))

    def _search(self, progress: Progress) -> dict[str, Any]:
        """How a fit is found, as `labelworth.estimation.fit.fit` takes it."""
        return {
            "start_smoothing": self.start_smoothing,
            "unlabeled_weight": self.unlabeled_weight,
            "max_iterations": self.max_iter,
            "tolerance": self.tol,
            "accelerated": self.accelerate,
            "n_starts": self.n_init,
            "rng": generator(self.random_state),
            "progress": progress,
        }

    def _read_answered(self, X: Any, y: Any, sample_weight: Any, answers: Answers) -> Samples:
        def read() -> Evidence:
            if y is None:
                return nothing_known(n_rows(X), answers.classes)
            return read_targets(y, self.unlabeled, answers.classes)

        return self._samples(X, read, sample_weight)

    def _search_answered(self, data: Samples, progress: Progress) -> tuple[AnyFamily, dict[str, Any]]:
        return self._family(data), self._search(progress)

    def _checked(self, data: Samples, **options: Any) -> "CheckReport":
        from labelworth.robust.check import check_samples

        if not data.evidence.classes:
            raise NotIdentifiableError(
                "No row is labeled, so nothing says which classes there are. Label at least one row of each class."
            )
        return check_samples(data, self._family(data), start_smoothing=self.start_smoothing, **options)

    def _pool(self, data: Samples, progress: Progress) -> "DocumentPool":
        from labelworth.estimators.pools.documents import DocumentPool, require_documents

        # Before the family, which would ask for classes where labels are missing.
        require_documents(data)
        family = self._family_of_pool(data)
        return DocumentPool(
            data,
            self._fit_of(family, data, progress),
            family,
            self.unlabeled_weight,
            self.start_smoothing,
            settings=self.get_params(deep=False),
        )

    def _samples(self, X: Any, read: Callable[[], Evidence], sample_weight: Any) -> Samples:
        self.require_parameters()
        checked = self._validated(X, reset=True)
        # After X: scikit-learn wants to hear of a bad X first.
        evidence = read()
        weights = None if sample_weight is None else _weights(sample_weight, checked)
        names = getattr(self, "feature_names_in_", None)
        return self._as_fitted(Samples(checked, evidence, weights, None if names is None else tuple(names)))

    def _log_joint(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if isinstance(X, Samples | Shards):
            samples: Any = data_of(X)
            return np.concatenate(list(samples.each(self._log_joint_of, samples.evidence.codes)))
        return self._log_joint_of(self._validated(X, reset=False))

    def _log_joint_of(self, features: Any, beside: Any = None) -> FloatArray:
        features = self._features(features)
        return self.model_.log_joint(Samples(features, nothing_known(features.shape[0], self.model_.classes)))

    def _validated(self, X: Any, *, reset: bool) -> Any:
        takes_sparse = get_tags(self).input_tags.sparse
        if not takes_sparse and sp.issparse(X):
            return as_vectors(X)
        try:
            return validate_data(
                self, X, accept_sparse="csr" if takes_sparse else False, dtype=np.float64, reset=reset
            )
        except ValueError as error:
            # scikit-learn's own words, as an error of ours: the command line and callers catch one kind.
            hint = about_text_columns(X) or about_texts(X)
            raise InvalidInputError(f"{error}{'.' if hint else ''}{hint}") from error


def _weights(sample_weight: Any, rows: Any) -> FloatArray:
    """One non-negative weight per row, not all zero."""
    try:
        if not np.asarray(sample_weight).any():
            raise InvalidInputError(
                "Every sample_weight is zero, so there is nothing to learn from. Give a positive weight to some rows."
            )
        return np.asarray(_check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True))
    except ValueError as error:
        raise InvalidInputError(str(error)) from error


def nothing_known(n_samples: int, classes: tuple[Hashable, ...]) -> Evidence:
    """Evidence of rows whose class was not seen."""
    return Evidence(np.full(n_samples, UNLABELED, dtype=np.int64), classes)
