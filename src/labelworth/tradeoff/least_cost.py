"""The least cost within an error ceiling: the budget whose least error is the target."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError
from labelworth.tradeoff.ceiling import error_ceiling
from labelworth.tradeoff.certificate import cost_bound
from labelworth.tradeoff.gap import TOLERANCE
from labelworth.tradeoff.least_error import ErrorMinimizer, Optimum
from labelworth.tradeoff.polytope import Polytope
from labelworth.tradeoff.problem import LOGARITHMIC, Question, size_of_errors

_MAX_BUDGETS = 60
_ROUNDING = 1e-14


def cheapest(minimizer: ErrorMinimizer, prices: FloatArray, question: Question) -> tuple[Optimum, float]:
    """The optimum of the smallest budget whose least error is the target, and what no design that meets it undercuts.

    Where the target is as near to the least error of all budgets as these are known, the optimum of the smallest
    budget that cannot be told from it.

    Parameters
    ----------
    minimizer : ErrorMinimizer
    prices : array of shape (n_arms,)
    question : Question
        Whose value is the target; not met by what is free.

    Raises
    ------
    InfeasiblePlanError
        If the target is below the least error of the pool.
    """
    pool, criterion = question.pool, minimizer.accuracy.criterion
    walk = _Walk(minimizer, prices, pool)
    if not np.isfinite(pool):
        money = float(prices.max())
        return walk.to(question.value, minimizer.within(Polytope(prices, money, pool)), money, None)
    best = minimizer.within(Polytope(prices, np.inf, pool))
    among = f"within the pool of {pool:g} samples"
    ceiling = error_ceiling(question, criterion, best.value, TOLERANCE, among=among)
    spent = float(prices @ best.counts)
    bound = cost_bound(best.minorant, ceiling, prices, pool)
    if spent - bound <= minimizer.aim * spent:
        return best, bound
    # The least errors of budgets scatter by as much as ends a walk.
    scatter = 4 * minimizer.aim * size_of_errors(criterion, best.value)
    return walk.to(max(ceiling, best.value + scatter), best, spent, best)


class _Walk:
    """From budget to budget until the least error is the ceiling: Newton's method, guarded."""

    def __init__(self, minimizer: ErrorMinimizer, prices: FloatArray, pool: float) -> None:
        self.minimizer, self.prices, self.pool = minimizer, prices, pool
        self.criterion = minimizer.accuracy.criterion

    def to(self, ceiling: float, best: Optimum, money: float, reached: Optimum | None) -> tuple[Optimum, float]:
        """From the optimum of some money, which may be one that meets the ceiling."""
        low, high, bound = 0.0, np.inf, 0.0
        for _ in range(_MAX_BUDGETS):
            bound = max(bound, cost_bound(best.minorant, ceiling, self.prices, self.pool))
            if best.value <= ceiling:
                high, reached = min(high, float(self.prices @ best.counts)), best
            else:
                low = max(low, money)
            left = (ceiling - best.value) / size_of_errors(self.criterion, ceiling)
            is_closed = 0 <= left <= self.minimizer.closeness or high - max(low, bound) <= _ROUNDING * high
            if reached is not None and is_closed:
                break
            money = self._following(best, ceiling, money, low, high)
            best = self.minimizer.within(Polytope(self.prices, money, self.pool), near=best.counts)
        if reached is None:
            raise InfeasiblePlanError(f"No budget was found whose least error is {ceiling:g}.", best.value)
        return reached, bound

    def _following(self, best: Optimum, ceiling: float, money: float, low: float, high: float) -> float:
        """Newton in coordinates in which the least error is nearly a line: 1/error of money, nats of log money."""
        if best.of_money > 0:
            if self.criterion in LOGARITHMIC:
                guess = money * float(np.exp(np.clip((best.value - ceiling) / (best.of_money * money), -20, 20)))
            else:
                guess = money + (1 / ceiling - 1 / best.value) * best.value**2 / best.of_money
            # A hair beyond, so that the target is met and not nearly met.
            guess *= 1 + self.minimizer.closeness / 4
            if low < guess < high:
                return guess
        if not np.isfinite(high):
            return 4 * money
        return float(np.sqrt(low * high)) if low > 0 else high / 16
