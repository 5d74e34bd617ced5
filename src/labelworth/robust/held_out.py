"""Predictions for labeled rows by models that have not seen their labels, at several unlabeled weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.folds import labeled_folds
from labelworth.data.samples import Samples
from labelworth.estimation.fit import fit
from labelworth.evaluation.temperature import best_temperature
from labelworth.models.protocol import Family, ModelT
from labelworth.progress import SILENT, Progress, tracking

_TOLERANCE = 1e-4  # of the fits: predictions settle long before parameters do


@dataclass(frozen=True, eq=False)
class HeldOutPredictions:
    """What models fitted without a row's label say of it."""

    weights: tuple[float, ...]  # The unlabeled weights tried.
    codes: IntArray  # (n_tested,): The true classes.
    log_posteriors: FloatArray  # (n_weights, n_tested, K): log p(y | x).
    # (n_weights,): What the log-odds are divided by to make them honest: naive Bayes is too sure of itself, and
    # more so with unlabeled rows. One number per weight, the one of least log-loss over all tested rows.
    temperatures: FloatArray

    @property
    def n_tested(self) -> int:
        return len(self.codes)

    def losses(self, weight: float) -> FloatArray:
        """-log p(y | x) of the true class, row by row, (n_tested,)."""
        return true_class_losses(self.log_posteriors[self.weights.index(weight)], self.codes)

    def tempered_losses(self, weight: float) -> FloatArray:
        """The same with honest log-odds."""
        index = self.weights.index(weight)
        return true_class_losses(tempered(self.log_posteriors[index], self.temperatures[index]), self.codes)

    def errors(self, weight: float) -> FloatArray:
        """1 where the most probable class is wrong, else 0, (n_tested,)."""
        predicted = self.log_posteriors[self.weights.index(weight)].argmax(axis=1)
        return np.asarray(predicted != self.codes, dtype=np.float64)


def held_out_predictions(
    family: Family[ModelT],
    samples: Samples,
    weights: Sequence[float],
    *,
    n_folds: int,
    rng: np.random.Generator,
    fitting: dict[str, Any] | None = None,
    progress: Progress = SILENT,
) -> HeldOutPredictions:
    """Deal the labeled rows into folds; predict each by fits to the other folds and all unlabeled rows.

    Every weight is tried on the same folds, and every fit starts where the estimator would start: from the labels of
    its own training rows.

    Parameters
    ----------
    weights : sequence of float
        Unlabeled weights; 0 uses the labels only.
    rng : Generator
        Deals the rows.
    fitting : dict, optional
        Further arguments of `labelworth.estimation.fit.fit`.
    """
    arguments = {"tolerance": _TOLERANCE, **(fitting or {})}
    folds = labeled_folds(samples.evidence, n_folds, rng)
    rows = np.concatenate([fold.test for fold in folds])
    log_posteriors = np.empty((len(weights), rows.size, samples.evidence.n_classes))
    with tracking(progress, "cross-validation", len(folds) * len(weights)) as task:
        first = 0
        for fold in folds:
            train, test = samples.take(fold.train), samples.take(fold.test).hide()
            for index, weight in enumerate(weights):
                model = fit(family, train, unlabeled_weight=weight, **arguments).model
                joint = model.log_joint(test)
                log_posteriors[index, first : first + fold.test.size] = log_softmax(joint, axis=1)
                task.advance()
            first += fold.test.size
    codes = samples.evidence.codes[rows]
    temperatures = np.array([honest_temperature(block, codes) for block in log_posteriors])
    return HeldOutPredictions(tuple(float(weight) for weight in weights), codes, log_posteriors, temperatures)


def true_class_losses(log_posterior: FloatArray, codes: IntArray) -> FloatArray:
    """-log p of the true class, (n,)."""
    losses: FloatArray = -log_posterior[np.arange(len(codes)), codes]
    return losses


def tempered(log_posterior: FloatArray, temperature: float) -> FloatArray:
    """Divide the log-odds by the temperature."""
    return np.asarray(log_softmax(log_posterior / temperature, axis=1))


def honest_temperature(log_posterior: FloatArray, codes: IntArray) -> float:
    """The temperature of least mean log-loss."""
    return best_temperature(
        lambda temperature: float(true_class_losses(tempered(log_posterior, temperature), codes).mean())
    )
