"""The three problems in a situation: whole counts, with certificates where there can be one."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError
from labelworth.planning.answer import Certificate, Problem
from labelworth.planning.costs import Costs, FurtherCost, dearest
from labelworth.planning.line import LabelLine, best_arm, on_line, solve_line
from labelworth.planning.situation import Situation
from labelworth.planning.targets import infeasible_target, rounded_up
from labelworth.planning.whole_designs import best_whole
from labelworth.tradeoff.accuracy import Accuracy, ConvexAccuracy
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.problem import Solution as TradeoffSolution
from labelworth.tradeoff.solve import solve
from labelworth.tradeoff.whole_counts import whole_counts

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Solved:
    """The best design.

    Attributes
    ----------
    counts : array of shape (n_arms,)
        Whole numbers.
    certificate : Certificate or None
    """

    counts: FloatArray
    certificate: Certificate | None


def solved(situation: Situation, problem: Problem, value: float) -> Solved:
    """Answer one question in whole counts.

    Parameters
    ----------
    situation : Situation
    problem, value
        A budget is for all that is paid, what is held included.

    Raises
    ------
    InfeasiblePlanError
        If nothing meets what was asked, with the nearest that does.
    NotIdentifiableError
        If nothing that fits pins the model down.
    """
    value = money_left(situation, value) if problem == "budget" else value
    try:
        return _answered(situation, problem, value)
    except InfeasiblePlanError as refusal:
        if problem != "target":
            raise
        raise _nearest_target(situation, value, refusal) from None


def _nearest_target(situation: Situation, target: float, refusal: InfeasiblePlanError) -> InfeasiblePlanError:
    """The nearest target that whole samples meet, as it is printed, and with how many labels."""
    money = dearest(situation.prices, situation.pool) * (1 + _ROUNDING)
    least = situation.accuracy.error(_answered(situation, "budget", money).counts)
    criterion = situation.accuracy.criterion
    for digits in (6, 5, 4, 3):
        named = rounded_up(least, digits)
        try:
            met = _answered(situation, "target", float(named))
        except InfeasiblePlanError:
            # A search may miss what lies within the last digit; one digit less is told then.
            continue
        labels = float(met.counts @ situation.accuracy.labels_per_sample)
        return infeasible_target(criterion, target, float(named), labels)
    return refusal


def _answered(situation: Situation, problem: Problem, value: float) -> Solved:
    """In whole counts; `value` of a budget is what is left of it."""
    accuracy, prices = situation.accuracy, situation.prices
    if isinstance(prices, FurtherCost):
        return Solved(best_whole(accuracy, prices, situation.pool, problem, value), None)
    certificate = None
    if isinstance(accuracy, ConvexAccuracy) and accuracy.is_convex:
        found = _solve(accuracy, prices, situation.pool, problem, value)
        if found.gap is not None and found.is_certified:
            certificate = Certificate(found.gap, found.shadow_price_of_money, found.shadow_price_of_sample)
        if not on_line(accuracy, prices.per_sample):
            return Solved(whole_counts(accuracy, prices, found).counts, certificate)
        labeled = float(found.counts[0])
    elif on_line(accuracy, prices.per_sample):
        labeled = solve_line(LabelLine(accuracy, situation.pool), float(prices.per_sample[0]), problem, value)
    elif accuracy.source == "simulated":
        arm, labeled = best_arm(accuracy, prices.per_sample, situation.pool, problem, value)
        price = float(prices.per_sample[arm.place])
        whole = _whole(LabelLine(arm, situation.pool), labeled, price, problem, value)
        return Solved(arm.counts_inside(np.array([whole])), None)
    else:
        found = _solve(accuracy, prices, situation.pool, problem, value)
        return Solved(whole_counts(accuracy, prices, found).counts, _were_it_convex(found))
    line = LabelLine(accuracy, situation.pool)
    whole = _whole(line, labeled, float(prices.per_sample[0]), problem, value)
    return Solved(line.counts_inside(np.array([whole])), certificate)


def _were_it_convex(found: TradeoffSolution) -> Certificate | None:
    """What following the slope would prove of a convex error."""
    if found.gap is None:
        return None
    return Certificate(found.gap, found.shadow_price_of_money, found.shadow_price_of_sample, if_convex=True)


def continuous(accuracy: Accuracy, prices: Costs, pool: float, problem: Problem, value: float) -> FloatArray:
    """The best counts, not yet whole unless costs have steps; `value` of a budget is what is left of it."""
    if isinstance(prices, FurtherCost):
        return best_whole(accuracy, prices, pool, problem, value, thorough=False)
    if on_line(accuracy, prices.per_sample):
        line = LabelLine(accuracy, pool)
        labeled = solve_line(line, float(prices.per_sample[0]), problem, value)
        return line.counts_inside(np.array([labeled]))
    if accuracy.source == "simulated":
        arm, labeled = best_arm(accuracy, prices.per_sample, pool, problem, value)
        return arm.counts_inside(np.array([labeled]))
    return _solve(accuracy, prices, pool, problem, value).counts


def _solve(accuracy: Accuracy, prices: ArmPrices, pool: float, problem: Problem, value: float) -> TradeoffSolution:
    asked = {name: value if name == problem else None for name in ("budget", "target", "alpha")}
    return solve(accuracy, prices, pool=pool, budget=asked["budget"], target=asked["target"], alpha=asked["alpha"])


def money_left(situation: Situation, budget: float) -> float:
    """What a budget leaves beside what is held."""
    left = budget - situation.held.cost
    if left < -_ROUNDING * max(abs(budget), 1.0):
        raise InfeasiblePlanError(
            f"The {situation.held.n_labels:,} labels held have cost {situation.held.cost:g} already, more than the "
            f"budget of {budget:g}: a budget is for all labels, the pilot's included. Raise it.",
            situation.held.cost,
        )
    return max(left, 0.0)


def _whole(line: LabelLine, labeled: float, price: float, problem: Problem, value: float) -> float:
    """A whole number of labels near the best one: one that fits the budget or meets the target."""
    low = np.floor(labeled + _ROUNDING * max(labeled, 1.0))
    if problem == "budget":
        return float(low)
    high = min(float(np.ceil(labeled - _ROUNDING * max(labeled, 1.0))), float(np.floor(line.pool)))
    if problem == "target":
        # Rounding may leave the last one a hair above the target; a root is known to a part of a label.
        meets = value + _ROUNDING * abs(value)
        options_in_order = sorted({float(low), high, min(high + 1, float(np.floor(line.pool)))})
        return next((one for one in options_in_order if line.error(np.array([one])) <= meets), high)
    options = {float(one): price * one + value * line.error(np.array([one])) for one in {float(low), high}}
    return min(options, key=lambda one: options[one])
