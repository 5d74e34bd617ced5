"""Array types and the checks that stand at every door. Kernels trust their caller; doors do not."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelworth.errors import InvalidInputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]

UNLABELED = -1
"""The class code of a sample whose class was not seen (scikit-learn's convention)."""

_SUM_TOLERANCE = 1e-9


def as_floats(name: str, values: ArrayLike, *, ndim: int | None = None) -> FloatArray:
    """Read `values` as a contiguous array of finite doubles, or say what is wrong with them."""
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"{name} must be numbers in a regular array; {error}.") from error
    if ndim is not None and array.ndim != ndim:
        raise InvalidInputError(f"{name} must have {ndim} dimension(s). Got shape {array.shape} instead.")
    require_finite(name, array)
    return array


def require_finite(name: str, values: AnyArray) -> None:
    """Refuse NaN and infinity, naming the first of them."""
    # A sum is finite only where all that is added is; tables of models are looked at in every EM step.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    finite = np.isfinite(values)
    if not finite.all():
        index = np.unravel_index(int(np.argmin(finite)), values.shape)
        where = ", ".join(str(int(number)) for number in index)
        raise InvalidInputError(
            f"{name} must be finite. Got {values[index]} at [{where}] "
            f"({int((~finite).sum())} such value(s)); remove or impute them."
        )


def require_shape(name: str, values: AnyArray, shape: Sequence[int]) -> None:
    """Refuse any other shape."""
    if values.shape != tuple(shape):
        raise InvalidInputError(f"{name} must have shape {tuple(shape)}. Got {values.shape} instead.")


def require_probabilities(name: str, values: FloatArray, *, positive: bool = False) -> None:
    """Refuse rows (last axis) that are not probabilities; with `positive`, refuse zeros too."""
    require_finite(name, values)
    if values.size == 0:
        raise InvalidInputError(f"{name} must not be empty.")
    smallest = float(values.min())
    if smallest < 0 or (positive and smallest == 0):
        wanted = "positive" if positive else "non-negative"
        raise InvalidInputError(f"{name} must be {wanted}. Got {smallest:g} instead.")
    sums = values.sum(axis=-1)
    worst = float(np.max(np.abs(sums - 1)))
    if worst > _SUM_TOLERANCE:
        total = float(np.ravel(sums)[int(np.argmax(np.abs(np.ravel(sums) - 1)))])
        raise InvalidInputError(f"{name} must sum to 1. Got a sum of {total:.12g} instead; divide by the sum.")


def require_between(name: str, value: float, low: float, high: float, *, open_low: bool = False) -> None:
    """Refuse a number outside [low, high], or (low, high] with `open_low`."""
    inside = (low < value <= high) if open_low else (low <= value <= high)
    if not inside:
        bracket = "(" if open_low else "["
        raise InvalidInputError(f"{name} must lie in {bracket}{low:g}, {high:g}]. Got {value!r} instead.")
