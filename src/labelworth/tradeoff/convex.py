"""The three problems for convex errors and linear costs, with a gap that always holds and shadow prices."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.tradeoff.accuracy import ConvexAccuracy
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.gap import gap_in_words, gap_scale, is_small
from labelworth.tradeoff.least_cost import cheapest
from labelworth.tradeoff.least_error import ErrorMinimizer
from labelworth.tradeoff.polytope import Polytope
from labelworth.tradeoff.problem import (
    LOGARITHMIC,
    Question,
    Solution,
    binding_limits,
    require_paid,
    require_same_arms,
)
from labelworth.tradeoff.weighted_sum import least_weighted

_SIZES = (1.0, 1e6, 1e12)


def solve_convex(accuracy: ConvexAccuracy, prices: ArmPrices, question: Question) -> Solution:
    """The best design, how much better any other could be at most, and what more money or samples would be worth.

    Parameters
    ----------
    accuracy : ConvexAccuracy
    prices : ArmPrices
        Of the same arms.
    question : Question

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
    return answer(ErrorMinimizer(accuracy), prices, question)


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
    if any(np.isfinite(accuracy.error(size * one)) for size in _SIZES for one in (counts, *np.eye(len(counts)))):
        return
    directions = accuracy.open_directions(counts)
    raise NotIdentifiableError(
        f"No mixture of {', '.join(prices.arms)} pins the model down"
        f"{'; it leaves open: ' + ', '.join(directions) if directions else ''}. Put a rule with more labels on "
        "the menu.",
        directions,
    )


def _within_budget(minimizer: ErrorMinimizer, prices: ArmPrices, question: Question) -> Solution:
    """Least error within the budget."""
    require_paid(question, prices.fixed)
    best = minimizer.within(Polytope(prices.per_sample, question.value - prices.fixed, question.pool))
    return _solution(minimizer.accuracy, prices, question, best.counts, best.gap, (best.of_money, best.of_samples))


def _within_target(minimizer: ErrorMinimizer, prices: ArmPrices, question: Question) -> Solution:
    """Least cost within an error ceiling."""
    accuracy, target = minimizer.accuracy, question.value
    free = minimizer.without_money(prices.per_sample, question.pool)
    if free is not None and free.value <= target:
        return _solution(accuracy, prices, question, free.counts, 0.0, (free.of_money, free.of_samples))
    if accuracy.criterion not in LOGARITHMIC and target <= 0 and not np.isfinite(question.pool):
        raise InvalidInputError(f"An error of {target:g} takes infinitely many samples. Give a positive target.")
    best, bound = cheapest(minimizer, prices.per_sample, question)
    gap = max(float(prices.per_sample @ best.counts) - bound, 0.0)
    return _solution(accuracy, prices, question, best.counts, gap, (best.of_money, best.of_samples))


def _weighted(minimizer: ErrorMinimizer, prices: ArmPrices, question: Question) -> Solution:
    """Least cost plus alpha times error."""
    best = least_weighted(minimizer, prices.per_sample, question.value, question.pool)
    return _solution(minimizer.accuracy, prices, question, best.counts, best.gap, (best.of_money, best.of_samples))


def _solution(
    accuracy: ConvexAccuracy,
    prices: ArmPrices,
    question: Question,
    counts: FloatArray,
    gap: float,
    shadow_prices: tuple[float, float],
) -> Solution:
    """Say what was found, and whether the gap is small enough to be called a certificate."""
    error, cost = accuracy.error(counts), prices.cost(counts)
    scale = gap_scale(question, accuracy.criterion, cost - prices.fixed, error)
    return Solution(
        question,
        prices.arms,
        counts,
        cost,
        error,
        accuracy.standard_error(counts),
        gap,
        is_small(gap, scale) and accuracy.is_convex,
        gap_in_words(question, gap, scale, is_convex=accuracy.is_convex),
        *shadow_prices,
        binding_limits(question, counts, cost, error),
        accuracy.criterion,
        accuracy.source,
    )
