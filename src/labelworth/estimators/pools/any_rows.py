"""Rows with any classifier of scikit-learn's manners, known by its fits alone: no likelihood, no formulas."""

import sys
import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline
from threadpoolctl import ThreadpoolController

from labelworth.arrays import UNLABELED, AnyArray, FloatArray, IntArray
from labelworth.channels.channel import Channel
from labelworth.data.rows import Rows
from labelworth.data.samples import Samples
from labelworth.data.views import are_counts, are_documents, in_numbers
from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.documents import ClassPrediction
from labelworth.estimators.pools.narrow import fitted_narrowly
from labelworth.estimators.pools.pool import Abilities, Pool, PoolKind
from labelworth.estimators.pools.sources import row_sources
from labelworth.simulation.learner import Learner, LearnerKind, Mode, Source, known_codes
from labelworth.simulation.pilot_points import point_sizes

SMOOTHING = 1e-3
"""Share of every prediction that is spread over all classes: forests and neighbors say zero and one."""
PLAIN_SMOOTHING = 0.05
"""The same of learners that name a class and say no more."""
_LINEAR = ("LogisticRegression", "LinearSVC", "SGD", "Ridge", "Perceptron", "PassiveAggressive", "LinearDiscriminant")
_CLIMBING = ("sklearn.linear_model", "sklearn.svm", "sklearn.neural_network")
"""Where estimators live that take steps until little is left to gain."""
_UNSEEN = 5.0
"""By how much the score of a class without a label lies below the least score of all."""
FAILURES = (ValueError, TypeError, ArithmeticError, LookupError, RuntimeError, AttributeError, AssertionError)
"""What estimators say that are given too little, or what they cannot take."""
_MOST_NAMES = 8
_N_TRIED = 5
"""So many small parts of the pilot are tried, before a plan speaks of the least that a classifier learns from."""


@dataclass(frozen=True, eq=False)
class PreparedRows(Rows):
    """Rows whose features were made of others."""

    given: Any = None  # What they were made of.

    def take(self, rows: AnyArray) -> "PreparedRows":
        # Only the whole pool is asked for what it was made of.
        answers = self.answers_at(self.positions_of(rows))
        return replace(
            self, features=self.features[rows], evidence=self.evidence.take(rows), answers=answers, given=None
        )


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """What a fit gave: a fitted estimator, or the shares of classes where there was nothing to tell apart."""

    estimator: Any  # None: it could not be fitted, or only one class was labeled, which estimators refuse.
    codes: IntArray  # What the estimator's own classes are, as codes, in its order.
    shares: FloatArray  # (n_classes,): Of the labels, smoothed.
    own_classes: AnyArray  # As the estimator names them, in the same order.
    failure: str = ""  # Why it could not be fitted.

    def log_posteriors(self, features: Any, n_samples: int, smoothing: float | None = None) -> FloatArray:
        """log p(class | x) as far as the estimator says it, (n, n_classes); probabilities smoothed as usual, or so.

        Raises
        ------
        ValueError
            If it says what is not a number.
        """
        if self.estimator is None:
            return self.log_shares(n_samples)
        if hasattr(self.estimator, "predict_proba"):
            share = SMOOTHING if smoothing is None else smoothing
            return self._smoothed(_numbers(self.estimator.predict_proba(features)), share)
        if hasattr(self.estimator, "decision_function"):
            scores = _numbers(self.estimator.decision_function(features))
            scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
            # Scores of pairs of classes are not those of classes: then it is asked to predict.
            is_by_pairs = getattr(last_step(self.estimator), "decision_function_shape", "ovr") == "ovo"
            if not is_by_pairs and scores.shape[1] == len(self.codes):
                full = np.full((len(scores), len(self.shares)), scores.min() - _UNSEEN)
                full[:, self.codes] = scores
                return np.asarray(log_softmax(full, axis=1))
        if not hasattr(self.estimator, "predict"):
            raise TypeError("once it is fitted, it has neither predict_proba, decision_function nor predict")
        named = np.asarray(self.estimator.predict(features))
        return self._smoothed(named[:, None] == self.own_classes[None, :], PLAIN_SMOOTHING)

    def log_shares(self, n_samples: int) -> FloatArray:
        """The same for every row: what labels alone say, (n, n_classes)."""
        return np.tile(np.log(self.shares), (n_samples, 1))

    def _smoothed(self, own: AnyArray, smoothing: float) -> FloatArray:
        n_classes = len(self.shares)
        probabilities = np.zeros((len(own), n_classes))
        probabilities[:, self.codes] = own
        return np.log((1 - smoothing) * probabilities + smoothing / n_classes)


