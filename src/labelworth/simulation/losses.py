"""Errors and log-losses of predictions, position by position, against labels that are known or drawn."""

from collections.abc import Sequence

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.evaluation.temperature import best_temperature
from labelworth.simulation.learner import Prediction

_PRECISION = 0.02  # of the logarithm of a temperature: log-losses are flat around the best one


def honest_temperature(predictions: Sequence[Prediction], codes: Sequence[IntArray]) -> float:
    """The temperature of least mean log-loss over all positions whose label is known, between 0.05 and 1000."""

    def loss(temperature: float) -> float:
        losses = [
            code_losses(prediction.log_posteriors(temperature), known)
            for prediction, known in zip(predictions, codes, strict=True)
        ]
        return float(np.nanmean(np.concatenate(losses)))

    return best_temperature(loss, precision=_PRECISION)


def code_losses(log_posteriors: FloatArray, codes: IntArray) -> FloatArray:
    """-log p of the label, position by position; NaN where it is not known."""
    losses: FloatArray = -log_posteriors[np.arange(len(codes)), codes]
    return np.where(codes >= 0, losses, np.nan)


def code_errors(best: IntArray, codes: IntArray) -> FloatArray:
    """1 where the prediction is wrong, 0 where it is right, NaN where the label is not known."""
    return np.where(codes >= 0, best != codes, np.nan).astype(np.float64)


def expected_error(best: IntArray, probabilities: FloatArray) -> float:
    """The expected share of wrong predictions when labels are drawn with these probabilities, (n_positions, K)."""
    return float(1.0 - probabilities[np.arange(len(best)), best].mean())


def expected_log_loss(prediction: Prediction, probabilities: FloatArray) -> float:
    """The mean log-loss to be expected under these probabilities, at the temperature where it is least."""

    def loss(temperature: float) -> float:
        log_posteriors = prediction.log_posteriors(temperature)
        # 0 log 0 is 0: what is never drawn costs nothing.
        terms = np.where(probabilities > 0, probabilities * log_posteriors, 0.0)
        return float(-terms.sum(axis=1).mean())

    return loss(best_temperature(loss, precision=_PRECISION))
