r"""How much better any other design could be: linear programs over the designs, solved exactly by their duals.

A convex error lies above each of its tangents, so :math:`error(w') \ge e - \sum_j d_j w'_j` with :math:`d_j` what one
more sample of arm j is worth. Minimizing the right-hand side over the designs that fit is a linear program with two
limits, money and samples, and one for each arm whose samples are not of the pool; its dual has one free number and is
minimized at one of few kinks. Any dual value is a bound, so rounding cannot make a certificate false.
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


def most_gain(
    worth: FloatArray, prices: FloatArray, money: float, samples: float, apart: FloatArray | None = None
) -> Bound:
    r"""The most of worth . w' that money and samples buy.

    .. math::

        \max_{w' \ge 0,\; c \cdot w' \le b,\; \sum_{pool} w' \le N,\; w'_a \le n_a} d \cdot w' =
        \min_{\mu \ge 0} \; b \mu + N \max_{j \in pool} (d_j - \mu c_j)_+ + \sum_a n_a (d_a - \mu c_a)_+

    Parameters
    ----------
    worth, prices : array of shape (n_arms,)
    money, samples : float
        May be infinite.
    apart : array of shape (n_arms,), optional
        How many samples there are of arms a whose samples are not of the pool; infinite for the others, as for all
        when absent.

    Examples
    --------
    A label is worth 3 and costs 1, an unlabeled sample is worth 1 and free; 2 units of money, 10 samples:

    >>> most_gain(np.array([3.0, 1.0]), np.array([1.0, 0.0]), 2.0, 10.0)
    Bound(value=14.0, of_money=2.0, of_samples=1.0)
    """
    stock = np.full(len(worth), np.inf) if apart is None else apart
    is_pool = np.isinf(stock)
    if not np.isfinite(money):
        # Nothing may lean on a limit that is not there.
        each = float(worth[is_pool].max(initial=0.0))
        return Bound(_times(samples, each) + float(_of_apart(worth, stock)), 0.0, each)
    kinks, limit = _kinks(worth, prices), samples
    if not np.isfinite(samples):
        least = _largest_ratio(worth[is_pool], prices[is_pool])
        if not np.isfinite(least):
            return Bound(_times(money, least), least, 0.0)
        kinks, limit = np.append(kinks[kinks > least], least), 0.0
    left = worth - kinks[:, None] * prices
    over = left[:, is_pool].max(axis=1, initial=0.0) * np.isfinite(samples)
    values = money * kinks + limit * over + _of_apart(left, stock)
    best = float(values.min())
    tied = values <= best + 1e-13 * abs(best)
    return Bound(best, float(kinks[tied].min()), float(over[tied].min()))


def cost_bound(
    minorant: Minorant, target: float, prices: FloatArray, samples: float, apart: FloatArray | None = None
) -> float:
    r"""No design with an error of at most `target` costs less.

    .. math::

        \min_{w' \ge 0,\; d \cdot w' \ge e - t,\; \sum_{pool} w' \le N,\; w'_a \le n_a} c \cdot w' =
        \max_{\lambda \ge 0} \; \lambda (e - t) - N \max_{j \in pool} (\lambda d_j - c_j)_+
        - \sum_a n_a (\lambda d_a - c_a)_+
    """
    needed, worth = minorant.intercept - target, minorant.worth
    if needed <= 0:
        return 0.0
    stock = np.full(len(worth), np.inf) if apart is None else apart
    is_pool = np.isinf(stock)
    kinks, limit = _kinks(prices, worth), samples
    if not np.isfinite(samples):
        ratio, limit = _largest_ratio(worth[is_pool], prices[is_pool]), 0.0
        if ratio > 0:
            kinks = np.append(kinks[kinks < 1 / ratio], 1 / ratio)
        elif float(_of_apart(worth, stock)) < needed:
            return np.inf
    left = kinks[:, None] * worth - prices
    bounds = kinks * needed - limit * left[:, is_pool].max(axis=1, initial=0.0) - _of_apart(left, stock)
    return float(max(bounds.max(), 0.0))


def _of_apart(each: FloatArray, stock: FloatArray) -> FloatArray:
    """What all samples that are not of the pool add, where they add something: of the last axis, arms."""
    is_apart = np.isfinite(stock)
    return np.asarray(np.maximum(each[..., is_apart], 0.0) @ stock[is_apart])


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