def _numbers(values: Any) -> FloatArray:
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("its predictions are not numbers")
    return numbers


@dataclass(frozen=True, eq=False)
class AnyLearner(Learner[Rows]):
    """Clones of one estimator, each fitted to the rows shown.

    Every ``random_state`` that is left open is drawn from the seed, and every ``n_jobs`` is one: fits run side by
    side already.
    """

    estimator: Any  # Yet to be fitted.
    seed: int = 0
    channels: tuple[Channel, ...] = ()  # What is known of those who answer.
    # As `has_scores`, of what was fitted: a way to predict may appear with the fit. None: nothing was fitted yet.
    fits_have_scores: bool | None = None

    in_processes: ClassVar[bool] = True
    n_other_sources: ClassVar[int] = 2

    @cached_property
    def prepared(self) -> Any:
        """The estimator with its chance and its threads settled."""
        return settled(self.estimator, self.seed)

    @property
    def kind(self) -> LearnerKind:
        """By the name of its type; what is not known is taken for local, whose forecasts are wider."""
        name = type(last_step(labels_only(self.estimator))).__name__
        if name.endswith("NB"):
            return "vectors" if name == "GaussianNB" else "generative"
        return "linear" if name.startswith(_LINEAR) else "local"

    @property
    def has_scores(self) -> bool:
        """As in `FittedClassifier.log_posteriors`: what only predicts, or scores pairs of classes, has none."""
        return gives_scores(self.estimator) if self.fits_have_scores is None else self.fits_have_scores

    def sources(self, data: Rows, workers: int | None = 1) -> dict[str, Source]:
        return row_sources(self, data, workers)

    @property
    def learns_answers(self) -> bool:
        from labelworth.estimators.pools.answered_rows import takes_weights

        return takes_weights(self)

    def search_answered(self, classes: tuple[Hashable, ...], kind: str) -> tuple[Any, dict[str, Any]]:
        """How it is fitted together with those who answer."""
        from labelworth.estimators.pools.answered_rows import MOST_TURNS, SteppedClassifier, require_weights

        require_weights(self, kind)
        family = SteppedClassifier(self, classes, kind)
        # Rows of which nothing is known stay among the others, and are not shown to the classifier.
        return family, {"unlabeled_weight": 1.0, **({} if family.climbs else {"max_turns": MOST_TURNS})}

    def _fit_answered(self, data: Rows) -> FittedClassifier:
        from labelworth.estimation.annotators import Annotators
        from labelworth.estimation.answered import AnsweredFamily
        from labelworth.estimation.answered_fit import fit_together

        names = () if data.answers is None else data.answers.names
        known = [channel for channel in self.channels if channel.name in names]
        family, options = self.search_answered(data.evidence.classes, type(last_step(self.estimator)).__name__)
        annotators = Annotators.of(names, data.evidence.classes, channels=known)
        fitted: FittedClassifier = fit_together(AnsweredFamily(family, annotators), data, options).model.inner.fitted
        return fitted

    def fit_model(self, data: Rows, start: Any) -> FittedClassifier:
        """Classifiers that refuse so few labels answer with the shares of the classes; ``failure`` says why."""
        if data.answers is not None:
            return self._fit_answered(data)
        codes, classes = known_codes(data), data.evidence.classes
        counts = np.bincount(codes[codes >= 0], minlength=len(classes))
        shares = (counts + 0.5) / (counts.sum() + 0.5 * len(classes))
        present = np.flatnonzero(counts)
        names = as_targets(classes)
        if len(present) < 2:
            return FittedClassifier(None, present, shares, names[present])
        with quietly():
            try:
                if self.mode == "semi-supervised":
                    # Numbers: names beside the marker -1 are not sorted by everybody.
                    names = names if _are_counted(classes) else np.arange(len(classes))
                    targets = np.where(codes >= 0, names[codes], UNLABELED)
                    fitted = clone(self.prepared).fit(data.features, targets)
                else:
                    seen, classifier = data.take(codes >= 0), clone(labels_only(self.prepared))
                    targets = names[known_codes(seen)]
                    fitted = fitted_narrowly(classifier, seen.features, lambda rows: classifier.fit(rows, targets))
            except FAILURES as error:
                return FittedClassifier(None, present, shares, names[present], in_short(error))
        own = np.asarray(getattr(fitted, "classes_", np.unique(names[present])))
        return FittedClassifier(fitted, codes_of(own, names, last_step(fitted)), shares, own)

    def predict(self, model: Any, data: Rows) -> ClassPrediction:
        try:
            with quietly():
                return ClassPrediction(model.log_posteriors(data.features, data.n_samples))
        except FAILURES:
            # Five neighbors of three rows.
            return ClassPrediction(model.log_shares(data.n_samples))

    @property
    def worth_modes(self) -> tuple[Mode, ...]:
        """Of logistic regression with a ridge, which learns from labels alone."""
        last = last_step(labels_only(self.estimator))
        if type(last).__name__ != "LogisticRegression" or "labels-only" not in self.modes:
            return ()
        settings = last.get_params()
        is_plain = settings.get("penalty") in ("l2", "deprecated") and not settings.get("l1_ratio")
        return ("labels-only",) if is_plain else ()

    def worths(self, model: Any, data: Rows) -> FloatArray:
        """At the fit, of features as its last step takes them; see `ConditionalWorth`."""
        if self.mode not in self.worth_modes:
            return super().worths(model, data)
        from labelworth.fisher.documents.conditional_worth import ConditionalWorth

        features = data.features
        if isinstance(model.estimator, Pipeline):
            features = model.estimator[:-1].transform(features)
        probabilities = np.exp(self.predict(model, data).log_posteriors(1.0))
        ridge = 1 / float(last_step(labels_only(self.estimator)).C)
        return ConditionalWorth.at(features, probabilities, data.is_labeled, ridge, self.seed).gains()

    def failure(self, data: Rows, model: Any = None) -> str:
        """Why it cannot be fitted to the labels of `data`, or cannot predict all of it then; empty: it can."""
        model = self.fit(data) if model is None else model
        try:
            with quietly():
                model.log_posteriors(data.features, data.n_samples)
        except FAILURES as error:
            return in_short(error)
        return str(model.failure)


