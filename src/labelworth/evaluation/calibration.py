"""How far probabilities can be believed: how often what is said to be so sure is right."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray, IntArray, require_shape
from labelworth.errors import InvalidInputError

BOUNDS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Where the groups of confidence begin and end: finer where much is certain."""


@dataclass(frozen=True)
class ConfidenceGroup:
    """Rows whose most probable class is about as sure."""

    low: float  # Between these confidences.
    high: float
    n_rows: int
    confidence: float  # The mean of the largest probability.
    right: float  # How often the most probable class is the true one, and the standard error of that.
    right_se: float


@dataclass(frozen=True)
class Calibration:
    """Probabilities of classes held against the truth."""

    n_rows: int
    accuracy: float
    accuracy_se: float
    confidence: float  # The mean of the largest probability: equal to the accuracy where it can be believed.
    log_loss: float  # In nats.
    log_loss_se: float
    groups: tuple[ConfidenceGroup, ...]

    @property
    def overconfidence(self) -> float:
        """By how much it is surer than right, on average."""
        return self.confidence - self.accuracy

    @property
    def words(self) -> str:
        """In a sentence."""
        if abs(self.overconfidence) <= 2 * self.accuracy_se:
            verdict = "they can be believed as they are"
        elif self.overconfidence > 0:
            verdict = "they are surer than right: take them for an order, not for odds"
        else:
            verdict = "they are less sure than they could be"
        return (
            f"On {self.n_rows:,} rows with gold that was held out, the most probable class is right in "
            f"{100 * self.accuracy:.1f} % (+- {200 * self.accuracy_se:.1f}) and said to be so with "
            f"{100 * self.confidence:.1f} %: {verdict}."
        )


def calibration(posteriors: FloatArray, truth: IntArray) -> Calibration:
    """Hold probabilities (n, K) against the codes of the true classes (n,).

    Raises
    ------
    InvalidInputError
        If there are no rows.

    Examples
    --------
    >>> found = calibration(np.array([[0.8, 0.2], [0.8, 0.2], [0.4, 0.6]]), np.array([0, 1, 1]))
    >>> round(found.accuracy, 3), round(found.confidence, 3), round(found.overconfidence, 3)
    (0.667, 0.733, 0.067)
    """
    require_shape("truth", truth, (len(posteriors),))
    if not len(truth):
        raise InvalidInputError("There is no row whose class is known, to hold probabilities against.")
    sure, right = posteriors.max(axis=1), posteriors.argmax(axis=1) == truth
    with np.errstate(divide="ignore"):
        losses = -np.log(posteriors[np.arange(len(truth)), truth])
    index = np.clip(np.searchsorted(BOUNDS, sure, side="right") - 1, 0, len(BOUNDS) - 2)
    groups = []
    for group in np.unique(index).tolist():
        own = index == group
        groups.append(
            ConfidenceGroup(
                BOUNDS[group], BOUNDS[group + 1], int(own.sum()), float(sure[own].mean()), *_mean(right[own])
            )
        )
    return Calibration(len(truth), *_mean(right), float(sure.mean()), *_mean(losses), tuple(groups))


def _mean(values: FloatArray | np.ndarray) -> tuple[float, float]:
    """With its standard error."""
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))
