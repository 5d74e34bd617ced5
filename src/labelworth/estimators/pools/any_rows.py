"""Rows with any classifier of scikit-learn's manners, known by its fits alone: no likelihood, no formulas."""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from labelworth.arrays import UNLABELED, AnyArray, FloatArray, IntArray
from labelworth.data.rows import Rows
from labelworth.data.samples import Samples
from labelworth.data.views import in_numbers
from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.documents import ClassPrediction
from labelworth.estimators.pools.pool import Abilities, Pool, PoolKind
from labelworth.estimators.pools.sources import row_sources
from labelworth.simulation.learner import Learner, LearnerKind, Mode, Source, known_codes

_SMOOTHING = 1e-3
"""Share of every prediction that is spread over all classes: forests and neighbors say zero and one."""
_PLAIN_SMOOTHING = 0.05
"""The same of learners that name a class and say no more."""
_LINEAR = ("LogisticRegression", "LinearSVC", "SGD", "Ridge", "Perceptron", "PassiveAggressive", "LinearDiscriminant")
_UNSEEN = 5.0
"""By how much the score of a class without a label lies below the least score of all."""


@dataclass(frozen=True, eq=False)
class PreparedRows(Rows):
    """Rows whose features were made of others."""

    given: Any = None  # What they were made of.

    def take(self, rows: AnyArray) -> "PreparedRows":
        # Only the whole pool is asked for what it was made of.
        return replace(self, features=self.features[rows], evidence=self.evidence.take(rows), given=None)


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """What a fit gave: a fitted estimator, or the shares of classes where there was nothing to tell apart."""

    estimator: Any  # None: only one class was labeled, which estimators refuse.
    codes: IntArray  # What the estimator's own classes are, as codes, in its order.
    shares: FloatArray  # (n_classes,): Of the labels, smoothed.

    def log_posteriors(self, features: Any, n_samples: int) -> FloatArray:
        """log p(class | x) as far as the estimator says it, (n, n_classes)."""
        n_classes = len(self.shares)
        if self.estimator is None:
            return np.tile(np.log(self.shares), (n_samples, 1))
        if hasattr(self.estimator, "predict_proba"):
            own = np.asarray(self.estimator.predict_proba(features), dtype=np.float64)
            return self._smoothed(own, n_classes, _SMOOTHING)
        if hasattr(self.estimator, "decision_function"):
            scores = np.asarray(self.estimator.decision_function(features), dtype=np.float64)
            scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
            full = np.full((len(scores), n_classes), scores.min() - _UNSEEN)
            full[:, self.codes] = scores
            return np.asarray(log_softmax(full, axis=1))
        named = np.asarray(self.estimator.predict(features))
        return self._smoothed(named[:, None] == self.estimator.classes_[None, :], n_classes, _PLAIN_SMOOTHING)

    def _smoothed(self, own: AnyArray, n_classes: int, smoothing: float) -> FloatArray:
        probabilities = np.zeros((len(own), n_classes))
        probabilities[:, self.codes] = own
        return np.log((1 - smoothing) * probabilities + smoothing / n_classes)


@dataclass(frozen=True, eq=False)
class AnyLearner(Learner[Rows]):
    """Clones of one estimator, each fitted to the rows shown.

    Every ``random_state`` that is left open is drawn from the seed, and every ``n_jobs`` is one: fits run side by
    side already.
    """

    estimator: Any  # Yet to be fitted.
    seed: int = 0

    n_other_sources: ClassVar[int] = 2

    @cached_property
    def prepared(self) -> Any:
        """The estimator with its chance and its threads settled."""
        estimator = clone(self.estimator)
        settled = {}
        for name, value in estimator.get_params(deep=True).items():
            last = name.rpartition("__")[2]
            if last == "random_state" and value is None:
                settled[name] = self.seed
            elif last == "n_jobs" and value not in (None, 1):
                settled[name] = 1
        return estimator.set_params(**settled)

    @property
    def kind(self) -> LearnerKind:
        """Linear by the name of its type; all else is taken for local, whose forecasts are wider."""
        name = type(last_step(labels_only(self.estimator))).__name__
        return "generative" if name.endswith("NB") else "linear" if name.startswith(_LINEAR) else "local"

    def sources(self, data: Rows) -> dict[str, Source]:
        return row_sources(self, data)

    def fit_model(self, data: Rows, start: Any) -> FittedClassifier:
        codes, classes = known_codes(data), data.evidence.classes
        counts = np.bincount(codes[codes >= 0], minlength=len(classes))
        shares = (counts + 0.5) / (counts.sum() + 0.5 * len(classes))
        present = np.flatnonzero(counts)
        if len(present) < 2:
            return FittedClassifier(None, present, shares)
        with warnings.catch_warnings():
            # What a fit to a few rows has to say of itself is not repeated a hundred times.
            warnings.simplefilter("ignore")
            if self.mode == "semi-supervised":
                # Numbers: names beside the marker -1 are not sorted by everybody.
                fitted = clone(self.prepared).fit(data.features, codes)
                return FittedClassifier(fitted, np.asarray(fitted.classes_, dtype=np.int64), shares)
            seen = data.take(codes >= 0)
            names = np.empty(len(classes), dtype=object)
            names[:] = classes
            named = np.array(names.tolist()) if _is_plain(classes) else names
            fitted = clone(labels_only(self.prepared)).fit(seen.features, named[known_codes(seen)])
        code_of = {name: code for code, name in enumerate(classes)}
        own = [code_of[name.item() if hasattr(name, "item") else name] for name in fitted.classes_]
        return FittedClassifier(fitted, np.array(own), shares)

    def predict(self, model: Any, data: Rows) -> ClassPrediction:
        return ClassPrediction(model.log_posteriors(data.features, data.n_samples))


