"""Functions of one length: how far something fits, where it is first met, where it is least."""

from collections.abc import Callable

import numpy as np

_HALVINGS = 40
_SECTIONS = 24
_CLOSE = 1e-12


def farthest(fits: Callable[[float], bool], limit: float) -> float:
    """The largest length that fits, by halving; costs are taken to rise with the number of samples."""
    if fits(limit):
        return limit
    low, high = 0.0, limit
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def first_met(excess: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is no longer positive, given that it is not at `high`: the Illinois method.

    The chord of a convex function ends where it is met already; the other end then counts half, so that it moves too.
    """
    above, below, is_lower = excess(low), excess(high), False
    for _ in range(2 * _HALVINGS):
        if above <= 0:
            return low
        if below == 0 or high - low <= _CLOSE * high:
            break
        middle = high + (high - low) * below / (above - below) if np.isfinite(above) else (low + high) / 2
        value = excess(middle)
        if value <= 0:
            high, below, above = middle, value, above / 2 if is_lower else above
            is_lower = True
        else:
            low, above, below = middle, value, below / 2 if not is_lower else below
            is_lower = False
    return high


def golden_section(function: Callable[[float], float], low: float, high: float) -> float:
    """The minimum of a function with one valley, by the golden section."""
    ratio = (np.sqrt(5.0) - 1) / 2
    inner = [high - ratio * (high - low), low + ratio * (high - low)]
    values = [function(point) for point in inner]
    for _ in range(_SECTIONS):
        if values[0] <= values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - ratio * (high - low)
            values[0] = function(inner[0])
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + ratio * (high - low)
            values[1] = function(inner[1])
    return (low + high) / 2
