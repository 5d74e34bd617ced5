"""What a fit checks before it begins, and which rows or sequences count."""

from typing import TypeVar

import numpy as np

from labelworth.arrays import FloatArray, require_between
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.protocol import EMFamily, ParametersT

LARGEST = float(np.finfo(np.float64).max)
DataT = TypeVar("DataT", Samples, Sequences)


def require_search(unlabeled_weight: float, max_iterations: int, tolerance: float, n_starts: int) -> None:
    require_between("unlabeled_weight", unlabeled_weight, 0.0, LARGEST)
    require_between("max_iterations", max_iterations, 1, LARGEST)
    require_between("tolerance", tolerance, 0.0, LARGEST, open_low=True)
    require_between("n_starts", n_starts, 1, LARGEST)


def counting(data: DataT, unlabeled_weight: float) -> tuple[DataT, FloatArray]:
    """The rows or sequences that count, and how much: their weight, times `unlabeled_weight` if nothing is known."""
    if isinstance(data, Sequences):
        unit, weights = "sequence", data.sequence_weights
    else:
        unit, weights = "row", data.sample_weights
    if not weights.size:
        raise InvalidInputError(f"There are no {unit}s. Give at least one.")
    weights = np.where(data.is_labeled, weights, unlabeled_weight * weights)
    counted = weights > 0
    if not counted.any():
        cure = (
            "give some labels, or an unlabeled_weight above 0"
            if unlabeled_weight == 0
            else f"give a positive weight to some {unit}s"
        )
        raise InvalidInputError(f"No {unit} counts, so there is nothing to learn from: {cure}.")
    if counted.all():
        return data, weights
    return data.take(counted), weights[counted]


def impossible_start(
    model: ParametersT, family: EMFamily[ParametersT, DataT], data: DataT, weights: FloatArray
) -> InvalidInputError:
    """Why the objective of a starting model is minus infinity: which row or sequence it rules out, or the prior."""

    def is_possible(indices: slice) -> bool:
        rows = np.arange(len(weights))[indices]
        return bool(np.isfinite(family.prepare(data.take(rows), weights[rows]).expectation(model).log_likelihood))

    if is_possible(slice(None)):
        return InvalidInputError(
            "The starting model has probabilities of zero, which the prior rules out; smooth it."
        )
    first, last = 0, len(weights)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if is_possible(slice(first, middle)) else (first, middle)
    return InvalidInputError(
        f"The starting model gives the probability zero to some of the {unit_name(data)}s, the first of them "
        f"{unit_name(data)} {first}; begin from a model fitted with smoothing above 0, or let the fit find its own "
        "start."
    )


def unit_name(data: Samples | Sequences) -> str:
    return "sequence" if isinstance(data, Sequences) else "row"