@contextmanager
def quietly() -> Iterator[None]:
    """Run others' code without threads of its own, since fits run side by side already, and without its warnings.

    What a fit to a few rows has to say of itself is not repeated a hundred times.
    """
    with warnings.catch_warnings(), _thread_pools(len(sys.modules)).limit(limits=1, user_api="openmp"):
        warnings.simplefilter("ignore")
        yield


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    """The libraries with threads of their own; they are looked for again, which takes long, after every import."""
    return ThreadpoolController()


def settled(estimator: Any, seed: int) -> Any:
    """A copy in which every ``random_state`` that is left open is the seed, and every ``n_jobs`` is one."""
    copy = clone(estimator)
    parameters = {}
    for name, value in copy.get_params(deep=True).items():
        last = name.rpartition("__")[2]
        if last == "random_state" and value is None:
            parameters[name] = seed
        elif last == "n_jobs" and value not in (None, 1):
            parameters[name] = 1
    return copy.set_params(**parameters)


def in_short(error: Exception) -> str:
    """The first line of what an error says, without the full stop."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(". ")


def as_targets(classes: tuple[Any, ...]) -> AnyArray:
    """Classes as scikit-learn takes them: their own names if those are all texts, whole numbers or truth values.

    What NumPy would change, or nobody can sort, becomes the code of the class.
    """
    kinds = {type(name) for name in classes}
    return np.array(classes) if len(kinds) == 1 and kinds <= {str, int, bool} else np.arange(len(classes))


def codes_of(own: AnyArray, names: AnyArray, classifier: Any) -> IntArray:
    """Which of the classes that were shown each of a classifier's own is.

    Raises
    ------
    InvalidInputError
        If one of them is none of those.
    """
    code_of = {name: code for code, name in enumerate(names.tolist())}
    if not set(own.tolist()) <= code_of.keys():
        theirs, shown = (", ".join(map(repr, some.tolist()[:_MOST_NAMES])) for some in (own, names))
        raise InvalidInputError(
            f"{type(classifier).__name__}.classes_ must hold classes as fit was given them. They are {theirs}, and "
            f"fit was given {shown}."
        )
    return np.array([code_of[name] for name in own.tolist()])


def _are_counted(classes: tuple[Any, ...]) -> bool:
    return all(type(name) is int and name != UNLABELED for name in classes)


def last_step(estimator: Any) -> Any:
    """What predicts: the last step of a pipeline, or the estimator itself."""
    return last_step(estimator.steps[-1][1]) if isinstance(estimator, Pipeline) else estimator


def gives_scores(estimator: Any) -> bool:
    """Whether it has probabilities, or scores of classes and not of pairs of them."""
    if hasattr(estimator, "predict_proba"):
        return True
    is_by_pairs = getattr(last_step(estimator), "decision_function_shape", "ovr") == "ovo"
    return hasattr(estimator, "decision_function") and not is_by_pairs


def has_converged(estimator: Any) -> bool:
    """Whether an estimator that climbs stopped before its last step; of others nothing is known to speak against it.

    Rounds of boosting, or of self-training, have their number by design.
    """
    last = None if estimator is None else last_step(estimator)
    most = getattr(last, "max_iter", None)
    if not type(last).__module__.startswith(_CLIMBING) or most is None or most < 0:
        return True
    return bool(np.max(getattr(last, "n_iter_", 0)) < most)


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
    """Refuse what cannot be cloned and fitted; what it can be asked shows once it is fitted."""
    missing = [name for name in ("fit", "get_params") if not hasattr(estimator, name)]
    if missing or isinstance(estimator, type):
        what = f"the class {estimator.__name__}" if isinstance(estimator, type) else type(estimator).__name__
        raise InvalidInputError(
            f"model must be a name, an estimator of ours, or a classifier with scikit-learn's fit and get_params "
            f"that predicts once it is fitted. Got {what}"
            + (", not an instance: write parentheses behind it." if isinstance(estimator, type) else ".")
        )
    # Who inherits nothing from scikit-learn has no tags to read.
    if hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator):
        raise InvalidInputError(
            f"model must be a classifier: labels are names, and {type(estimator).__name__} predicts amounts."
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
        """Words per document where they were counted."""
        given: Any = getattr(self.data, "given", None)
        return float(given.sum() / self.n_samples) if hasattr(given, "tocsr") else None

    @property
    def samples(self) -> str:
        given: Any = getattr(self.data, "given", None)
        return self.kind if are_documents(self.data.features if given is None else given) else "rows"

    @cached_property
    def in_numbers(self) -> Samples | None:
        return in_numbers(self.data)

    @property
    def learner(self) -> AnyLearner:
        return self.any_learner

    def search_answered(self, data: Rows) -> tuple[Any, dict[str, Any]]:
        """How the classifier is fitted together with those who answer."""
        return self.learner.search_answered(data.evidence.classes, self.model_name)

    @property
    def is_conditional(self) -> bool:
        return "semi-supervised" not in self.learner.modes

    @property
    def model_digest(self) -> str:
        return ""

    @cached_property
    def notes(self) -> list[str]:
        """How values were taken, and from how many labels on the classifier can be fitted."""
        given: Any = getattr(self.data, "given", None)
        taken = []
        if hasattr(given, "tocsr") and not are_counts(given):
            taken.append(
                "The sparse matrix holds values that are no whole counts: its columns were scaled as those of "
                "vectors, not weighted as words are."
            )
        return [*taken, *self._fewest_labels()]

    def _fewest_labels(self) -> list[str]:
        """That the smallest parts of the pilot are too few to fit the classifier to, where they are."""
        if "labels-only" not in self.learner.modes:
            return []
        learner, labeled = self.learner.in_mode("labels-only"), np.flatnonzero(known_codes(self.data) >= 0)
        failed, failure = 0, ""
        for size in point_sizes(len(labeled)).tolist():
            parts = [np.random.default_rng([size, part]).permutation(labeled)[:size] for part in range(_N_TRIED)]
            failures = [learner.failure(self.data.take(np.sort(part))) for part in parts]
            if not any(failures):
                break
            failed, failure = size, next(filter(None, failures))
        if not failed:
            return []
        return [
            f"{self.model_name} cannot always be fitted to {failed:,} labels ({failure}): parts of the pilot that "
            "are so small were left out of its curve."
        ]

    def require_anchored(self) -> None:
        """Classes are told apart by their labels alone."""
