"""Labels of rows that were chosen: with what probability, and what each counts where predictions are judged."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.errors import InvalidInputError


class DrawnLabels(list[Any]):
    """Labels as y takes them, with the probabilities with which `labelworth next` drew their rows.

    Forecasts, the verdict on unlabeled data and the choice of a model count a label by what `judged` says, so that
    they speak of all rows and not of those that were chosen. Fits do not: given x, which rows were chosen says
    nothing of their classes.

    Parameters
    ----------
    labels : one per row
        None where there is none.
    probabilities : array-like of shape (n,)
        Of each labeled row to be drawn in its batch; NaN: none was logged, the row is one of a start drawn at random.
    batches : array-like of shape (n,), optional
        In which batch it was drawn: 1, 2, ... All in the first when absent.

    Examples
    --------
    >>> y = DrawnLabels(["spam", "ham", "ham", None], [0.5, 0.25, 0.25, float("nan")])
    >>> y.judged.round(2).tolist()
    [0.6, 1.2, 1.2, 1.0]
    """

    def __init__(
        self,
        labels: Iterable[Any],
        probabilities: "Sequence[float] | FloatArray",
        batches: "Sequence[int] | IntArray | None" = None,
    ) -> None:
        super().__init__(labels)
        logged = np.asarray(probabilities, dtype=np.float64)
        numbers = np.ones(len(self), dtype=np.int64) if batches is None else np.asarray(batches, dtype=np.int64)
        if logged.shape != (len(self),) or numbers.shape != (len(self),):
            raise InvalidInputError(
                f"There must be one probability and one batch per row. Got {len(self):,} rows, {logged.shape} and "
                f"{numbers.shape}."
            )
        known = ~np.isnan(logged)
        if (logged[known] <= 0).any() or (logged[known] > 1 + 1e-9).any():
            raise InvalidInputError("The probability of a row to be drawn must lie above 0 and be 1 at most.")
        labeled = np.array([label is not None for label in self], dtype=bool)
        self.judged: FloatArray = judging_weights(labeled, logged, numbers)


def judging_weights(labeled: Any, probabilities: FloatArray, batches: IntArray) -> FloatArray:
    r"""What every labeled row counts, (n,), one on average over the labeled rows; one of rows without a label.

    Batch b was drawn from the :math:`N_b` rows that had no label then, so that
    :math:`\sum_{\text{labeled before}} \ell_i + N_b \sum_{i \in b} \frac{\ell_i}{\pi_i} / \sum_{i \in b}
    \frac1{\pi_i}` is a sum over all rows, whatever was labeled before and why; batches are averaged in proportion to
    their labels (as Farquhar, Gal & Rainforth 2021 do for batches of one). Rows without a probability are the
    start, a draw at random. Where a batch was labeled in part, in its random order, nothing changes.
    """
    is_start = np.isnan(probabilities)
    number = np.where(is_start, 0, np.maximum(batches, 1))
    weights, left = np.zeros(len(probabilities)), float(len(probabilities))
    before = np.zeros(len(probabilities), dtype=bool)
    n_labeled = int(np.sum(labeled))
    for batch in np.unique(number[labeled]):
        own = labeled & (number == batch)
        share = own.sum() / n_labeled
        inverse = np.where(own, 1.0, 0.0) if batch == 0 else np.where(own, 1 / np.where(own, probabilities, 1.0), 0.0)
        weights += share * (before + left * inverse / inverse.sum())
        before |= own
        left -= own.sum()
    mean = weights[labeled].mean() if n_labeled else 1.0
    return np.where(labeled, weights / mean, 1.0)
