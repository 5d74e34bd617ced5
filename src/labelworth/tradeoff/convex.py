"""The three problems for convex errors and linear costs, with a gap that always holds and shadow prices.

The least error within a budget is a convex program; a target and a price of error ask for the budget at which that
least error, or what money is worth there, has a given value: a root of one number.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import scipy.optimize

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError, InvalidInputError, NotIdentifiableError
from labelworth.tradeoff.accuracy import ConvexAccuracy
from labelworth.tradeoff.certificate import cost_bound
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.least_error import Bundle, Objective, Optimum, Polytope, first_identified, least
from labelworth.tradeoff.problem import (
    LOGARITHMIC,
    TOLERANCE,
    Question,
    Solution,
    error_ceiling,
    gap_scale,
    is_small,
    require_paid,
    require_same_arms,
    size_of_errors,
)

_SIZES = (1.0, 1e6, 1e12)
_AIM = 1e-10
_AIM_AT_KINKS = 4e-10
"""Gaps that are small enough, as shares of the error."""

_MOST_BUDGETS = 60
_HAIR = 5e-12
_ROUNDING = 4e-15
_NEAR = 1e-3
_SMALLEST_SHARE = -60.0
"""Of all the money that may be worth spending, as a logarithm."""


def solve_convex(accuracy: ConvexAccuracy, prices: ArmPrices, question: Question) -> Solution:
    """The best design, how much better any other could be at most, and what more money or samples would be worth.

    Raises
    ------
    NotIdentifiableError
        If all arms together cannot pin the model down, or those that the budget pays.
    InfeasiblePlanError
        If the target is out of reach, with the nearest that is not, or the budget is below the fixed cost.
    InvalidInputError
        If nothing limits the design: an arm is free and there is no pool.

    Notes
    -----
    Paper: eq:tradeoff1, eq:tradeoff2, eq:tradeoff3.
    """
    require_same_arms(accuracy, prices)
    if not np.isfinite(question.pool) and (prices.per_sample == 0).any():
        free = ", ".join(arm for arm, price in zip(prices.arms, prices.per_sample, strict=True) if price == 0)
        raise InvalidInputError(
            f"Nothing limits the design: {free} is free and there is no pool. Say how many samples there are (pool), "
            "or what one costs."
        )
    _require_identifiable(accuracy, prices)
    answer = {"budget": _within_budget, "target": _within_target, "alpha": _weighted}[question.kind]
    return answer(_LeastErrors(accuracy, prices, question.pool), prices, question)


def is_stationary(solution: Solution, prices: ArmPrices) -> bool:
    """Whether the slope sees no better design, be the error convex or not."""
    if solution.gap is None:
        return False
    cost = solution.cost - prices.fixed
    return is_small(solution.gap, gap_scale(solution.question, solution.criterion, cost, solution.error))


def _require_identifiable(accuracy: ConvexAccuracy, prices: ArmPrices) -> None:
    """Refuse a menu that leaves the model open however much of it is used."""
    counts = np.full(len(prices.arms), 1.0)
    # Beside much that is held one sample more may drown in rounding.
    if any(
        np.isfinite(accuracy.error(size * design)) for size in _SIZES for design in (counts, *np.eye(len(counts)))
    ):
        return
    directions = accuracy.open_directions(counts)
    raise NotIdentifiableError(
        f"No mixture of {', '.join(prices.arms)} pins the model down"
        f"{'; it leaves open: ' + ', '.join(directions) if directions else ''}. Put a rule with more labels on "
        "the menu.",
        directions,
    )


class _LeastErrors:
    """The least error of one polytope after another; planes below the error that one taught are used in the next."""

    def __init__(self, accuracy: ConvexAccuracy, costs: ArmPrices, pool: float) -> None:
        self.accuracy, self.prices, self.apart, self.pool = accuracy, costs.per_sample, costs.apart, pool
        self.has_kinks = accuracy.has_kinks
        self.aim = _AIM_AT_KINKS if self.has_kinks else _AIM
        self._error = Objective(accuracy.error, accuracy.slope, partial(size_of_errors, accuracy.criterion))
        self._bundle = Bundle(self._error)

    def within(self, money: float) -> Optimum:
        """The least error that money buys.

        Raises
        ------
        NotIdentifiableError
            If none pins the model down.
        """
        return self._least(self._error, self._bundle, Polytope(self.prices, money, self.pool, self.apart), None)

    def cost_bound(self, best: Optimum, ceiling: float) -> float:
        """What no design with an error of at most the ceiling undercuts, as far as the plane of an optimum tells."""
        return cost_bound(best.minorant, ceiling, self.prices, self.pool, self.apart)

    def free(self) -> Optimum | None:
        """The least error of what is free; None if that does not pin the model down."""
        try:
            return self.within(0.0)
        except NotIdentifiableError:
            return None

    def weighted(self, alpha: float, most_money: float, near: FloatArray) -> Optimum:
        """The least cost plus alpha times error."""
        accuracy, prices = self.accuracy, self.prices
        objective = Objective(
            lambda counts: float(prices @ counts) + alpha * accuracy.error(counts),
            lambda counts: prices + alpha * accuracy.slope(counts),
            lambda value: alpha * size_of_errors(accuracy.criterion, value / alpha),
            lambda counts: alpha * accuracy.slope(counts),
        )
        polytope = Polytope(prices, most_money, self.pool, self.apart)
        return self._least(objective, Bundle(objective), polytope, near)

    def _least(self, objective: Objective, bundle: Bundle, polytope: Polytope, near: FloatArray | None) -> Optimum:
        counts = least(objective, polytope, first_identified(self.accuracy, objective, polytope, near))
        value = objective.value(counts)
        optimum = Optimum.of(counts, value, objective.tangent(counts), polytope)
        if self.has_kinks and optimum.gap > self.aim * objective.size(value):
            return bundle.least(polytope, counts, self.aim)
        return optimum


def _within_budget(errors: _LeastErrors, prices: ArmPrices, question: Question) -> Solution:
    """Least error within the budget."""
    require_paid(question, prices.fixed)
    best = errors.within(question.value - prices.fixed)
    return _solution(errors.accuracy, prices, question, best, best.gap)


def _within_target(errors: _LeastErrors, prices: ArmPrices, question: Question) -> Solution:
    """Least cost within an error ceiling."""
    accuracy, target = errors.accuracy, question.value
    free = errors.free()
    if free is not None and free.value <= target:
        return _solution(accuracy, prices, question, free, 0.0)
    if accuracy.criterion not in LOGARITHMIC and target <= 0 and not np.isfinite(question.pool):
        raise InvalidInputError(f"An error of {target:g} takes infinitely many samples. Give a positive target.")
    best, bound = _cheapest(errors, question)
    return _solution(accuracy, prices, question, best, max(float(prices.per_sample @ best.counts) - bound, 0.0))


def _cheapest(errors: _LeastErrors, question: Question) -> tuple[Optimum, float]:
    """The optimum of the smallest budget whose least error is the target, and what no design that meets it undercuts.

    Where the target is as near to the least error of all budgets as these are known, the optimum of the smallest
    budget that cannot be told from it.

    Raises
    ------
    InfeasiblePlanError
        If the target is below the least error of the pool.
    """
    prices, pool, criterion = errors.prices, question.pool, errors.accuracy.criterion
    if not np.isfinite(pool):
        return _first_met(errors, question.value, errors.within(float(prices.max())))
    best = errors.within(np.inf)
    among = f"within the pool of {pool:g} samples"
    ceiling = error_ceiling(question, criterion, best.value, TOLERANCE, among=among)
    spent, bound = float(prices @ best.counts), errors.cost_bound(best, ceiling)
    if spent - bound <= errors.aim * spent:
        return best, bound
    # The least errors of budgets scatter by as much as ends a walk.
    scatter = 4 * errors.aim * size_of_errors(criterion, best.value)
    return _first_met(errors, max(ceiling, best.value + scatter), best)


def _first_met(errors: _LeastErrors, ceiling: float, start: Optimum) -> tuple[Optimum, float]:
    """The optimum of the money whose least error is the ceiling, and what no design that meets it undercuts."""
    prices, best, reached = errors.prices, start, None
    money = high = float(prices @ start.counts)
    low = bound = 0.0
    for _ in range(_MOST_BUDGETS):
        bound = max(bound, errors.cost_bound(best, ceiling))
        if best.value <= ceiling:
            money = float(prices @ best.counts)
            reached, high = (best, money) if reached is None or money < high else (reached, high)
            if money - bound <= errors.aim * money or ceiling - best.value <= 2 * best.gap:
                break
        else:
            low = max(low, money)
        if reached is not None and high - max(low, bound) <= _ROUNDING * high:
            break
        money = _money_after(best, errors.accuracy.criterion, ceiling, money, low, high if reached else np.inf)
        try:
            best = errors.within(money)
        except NotIdentifiableError:
            low = money
    if reached is None:
        raise InfeasiblePlanError(f"No budget was found whose least error is {ceiling:g}.", best.value)
    return reached, bound


def _money_after(best: Optimum, criterion: str, ceiling: float, money: float, low: float, high: float) -> float:
    """Newton's method where the least error is nearly a line: 1/error over money, nats over log money."""
    if best.of_money > 0 and money > 0:
        if criterion in LOGARITHMIC:
            guess = money * float(np.exp(np.clip((best.value - ceiling) / (best.of_money * money), -20, 20)))
        else:
            guess = money + (1 / ceiling - 1 / best.value) * best.value**2 / best.of_money
        # A hair beyond, so that the target is met and not nearly met.
        guess *= 1 + _HAIR
        if low < guess < high:
            return guess
    if not np.isfinite(high):
        return 4 * money
    return float(np.sqrt(low * high)) if low > 0 else high / 16