def _is_plain(classes: tuple[Any, ...]) -> bool:
    """Whether the names are all texts, or all whole numbers: what NumPy writes without changing one."""
    return all(isinstance(name, str) for name in classes) or all(
        isinstance(name, int) and not isinstance(name, bool) for name in classes
    )


def last_step(estimator: Any) -> Any:
    """What predicts: the last step of a pipeline, or the estimator itself."""
    return last_step(estimator.steps[-1][1]) if isinstance(estimator, Pipeline) else estimator


def learns_from_unlabeled(estimator: Any) -> bool:
    """Whether rows of the class -1 are rows without a label to it: scikit-learn's semi-supervised ones, and ours."""
    last = last_step(estimator)
    is_theirs = type(last).__module__.startswith("sklearn.semi_supervised")
    return is_theirs or getattr(last, "unlabeled", None) == UNLABELED


def labels_only(estimator: Any) -> Any:
    """The same without unlabeled rows: what a self-training classifier wraps; else the estimator itself."""
    last = last_step(estimator)
    inner = getattr(last, "estimator", None) if type(last).__name__ == "SelfTrainingClassifier" else None
    if inner is None:
        return estimator
    if not isinstance(estimator, Pipeline):
        return inner
    return Pipeline([*estimator.steps[:-1], (estimator.steps[-1][0], labels_only(estimator.steps[-1][1]))])


def modes_of(estimator: Any, semi_supervised: bool | None) -> tuple[Mode, ...]:
    """The ways an estimator can learn; a graph of neighbors has none without the other rows.

    Parameters
    ----------
    semi_supervised : bool or None
        Whether it takes rows of the class -1; None: found out by its type.
    """
    takes = learns_from_unlabeled(estimator) if semi_supervised is None else semi_supervised
    if not takes:
        return ("labels-only",)
    if type(last_step(estimator)).__name__ in ("LabelSpreading", "LabelPropagation"):
        return ("semi-supervised",)
    return ("labels-only", "semi-supervised")


def require_classifier(estimator: Any) -> None:
    """Refuse what cannot be cloned, fitted and asked."""
    missing = [name for name in ("fit", "predict", "get_params") if not hasattr(estimator, name)]
    if missing or isinstance(estimator, type):
        what = f"the class {estimator.__name__}" if isinstance(estimator, type) else type(estimator).__name__
        raise InvalidInputError(
            f"model must be a name, an estimator of ours, or a classifier with scikit-learn's fit, predict and "
            f"get_params. Got {what}"
            + (", not an instance: write parentheses behind it." if isinstance(estimator, type) else ".")
        )


@dataclass(frozen=True, eq=False)
class AnyPool(Pool[Rows]):
    """Rows with and without labels, and a classifier fitted to them."""

    any_learner: AnyLearner

    kind: ClassVar[PoolKind] = "documents"
    abilities: ClassVar[Abilities] = Abilities(formula_criteria=(), most_parameters=0)

    @property
    def n_parameters(self) -> None:
        """Not known of a classifier in general."""
        return None

    @property
    def tokens_per_position(self) -> float | None:
        return None

    @cached_property
    def in_numbers(self) -> Samples | None:
        return in_numbers(self.data)

    @property
    def learner(self) -> AnyLearner:
        return self.any_learner

    @property
    def is_conditional(self) -> bool:
        return "semi-supervised" not in self.learner.modes

    @property
    def model_digest(self) -> str:
        return ""

    def require_anchored(self) -> None:
        """Classes are told apart by their labels alone."""
