"""Any classifier with scikit-learn's manners, where an estimator of ours is asked for."""

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from labelworth.arrays import UNLABELED, AnyArray, FloatArray
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence, encode_labels, recoded
from labelworth.data.rows import Rows, n_rows
from labelworth.data.views import about_text_columns, require_all_numbers, without_table
from labelworth.errors import InvalidInputError
from labelworth.estimators.estimator import Estimator, require_no_labels_beside
from labelworth.estimators.others.named_classifiers import classifier_named, holds_words, preparation_of
from labelworth.estimators.pools.any_rows import (
    FAILURES,
    AnyLearner,
    FittedClassifier,
    PreparedRows,
    gives_scores,
    has_converged,
    in_short,
    last_step,
    modes_of,
    require_classifier,
)
from labelworth.estimators.targets import all_classes, read_targets
from labelworth.progress import Progress

if TYPE_CHECKING:
    from labelworth.estimators.pools.any_rows import AnyPool
    from labelworth.robust.check import CheckReport


@dataclass(frozen=True, eq=False)
class NamedFit:
    """A fitted classifier and what it is called."""

    fitted: FittedClassifier
    classes: tuple[Hashable, ...]
    kind: str


@dataclass(frozen=True, eq=False)
class ClassifierFit:
    """As `labelworth.estimation.fit.Fit` is asked."""

    model: NamedFit
    converged: bool = True
    n_iterations: int = 0