def _weighted(errors: _LeastErrors, prices: ArmPrices, question: Question) -> Solution:
    """Least cost plus alpha times error; the shadow prices are those of the error."""
    accuracy, alpha, is_limited = errors.accuracy, question.value, bool(np.isfinite(question.pool))
    if accuracy.criterion in LOGARITHMIC and not is_limited:
        raise InvalidInputError("alpha with a criterion in nats needs a pool: say how many samples there are.")
    money = prices.most(question.pool) if is_limited else _most_money(errors, alpha)
    # Without a pool no design that costs more than a known value of the whole can be better.
    best = errors.weighted(alpha, np.inf if is_limited else money, _near_weighted(errors, alpha, money))
    left = (-accuracy.slope(best.counts) - prices.per_sample / alpha)[np.isinf(prices.apart)]
    best = replace(best, of_money=1 / alpha, of_samples=float(left.max(initial=0.0)) if is_limited else 0.0)
    return _solution(accuracy, prices, question, best, best.gap)


def _most_money(errors: _LeastErrors, alpha: float) -> float:
    """More than the best design costs: the value of some design, since the error is not negative."""
    corner = Polytope(errors.prices, 1.0, np.inf).most / len(errors.prices)

    def value(size: float) -> float:
        return size + alpha * errors.accuracy.error(np.minimum(size * corner, errors.apart))

    size = 1.0
    # The value has one valley, wherever the units of money and error put it.
    for factor in (10.0, 0.1):
        while value(size * factor) < value(size):
            size *= factor
    return value(size)


