"""Predictions for labeled rows by models that have not seen their labels, fitted in several ways to all others."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from scipy.special import log_softmax

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.folds import Fold, labeled_folds
from labelworth.data.samples import Samples
from labelworth.engines.runner import Threads, at_work
from labelworth.estimation.fit import fit
from labelworth.evaluation.temperature import best_temperature
from labelworth.models.protocol import Family, ModelT
from labelworth.progress import SILENT, Progress, tracking

TOLERANCE = 1e-4
"""Of the fits: predictions settle long before parameters do."""
WayT = TypeVar("WayT", bound=Hashable)


@dataclass(frozen=True, eq=False)
class HeldOutPredictions(Generic[WayT]):
    """What models fitted without a row's label say of it."""

    ways: tuple[WayT, ...]  # What was tried: unlabeled weights, or whose answers were learned from.
    codes: IntArray  # (n_tested,): The true classes.
    log_posteriors: FloatArray  # (n_ways, n_tested, K): log p(y | x).
    # (n_ways,): What the log-odds are divided by to make them honest: naive Bayes is too sure of itself, and more so
    # with unlabeled rows. One number per way, the one of least log-loss over all tested rows.
    temperatures: FloatArray
    judged: FloatArray | None = None  # (n_tested,): What every row counts; None: one each. See `Evidence.judged`.

    @property
    def n_tested(self) -> int:
        return len(self.codes)

    def losses(self, way: WayT) -> FloatArray:
        """-log p(y | x) of the true class, row by row, (n_tested,)."""
        return true_class_losses(self.log_posteriors[self.ways.index(way)], self.codes)

    def tempered_losses(self, way: WayT) -> FloatArray:
        """The same with honest log-odds."""
        index = self.ways.index(way)
        return true_class_losses(tempered(self.log_posteriors[index], self.temperatures[index]), self.codes)

    def errors(self, way: WayT) -> FloatArray:
        """1 where the most probable class is wrong, else 0, (n_tested,)."""
        predicted = self.log_posteriors[self.ways.index(way)].argmax(axis=1)
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
) -> HeldOutPredictions[float]:
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
    arguments = {"tolerance": TOLERANCE, **(fitting or {})}

    folds = labeled_folds(samples.evidence, n_folds, rng)
    ways = {float(weight): partial(_fitted, family, arguments, float(weight)) for weight in weights}
    return predictions_of(samples, folds, ways, progress)


def _fitted(family: Any, arguments: dict[str, Any], weight: float, train: Samples) -> Any:
    return fit(family, train, unlabeled_weight=weight, **arguments).model


def predictions_of(
    samples: Samples,
    folds: Sequence[Fold],
    fits: Mapping[WayT, Callable[[Samples], Any]],
    progress: Progress = SILENT,
) -> HeldOutPredictions[WayT]:
    """Predict the tested rows of every fold, in the order of folds, by models that `fits` make of the other rows."""
    rows = np.concatenate([fold.test for fold in folds])
    items = [(fold, way) for fold in folds for way in fits]
    blocks: dict[WayT, list[FloatArray]] = {way: [] for way in fits}
    runner = at_work()
    if runner is None or not runner.is_elsewhere:
        runner = Threads(1)
    with tracking(progress, "cross-validation", len(items)) as task:
        for (_, way), block in zip(items, runner.map(_predicted, (samples, dict(fits)), items), strict=True):
            blocks[way].append(block)
            task.advance()
    log_posteriors = np.array([np.concatenate(own) for own in blocks.values()])
    codes = samples.evidence.codes[rows]
    temperatures = np.array([honest_temperature(block, codes) for block in log_posteriors])
    judged = samples.evidence.take(rows).judged
    return HeldOutPredictions(tuple(fits), codes, log_posteriors, temperatures, judged)


def _predicted(shared: tuple[Samples, dict[Any, Any]], item: tuple[Fold, Any]) -> FloatArray:
    """log p(y | x) of the tested rows of one fold by one way to fit."""
    (samples, fits), (fold, way) = shared, item
    joint = fits[way](samples.take(fold.train)).log_joint(samples.take(fold.test).hide())
    return np.asarray(log_softmax(joint, axis=1))


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