class AnyClassifier(ClassifierMixin, Estimator[Rows]):
    """Any classifier with scikit-learn's manners: a pipeline, a forest, boosted trees, a model of your own.

    Plans for it rest on simulated labels and refits: it needs no formulas. X is whatever the classifier takes: texts,
    a data frame, a sparse or a dense matrix.

    Parameters
    ----------
    estimator : classifier or str
        With ``fit``, ``get_params`` and ``predict_proba``, ``decision_function`` or, failing both, ``predict``. Or a
        name of `labelworth.estimators.others.named_classifiers.NAMED`: then X is texts, counts or vectors, and
        features are made of it.
    semi_supervised : bool, optional
        Whether it learns from rows of the class -1. Found out when absent for those of scikit-learn and ours.
    name : str, optional
        What plans call it; the name of its class when absent.
    unlabeled : hashable
        The marker for "not seen" in y.
    random_state : int, optional
        Given to every part of the classifier whose own is None. When absent the seed of the plan, else 0.

    Examples
    --------
    >>> import labelworth as lw
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = lw.AnyClassifier(LogisticRegression())
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]).predict([[2.5]]).tolist()
    ['b']
    """

    is_ours: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "semi_supervised": ["boolean", None],
        "name": [str, None],
        "unlabeled": [Hashable],
        "random_state": [Integral, None],
    }

    preparation_: Any  # Makes features of X; None where the classifier takes X as it is.

    def __init__(
        self,
        estimator: Any,
        *,
        semi_supervised: bool | None = None,
        name: str | None = None,
        unlabeled: Hashable = UNLABELED,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.semi_supervised = semi_supervised
        self.name = name
        self.unlabeled = unlabeled
        self.random_state = random_state

    @property
    def kind(self) -> str:
        """What plans call it."""
        own = self.estimator if isinstance(self.estimator, str) else type(last_step(self.estimator)).__name__
        return self.name or own

    def learner(self, X: Any) -> AnyLearner:
        """How it is fitted to other rows, with what they tell without labels where it can learn that."""
        estimator = self.estimator
        if isinstance(estimator, str):
            estimator = classifier_named(estimator).build(holds_words(without_table(X)))
        require_classifier(estimator)
        modes = modes_of(estimator, self.semi_supervised)
        return AnyLearner(estimator, self.random_state or 0, mode=modes[-1], modes=modes)

    def refits(self, samples: Rows) -> tuple[Rows, AnyLearner]:
        """The samples as this model takes them, and how it is fitted to parts of them."""
        trial: AnyClassifier = clone(self)
        return trial._read_as_known(samples, None, None), trial.learner_

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The log-probability of every class for every row, smoothed a little, shape (n, n_classes)."""
        check_is_fitted(self)
        features = X if self.preparation_ is None else self.preparation_.transform(without_table(X))
        log_posteriors: FloatArray = self.model_.fitted.log_posteriors(features, n_rows(X))
        return log_posteriors

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of every class for every row, smoothed a little, shape (n, n_classes)."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of every row."""
        best: AnyArray = self.classes_[np.argmax(self.predict_log_proba(X), axis=1)]
        return best

    def _read_to_fit(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        if sample_weight is not None:
            raise InvalidInputError("sample_weight is for models of ours; give it to the classifier itself.")
        self.require_parameters()
        return self._prepared(X, read_targets(y, self.unlabeled))

    def _read_answered(self, X: Any, y: Any, sample_weight: Any, answers: Answers) -> Rows:
        if sample_weight is not None:
            raise InvalidInputError("sample_weight is for models of ours; leave it out where there are answers.")
        self.require_parameters()
        if y is None:
            known = Evidence(np.full(n_rows(X), UNLABELED), answers.classes)
        else:
            known = encode_labels(y, unlabeled=self.unlabeled)
        return self._prepared(X, recoded(known, all_classes(known.classes, answers.classes)))

    def _search_answered(self, data: Rows, progress: Progress) -> tuple[Any, dict[str, Any]]:
        family, options = self.learner_.search_answered(data.evidence.classes, self.kind)
        return family, {**options, "progress": progress}

    def _read_as_known(self, X: Any, y: Any, classes: Sequence[Hashable] | None) -> Rows:
        self.require_parameters()
        if isinstance(X, Rows):
            require_no_labels_beside(y, "Samples")
            return self._prepared(X.features, X.evidence)
        if y is None:
            raise InvalidInputError("Give y, one entry per row, with a marker for the rows whose class was not seen.")
        return self._prepared(X, encode_labels(y, classes=classes, unlabeled=self.unlabeled))

    def _prepared(self, X: Any, evidence: Evidence) -> Rows:
        self.learner_ = self.learner(X)
        if not isinstance(self.estimator, str):
            self.preparation_ = None
            return Rows(X, evidence)
        X = without_table(X)
        if not holds_words(X):
            require_all_numbers(X)
        try:
            self.preparation_ = preparation_of(self.estimator, X)
            features = self.preparation_.fit_transform(X)
        except FAILURES as error:
            raise InvalidInputError(
                f"{self.kind} takes texts, counts or vectors: {in_short(error)}.{about_text_columns(X)}"
            ) from error
        return PreparedRows(features, evidence, given=X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Refuse: what others' code has fitted cannot be written to a file that runs nothing when it is read.

        Raises
        ------
        InvalidInputError
        """
        raise InvalidInputError(not_storable(self.kind))

    def _fitted(self, data: Rows, progress: Progress) -> ClassifierFit:
        fitted = self.learner_.fit(data)
        failure = self.learner_.failure(data, fitted)
        if failure:
            hint = about_text_columns(data.features)
            raise InvalidInputError(f"{self.kind} cannot be fitted to these data: {failure}.{hint}")
        return ClassifierFit(NamedFit(fitted, data.evidence.classes, self.kind), has_converged(fitted.estimator))

    def _checked(self, data: Rows, **options: Any) -> "CheckReport":
        from labelworth.estimators.others.any_check import check_rows

        is_named = isinstance(self.estimator, str) and self.name is None
        words = classifier_named(self.estimator).words if is_named else self.kind
        return check_rows(data, self.learner_, f"{words[:1].upper()}{words[1:]}", **options)

    def _pool(self, data: Rows, progress: Progress) -> "AnyPool":
        from labelworth.estimators.pools.any_rows import AnyPool
        from labelworth.estimators.pools.documents import require_documents

        require_documents(data)
        settings = {"estimator": repr(self.learner_.prepared), "kind": self.kind}
        fitted = self._fitted(data, progress)
        learner = replace(self.learner_, fits_have_scores=gives_scores(fitted.model.fitted.estimator))
        return AnyPool(data, fitted, learner, settings=settings)


def not_storable(name: str) -> str:
    """Why a classifier that is not ours is not written to a file, and what to do."""
    return (
        f"{name} is fitted by other code than ours, and cannot be written to a file that runs nothing when it is "
        "read. Plan with it here; fit it in Python and keep it as its makers say (scikit-learn: joblib.dump, or "
        "skops.io.dump)."
    )


def classifier_of(model: Any, unlabeled: Hashable) -> AnyClassifier:
    """A classifier that is not ours, by its name or a copy of it, as one of ours."""
    if isinstance(model, str):
        return AnyClassifier(model, unlabeled=unlabeled)
    require_classifier(model)
    return AnyClassifier(clone(model), unlabeled=unlabeled)
