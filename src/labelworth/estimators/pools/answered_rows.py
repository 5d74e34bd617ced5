"""Any classifier that takes sample_weight, fitted together with those who answer: rows stand once per class.

Where a classifier is a likelihood (logistic regression) turns climb its objective. All others predict the rows they
were fitted to better than they know: what they say of such a row comes from fits to other rows, and nobody can prove
that turns settle; they stop when posteriors do.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.data.rows import Rows
from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.any_rows import (
    FAILURES,
    AnyLearner,
    FittedClassifier,
    as_targets,
    codes_of,
    in_short,
    labels_only,
    last_step,
    quietly,
)
from labelworth.estimators.pools.narrow import fitted_narrowly

_N_FOLDS = 5
_SMALLEST = 1e-6
"""Classes of a row that are less probable are not shown to a classifier."""
_ROUNDING = 1e-12
MOST_TURNS = 8
"""Of classifiers that climb nothing: six fits each, and most of what there is to learn comes first."""


@dataclass(frozen=True, eq=False)
class SoftFit:
    """A classifier fitted to how probable classes are."""

    fitted: FittedClassifier
    classes: tuple[Hashable, ...]
    kind: str
    features: Any  # Of the rows that it was fitted among.
    held_out: FloatArray | None  # (n, K): log p(y | x) of these, from fits to other rows; None: its own do.
    smoothing: float | None

    def log_joint(self, data: Rows) -> FloatArray:
        """log p(y | x), (n, K); x has no probability here."""
        if self.held_out is not None and data.features is self.features:
            return self.held_out
        with quietly():
            return self.fitted.log_posteriors(data.features, data.n_samples, self.smoothing)


@dataclass(frozen=True, eq=False)
class SteppedClassifier:
    """As `labelworth.estimation.turns` asks for it."""

    learner: AnyLearner
    classes: tuple[Hashable, ...]
    kind: str

    @cached_property
    def climbs(self) -> bool:
        """Whether it is logistic regression with a ridge and no weights of its own."""
        settings = last_step(labels_only(self.learner.estimator)).get_params()
        return bool(self.learner.worth_modes) and settings.get("class_weight") is None

    def stepped(self, data: Rows, weights: FloatArray, before: SoftFit | None, /) -> SoftFit:
        """A fit to what the last one and the evidence say of every row of which something is known."""
        likelihood = data.evidence.dense()
        if before is not None:
            log_joint = before.log_joint(data)
            likelihood = likelihood * np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        shares = likelihood / likelihood.sum(axis=1, keepdims=True) * weights[:, None]
        shown = np.flatnonzero(~data.evidence.is_unlabeled)
        fitted = self._fitted(data.features, shares, shown)
        if fitted.failure:
            raise InvalidInputError(f"{self.kind} cannot be fitted to these answers: {fitted.failure}.")
        smoothing = _ROUNDING if self.climbs else None
        held_out = None if self.climbs else self._held_out(data, shares, shown, fitted)
        return SoftFit(fitted, self.classes, self.kind, data.features, held_out, smoothing)

    def log_likelihood(self, model: SoftFit, data: Rows, weights: FloatArray, /) -> float:
        with np.errstate(divide="ignore"):
            log_seen = model.log_joint(data) + np.log(data.evidence.dense())
        return float(weights @ logsumexp(log_seen, axis=1))

    def log_prior(self, model: SoftFit, /) -> float:
        """That of the ridge, where it is one."""
        if not self.climbs or model.fitted.estimator is None:
            return 0.0
        last = last_step(model.fitted.estimator)
        return -float(np.square(last.coef_).sum()) / (2 * float(last.C))

    def _held_out(self, data: Rows, shares: FloatArray, shown: IntArray, fitted: FittedClassifier) -> FloatArray:
        """Of every row, from a fit that did not see it."""
        with quietly():
            predicted = fitted.log_posteriors(data.features, data.n_samples)
            order = np.random.default_rng(self.learner.seed).permutation(shown)
            for fold in np.array_split(order, min(_N_FOLDS, len(order))):
                rest = self._fitted(data.features, shares, np.setdiff1d(shown, fold))
                predicted[fold] = rest.log_posteriors(_safe_indexing(data.features, fold), len(fold))
        return predicted

    def _fitted(self, features: Any, shares: FloatArray, shown: IntArray) -> FittedClassifier:
        """Rows once per class, each counting as it is probable."""
        seen, own = _safe_indexing(features, shown), shares[shown]
        rows, codes = np.nonzero(own > _SMALLEST)
        counts, names = own.sum(axis=0), as_targets(self.classes)
        frequencies = (counts + 0.5) / (counts.sum() + 0.5 * len(counts))
        present = np.unique(codes)
        if len(present) < 2:
            return FittedClassifier(None, present, frequencies, names[present])
        classifier = clone(labels_only(self.learner.prepared))
        with quietly():
            try:
                weighted = names[own.argmax(axis=1)], rows, names[codes], own[rows, codes]
                fitted = fitted_narrowly(classifier, seen, lambda given: fit_weighted(classifier, given, *weighted))
            except FAILURES as error:
                return FittedClassifier(None, present, frequencies, names[present], in_short(error))
        said = np.asarray(fitted.classes_)
        return FittedClassifier(fitted, codes_of(said, names, last_step(fitted)), frequencies, said)


def fit_weighted(
    classifier: Any, features: Any, best: AnyArray, rows: IntArray, targets: AnyArray, weights: FloatArray
) -> Any:
    """Fit in place to rows that stand several times; steps before the last see each once, with its best class."""
    if isinstance(classifier, Pipeline):
        name, last = classifier.steps[-1]
        if len(classifier.steps) > 1:
            features = classifier[:-1].fit_transform(features, best)
        classifier.steps[-1] = (name, fit_weighted(last, features, best, rows, targets, weights))
        return classifier
    return classifier.fit(_safe_indexing(features, rows), targets, sample_weight=weights)


def takes_weights(learner: AnyLearner) -> bool:
    """Whether a classifier can be told how probable the classes of a row are."""
    last = last_step(labels_only(learner.estimator))
    return "labels-only" in learner.modes and has_fit_parameter(last, "sample_weight")


def require_weights(learner: AnyLearner, kind: str) -> None:
    """Refuse a classifier that cannot learn from answers.

    Raises
    ------
    InvalidInputError
    """
    if not takes_weights(learner):
        raise InvalidInputError(
            f"{kind} cannot learn from answers: its fit takes no sample_weight, and so cannot be told how probable "
            "each class of a row is. Take a classifier that does (logistic regression, trees, forests, boosting), or "
            "fit one to the answers and take the labels that it recovers (answered_posteriors_) for y."
        )
