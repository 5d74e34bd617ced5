"""The least cost plus alpha times error."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.tradeoff.least_error import ErrorMinimizer, Optimum
from labelworth.tradeoff.newton import Objective
from labelworth.tradeoff.polytope import Polytope
from labelworth.tradeoff.problem import LOGARITHMIC

_MAX_BUDGETS = 60
_NEAR = 1e-3


def least_weighted(minimizer: ErrorMinimizer, prices: FloatArray, alpha: float, pool: float) -> Optimum:
    """The best design for a price of error; its shadow prices are those of the error.

    Parameters
    ----------
    minimizer : ErrorMinimizer
    prices : array of shape (n_arms,)
    alpha, pool : float

    Raises
    ------
    InvalidInputError
        If nothing limits the design: a criterion of any sign needs a pool.
    """
    accuracy, is_limited = minimizer.accuracy, bool(np.isfinite(pool))
    if accuracy.criterion in LOGARITHMIC and not is_limited:
        raise InvalidInputError("alpha with a criterion in nats needs a pool: say how many samples there are.")
    money = pool * float(prices.max()) if is_limited else _most_money(minimizer, prices, alpha)
    objective = Objective(
        lambda counts: float(prices @ counts) + alpha * accuracy.error(counts),
        lambda counts: prices + alpha * accuracy.slope(counts),
        alpha,
        minimizer.error,
    )
    # Without a pool no design that costs more than a known value of the whole can be better.
    polytope = Polytope(prices, np.inf if is_limited else money, pool)
    best = minimizer.minimized(objective, polytope, _near(minimizer, prices, alpha, pool, money))
    over = max(float((-accuracy.slope(best.counts) - prices / alpha).max()), 0.0) if is_limited else 0.0
    return Optimum(best.counts, best.value, best.minorant, best.gap, 1 / alpha, over)


def _most_money(minimizer: ErrorMinimizer, prices: FloatArray, alpha: float) -> float:
    """More than the best design costs: the value of some design, since the error is not negative."""
    corner = Polytope(prices, 1.0, np.inf).most / len(prices)

    def value(size: float) -> float:
        return size + alpha * minimizer.error.value(size * corner)

    size = 1.0
    # The value has one valley, wherever the units of money and error put it.
    for factor in (10.0, 0.1):
        while value(size * factor) < value(size):
            size *= factor
    return value(size)


def _near(minimizer: ErrorMinimizer, prices: FloatArray, alpha: float, pool: float, most: float) -> FloatArray:
    """The optimum of about the budget at which a unit of money is worth a unit of weighted error."""
    free = minimizer.without_money(prices, pool)
    if free is not None and alpha * free.of_money <= 1:
        return free.counts
    low, high, money = 0.0, most, most
    best = minimizer.within(Polytope(prices, money, pool))
    for _ in range(_MAX_BUDGETS):
        ratio = alpha * best.of_money
        low, high = (money, high) if ratio > 1 else (low, money)
        if abs(ratio - 1) < _NEAR or high - low <= _NEAR * high:
            break
        # Where nothing is held money is worth k / money^2, or k / money in nats.
        factor = ratio ** (1.0 if minimizer.accuracy.criterion in LOGARITHMIC else 0.5)
        money *= float(np.clip(factor, 0.01, 100.0))
        if not low < money < high:
            money = float(np.sqrt(low * high)) if low > 0 else high / 100
        best = minimizer.within(Polytope(prices, money, pool), near=best.counts)
    return best.counts
