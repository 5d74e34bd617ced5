"""What was realized: error, log-loss and F1 on rows whose class is known."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray, IntArray, require_shape
from labelworth.data.evidence import Evidence
from labelworth.errors import InvalidInputError

_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class ClassScores:
    """How well one class is found."""

    name: Hashable  # The class.
    n_rows: int  # How many rows are of it.
    # Precision is the share of right ones among rows predicted to be of it, recall the share found among rows
    # of it, F1 their harmonic mean; 0 where nothing was predicted, or there is nothing to find.
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Evaluation:
    """Scores on the rows with a known class."""

    n_rows: int  # How many those are.
    error: float  # The share of wrong predictions, and the standard error of this mean.
    error_se: float
    # The mean of -log p(y | x) in nats, and its standard error; infinite if a true class was ruled out.
    log_loss: float
    log_loss_se: float
    macro_f1: float  # The mean of F1 over the classes that occur in truth or prediction.
    classes: tuple[ClassScores, ...]


def evaluate(posterior: FloatArray, evidence: Evidence) -> Evaluation:
    """Score class probabilities against what is known; the most probable class is the prediction.

    Parameters
    ----------
    posterior : array of shape (n, K)
        p(y | x), classes in the order of `evidence`.
    evidence : Evidence
        Only rows with a known class count: neither unlabeled nor ambiguous ones.

    Raises
    ------
    InvalidInputError
        If no row has a known class, or the probabilities are not such.

    Examples
    --------
    >>> from labelworth.data.evidence import encode_labels
    >>> truth = encode_labels(["ham", "spam", "spam", -1])
    >>> scores = evaluate(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]]), truth)
    >>> scores.n_rows, round(scores.error, 4), round(scores.log_loss, 4)
    (3, 0.3333, 0.4149)
    """
    require_shape("posterior", posterior, (evidence.n_samples, evidence.n_classes))
    gold = np.flatnonzero(evidence.is_gold)
    if not gold.size:
        raise InvalidInputError("There is nothing to evaluate on: no row has a known class.")
    truth, probabilities = evidence.codes[gold], np.asarray(posterior, dtype=np.float64)[gold]
    if not (probabilities >= 0).all() or np.abs(probabilities.sum(axis=1) - 1).max() > _SUM_TOLERANCE:
        raise InvalidInputError("posterior must hold probabilities: non-negative rows that sum to 1.")
    predicted = probabilities.argmax(axis=1)
    wrong = (predicted != truth).astype(np.float64)
    with np.errstate(divide="ignore"):
        losses = -np.log(probabilities[np.arange(len(gold)), truth])
    by_class = _class_scores(truth, predicted, evidence.classes)
    occurring = [scores.f1 for code, scores in enumerate(by_class) if scores.n_rows or (predicted == code).any()]
    return Evaluation(
        len(gold),
        float(wrong.mean()),
        _standard_error(wrong),
        float(losses.mean()),
        _standard_error(losses),
        float(np.mean(occurring)),
        by_class,
    )


def _class_scores(truth: IntArray, predicted: IntArray, classes: tuple[Hashable, ...]) -> tuple[ClassScores, ...]:
    n_classes = len(classes)
    actual, claimed = np.bincount(truth, minlength=n_classes), np.bincount(predicted, minlength=n_classes)
    right = np.bincount(truth[truth == predicted], minlength=n_classes)
    return tuple(
        ClassScores(
            name,
            int(actual[code]),
            _share(right[code], claimed[code]),
            _share(right[code], actual[code]),
            _share(2 * right[code], actual[code] + claimed[code]),
        )
        for code, name in enumerate(classes)
    )


def _share(part: int, whole: int) -> float:
    return float(part / whole) if whole else 0.0


def _standard_error(values: FloatArray) -> float:
    """Of the mean; not a number for a single row, infinite with an infinite value."""
    if len(values) < 2:
        return float("nan")
    if not np.isfinite(values).all():
        return float("inf")
    return float(values.std(ddof=1) / np.sqrt(len(values)))
