r"""How much better any other design could be: linear programs over the designs, solved exactly by their duals.

A convex error lies above each of its tangents, so :math:`error(w') \ge e - \sum_j d_j w'_j` with :math:`d_j` what one
more sample of arm j is worth. Minimizing the right-hand side over the designs that fit is a linear program with two
limits, money and samples; its dual has one free number and is minimized at one of few kinks. Any dual value is a
bound, so rounding cannot make a certificate false.
"""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray

_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Minorant:
    """A plane below the error: error(w') >= intercept - worth . w' for every design w'."""

    intercept: float
    worth: FloatArray  # (n_arms,): What one more sample of every arm takes off.

    @classmethod
    def tangent(cls, counts: FloatArray, error: float, slope: FloatArray) -> "Minorant":
        """The plane that touches the error at these counts."""
        return cls(float(error - slope @ counts), -slope)


@dataclass(frozen=True)
class Bound:
    """The value of a linear program and its multipliers."""

    value: float
    of_money: float  # What one more unit of either would add to the value.
    of_samples: float


def most_gain(worth: FloatArray, prices: FloatArray, money: float, samples: float) -> Bound:
    r"""The most of worth . w' that money and samples buy.

    .. math::

        \max_{w' \ge 0,\; c \cdot w' \le b,\; \sum w' \le N} d \cdot w' =
        \min_{\mu \ge 0} \; b \mu + N \max_j (d_j - \mu c_j)_+

    Parameters
    ----------
    worth, prices : array of shape (n_arms,)
    money, samples : float
        May be infinite.

    Examples
    --------
    A label is worth 3 and costs 1, an unlabeled sample is worth 1 and free; 2 units of money, 10 samples:

    >>> most_gain(np.array([3.0, 1.0]), np.array([1.0, 0.0]), 2.0, 10.0)
    Bound(value=14.0, of_money=2.0, of_samples=1.0)
    """
    if not np.isfinite(money):
        # Nothing may lean on a limit that is not there.
        each = max(float(worth.max()), 0.0)
        return Bound(_times(samples, each), 0.0, each)
    if not np.isfinite(samples):
        each = _largest_ratio(worth, prices)
        return Bound(_times(money, each), each, 0.0)
    kinks = _kinks(worth, prices)
    over = np.maximum((worth - kinks[:, None] * prices).max(axis=1), 0.0)
    values = money * kinks + samples * over
    best = float(values.min())
    tied = values <= best + 1e-13 * abs(best)
    return Bound(best, float(kinks[tied].min()), float(over[tied].min()))


def cost_bound(minorant: Minorant, target: float, prices: FloatArray, samples: float) -> float:
    r"""No design with an error of at most `target` costs less.

    .. math::

        \min_{w' \ge 0,\; d \cdot w' \ge e - t,\; \sum w' \le N} c \cdot w' =
        \max_{\lambda \ge 0} \; \lambda (e - t) - N \max_j (\lambda d_j - c_j)_+
    """
    needed = minorant.intercept - target
    if needed <= 0:
        return 0.0
    if not np.isfinite(samples):
        ratio = _largest_ratio(minorant.worth, prices)
        return needed / ratio if ratio > 0 else np.inf
    kinks = _kinks(prices, minorant.worth)
    over = np.maximum((kinks[:, None] * minorant.worth - prices).max(axis=1), 0.0)
    return float(max((kinks * needed - samples * over).max(), 0.0))


def _kinks(levels: FloatArray, rates: FloatArray) -> FloatArray:
    """Where two of the lines level - x rate cross, or one crosses zero, at x >= 0; and zero itself."""
    lines = np.append(levels, 0.0), np.append(rates, 0.0)
    numerator = np.subtract.outer(lines[0], lines[0])
    denominator = np.subtract.outer(lines[1], lines[1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossings = (numerator / denominator).ravel()
    # What is left out makes no bound false; prices so small that products would overflow are none.
    return np.append(crossings[(crossings > 0) & (crossings < _LARGEST)], 0.0)


def _largest_ratio(worth: FloatArray, prices: FloatArray) -> float:
    """The most worth for a unit of money; infinite if something is worth anything and free."""
    useful = worth > 0
    with np.errstate(divide="ignore", over="ignore"):
        return float((worth[useful] / prices[useful]).max(initial=0.0))


def _times(limit: float, each: float) -> float:
    """Nothing of a limit that is not there is nothing."""
    return limit * each if each > 0 else 0.0