def _near_weighted(errors: _LeastErrors, alpha: float, most: float) -> FloatArray:
    """The optimum of about the budget at which a unit of money is worth a unit of weighted error."""
    free, best = errors.free(), errors.within(most)
    if free is not None and alpha * free.of_money <= 1:
        return free.counts
    if alpha * best.of_money >= 1:
        return best.counts

    def excess(logarithm: float) -> float:
        """(ratio - 1) / (ratio + 1) of the worth of money to its price."""
        nonlocal best
        try:
            best = errors.within(most * float(np.exp(logarithm)))
        except NotIdentifiableError:
            return 1.0
        ratio = alpha * best.of_money
        return (ratio - 1) / (ratio + 1) if np.isfinite(ratio) else 1.0

    low, high = _SMALLEST_SHARE, 0.0
    if excess(low) > 0:
        scipy.optimize.brentq(excess, low, high, xtol=_NEAR, disp=False)
    return best.counts


def _solution(accuracy: ConvexAccuracy, prices: ArmPrices, question: Question, best: Optimum, gap: float) -> Solution:
    """Say what was found, and whether the gap is small enough to be called a certificate."""
    counts = best.counts
    error, cost = accuracy.error(counts), prices.cost(counts)
    scale = gap_scale(question, accuracy.criterion, cost - prices.fixed, error)
    # No bound is known more finely than the figures that it is computed from.
    gap = max(gap, _ROUNDING * scale)
    return Solution(
        question,
        accuracy.criterion,
        counts,
        cost,
        error,
        gap,
        is_small(gap, scale) and accuracy.is_convex,
        best.of_money,
        best.of_samples,
    )
