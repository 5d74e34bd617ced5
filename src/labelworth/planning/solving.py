"""The three problems in a situation: whole counts, certificates, and answers along grids of questions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError, NotIdentifiableError
from labelworth.planning.answer import Certificate, Problem
from labelworth.planning.answer import Solution as GridSolution
from labelworth.planning.answer import Solutions as GridSolutions
from labelworth.planning.line import LabelLine, best_arm, on_line, solve_line
from labelworth.planning.situation import Situation
from labelworth.tradeoff.accuracy import Accuracy, ConvexAccuracy
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.problem import Solution as TradeoffSolution
from labelworth.tradeoff.solve import solve
from labelworth.tradeoff.whole_counts import whole_counts

_N_QUESTIONS = 25
_N_KNOTS = 97
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
    accuracy, prices = situation.accuracy, situation.prices
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
        return Solved(arm.spread_out(np.array([whole])), None)
    else:
        found = _solve(accuracy, prices, situation.pool, problem, value)
        return Solved(whole_counts(accuracy, prices, found).counts, None)
    line = LabelLine(accuracy, situation.pool)
    whole = _whole(line, labeled, float(prices.per_sample[0]), problem, value)
    return Solved(line.whole(np.array([whole])), certificate)


def continuous(accuracy: Accuracy, prices: ArmPrices, pool: float, problem: Problem, value: float) -> FloatArray:
    """The best counts, not yet whole; `value` of a budget is what is left of it."""
    if on_line(accuracy, prices.per_sample):
        line = LabelLine(accuracy, pool)
        labeled = solve_line(line, float(prices.per_sample[0]), problem, value)
        return line.whole(np.array([labeled]))
    if accuracy.source == "simulated":
        arm, labeled = best_arm(accuracy, prices.per_sample, pool, problem, value)
        return arm.spread_out(np.array([labeled]))
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
        # Rounding may leave the last one a hair above the target.
        met = line.error(np.array([low])) <= value * (1 + _ROUNDING)
        return float(low) if met else high
    options = {float(one): price * one + value * line.error(np.array([one])) for one in {float(low), high}}
    return min(options, key=lambda one: options[one])


def grid_solutions(situation: Situation) -> GridSolutions:
    """Answers along grids of budgets, targets and alphas, for whoever wants to move through them."""
    held, prices = situation.held, situation.prices
    dearest = held.cost + float(prices.per_sample.max()) * situation.pool
    if dearest <= held.cost or situation.pool < 1:
        return GridSolutions()
    ladder = _Ladder.of(situation)
    steps = np.concatenate([[0.0], np.geomspace(0.002, 1.0, _N_QUESTIONS - 1)])
    budgets = held.cost + steps * (dearest - held.cost)
    targets = _between(ladder.errors)
    alphas = ladder.alphas()
    return GridSolutions(
        tuple(ladder.answer("budget", float(value)) for value in budgets),
        tuple(ladder.answer("target", float(value)) for value in targets),
        tuple(ladder.answer("alpha", float(value)) for value in alphas),
    )


def _between(errors: FloatArray) -> FloatArray:
    """Targets from the error of today down to the least."""
    finite = errors[np.isfinite(errors)]
    high, low = float(finite[0]), float(finite.min())
    if low > 0:
        return np.geomspace(high, low * (1 + 1e-6), _N_QUESTIONS)
    return np.linspace(high, low, _N_QUESTIONS)


def _designs(situation: Situation, amounts: FloatArray) -> list[FloatArray]:
    """The best design for every amount of money that buys one."""
    found = [situation.nothing_more]
    for money in amounts[amounts > 0]:
        try:
            found.append(continuous(situation.accuracy, situation.prices, situation.pool, "budget", float(money)))
        except (InfeasiblePlanError, NotIdentifiableError):
            continue
    return found


@dataclass(frozen=True, eq=False)
class _Ladder:
    """The best designs for rising amounts of money: all three problems are read off it."""

    situation: Situation
    counts: FloatArray
    costs: FloatArray
    errors: FloatArray

    @classmethod
    def of(cls, situation: Situation) -> "_Ladder":
        prices, accuracy = situation.prices, situation.accuracy
        money = np.concatenate([[0.0], np.geomspace(1e-3, 1.0, _N_KNOTS - 1)])
        most = float(prices.per_sample.max()) * situation.pool
        if on_line(accuracy, prices.per_sample):
            line = LabelLine(accuracy, situation.pool)
            counts = np.array([line.whole(np.array([share * situation.pool])) for share in money])
        else:
            counts = np.array(_designs(situation, most * money))
        costs = counts @ prices.per_sample
        order = np.argsort(costs, kind="stable")
        costs, counts = costs[order], counts[order]
        keep = np.concatenate([[True], np.diff(costs) > 1e-9 * max(most, 1.0)])
        errors = np.array([accuracy.error(one) for one in counts[keep]])
        return cls(situation, counts[keep], costs[keep], np.minimum.accumulate(errors))

    def alphas(self) -> FloatArray:
        """Prices of error for which something between nothing and everything is best."""
        slopes = -np.diff(self.errors) / np.diff(self.costs)
        falling = slopes[slopes > 0]
        if not falling.size:
            return np.empty(0)
        return np.geomspace(0.5 / falling.max(), 2 / falling.min(), _N_QUESTIONS)

    def answer(self, problem: Problem, value: float) -> GridSolution:
        """Between the rungs, made whole."""
        cost = self._cost(problem, value)
        if cost is None:
            return GridSolution(value, None, None, None, None)
        exact = self._counts(cost)
        counts = self._fitting(np.ceil(exact - 1e-6) if problem == "target" else np.floor(exact + 1e-6))
        design = self.situation.design(counts)
        return GridSolution(value, tuple(counts.tolist()), design.labels, design.cost_in_all, design.error)

    def _counts(self, cost: float) -> FloatArray:
        """What so much money buys: between rungs; of simulated arms, which are not mixed, the rung below."""
        if self.situation.accuracy.source == "simulated" and self.counts.shape[1] > 1:
            place = int(np.searchsorted(self.costs, cost * (1 + 1e-12), side="right")) - 1
            return np.asarray(self.counts[max(place, 0)])
        return np.array([np.interp(cost, self.costs, column) for column in self.counts.T])

    def _fitting(self, counts: FloatArray) -> FloatArray:
        """Rounded up, samples may be more than there are; free ones fill the pool again."""
        accuracy, pool = self.situation.accuracy, float(np.floor(self.situation.pool))
        place = accuracy.arms.index("nothing") if "nothing" in accuracy.arms else None
        labeling = np.array([arm != place for arm in range(len(counts))])
        excess = counts[labeling].sum() - pool
        if excess > 0:
            counts[int(np.argmax(np.where(labeling, counts, -1.0)))] -= excess
        if place is not None:
            room = pool - counts[labeling].sum()
            free = self.situation.prices.per_sample[place] == 0
            counts[place] = room if free else min(counts[place], room)
        return counts

    def _cost(self, problem: Problem, value: float) -> float | None:
        if problem == "budget":
            left = value - self.situation.held.cost
            return None if left < -1e-9 * max(value, 1.0) else float(min(max(left, 0.0), self.costs[-1]))
        if problem == "target":
            return self._cost_of_target(value)
        curve = self._curve()
        fine = np.unique(np.concatenate([self.costs, np.linspace(self.costs[0], self.costs[-1], 2000)]))
        return float(fine[np.argmin(fine + value * curve(fine))])

    def _cost_of_target(self, target: float) -> float | None:
        met = np.flatnonzero(self.errors <= target * (1 + 1e-9))
        if not met.size:
            return None
        place = int(met[0])
        if place == 0:
            return float(self.costs[0])
        curve = self._curve()
        fine = np.linspace(self.costs[place - 1], self.costs[place], 200)
        reached = np.flatnonzero(curve(fine) <= target * (1 + 1e-9))
        return float(fine[reached[0]]) if reached.size else float(self.costs[place])

    def _curve(self) -> Callable[[FloatArray], FloatArray]:
        if len(self.costs) < 2:
            return lambda costs: np.full(np.shape(costs), self.errors[0])
        curve: Callable[[FloatArray], FloatArray] = PchipInterpolator(self.costs, self.errors)
        return curve
