"""The three problems for convex errors and linear costs, with a gap that always holds and shadow prices."""

from dataclasses import dataclass, field

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError, InvalidInputError, NotIdentifiableError
from labelworth.tradeoff.accuracy import ConvexAccuracy
from labelworth.tradeoff.bundle import Bundle, level_search
from labelworth.tradeoff.ceiling import error_ceiling
from labelworth.tradeoff.certificate import Minorant, least_cost, most_gain
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.newton import Objective, newton
from labelworth.tradeoff.polytope import Polytope
from labelworth.tradeoff.problem import (
    LOGARITHMIC,
    NO_CERTIFICATE,
    Question,
    Solution,
    binding_limits,
    require_same_arms,
    size_of_errors,
)

TOLERANCE = 1e-8
"""A certified gap is at most this share of the figure; of a figure in nats, at most this."""

_AIM = 1e-10
_AIM_AT_KINKS = 4e-10
_MAX_BUDGETS = 60


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
    solver = _Solver(accuracy, prices, question)
    solver.require_identifiable()
    return {"budget": solver.within_budget, "target": solver.within_target, "alpha": solver.weighted}[question.kind]()


@dataclass(frozen=True, eq=False)
class _Best:
    """The least error of a polytope."""

    counts: FloatArray
    error: float
    minorant: Minorant
    gap: float
    of_money: float
    of_samples: float


@dataclass(eq=False)
class _Solver:
    accuracy: ConvexAccuracy
    prices: ArmPrices
    question: Question
    bundle: Bundle = field(init=False)

    def __post_init__(self) -> None:
        self.error = Objective(self.accuracy.error, self.accuracy.slope)
        self.bundle = Bundle(self.error)
        self.has_kinks = self.accuracy.criterion == "worst_direction"

    def require_identifiable(self) -> None:
        """Refuse a menu that leaves the model open however much of it is used."""
        counts = np.full(len(self.prices.arms), 1.0)
        if np.isfinite(self.accuracy.error(counts)):
            return
        if any(np.isfinite(self.accuracy.error(corner)) for corner in np.eye(len(counts))):
            return
        directions = self.accuracy.open_directions(counts)
        raise NotIdentifiableError(
            f"No mixture of {', '.join(self.prices.arms)} pins the model down"
            f"{'; it leaves open: ' + ', '.join(directions) if directions else ''}. Put a rule with more labels on "
            "the menu.",
            directions,
        )

    def within_budget(self) -> Solution:
        """Least error within the budget."""
        money = self.question.value - self.prices.fixed
        if money < 0:
            raise InfeasiblePlanError(
                f"The fixed cost of {self.prices.fixed:g} alone is above the budget of {self.question.value:g}.",
                self.prices.fixed,
            )
        best = self.least_error(Polytope(self.prices.per_sample, money, self.question.pool))
        return self.solution(best.counts, best.gap, best.of_money, best.of_samples)

    def within_target(self) -> Solution:
        """Least cost within an error ceiling: the budget whose least error is the target."""
        target = self.question.value
        if self.accuracy.criterion not in LOGARITHMIC and target <= 0 and not np.isfinite(self.question.pool):
            raise InvalidInputError(f"An error of {target:g} takes infinitely many samples. Give a positive target.")
        free = self._without_money()
        if free is not None and free.error <= target:
            return self.solution(free.counts, 0.0, free.of_money, free.of_samples)
        best, bound = self._cheapest(target)
        spent = float(self.prices.per_sample @ best.counts)
        return self.solution(best.counts, max(spent - bound, 0.0), best.of_money, best.of_samples)

    def weighted(self) -> Solution:
        """Least cost plus alpha times error."""
        alpha, cost, pool = self.question.value, self.prices.per_sample, self.question.pool
        if self._is_logarithmic and not np.isfinite(pool):
            raise InvalidInputError("alpha with a criterion in nats needs a pool: say how many samples there are.")
        money = pool * float(cost.max()) if np.isfinite(pool) else self._most_money(alpha)
        objective = Objective(
            lambda counts: float(cost @ counts) + alpha * self.accuracy.error(counts),
            lambda counts: cost + alpha * self.accuracy.slope(counts),
            alpha,
            self.error,
        )
        # Without a pool no design that costs more than a known value of the whole can be better.
        polytope = Polytope(cost, np.inf if np.isfinite(pool) else money, pool)
        best = self._least(
            objective,
            Bundle(objective),
            polytope,
            scale=alpha if self._is_logarithmic else None,
            near=self._near_weighted(alpha, money),
        )
        over = max(float((-self.accuracy.slope(best.counts) - cost / alpha).max()), 0.0) if np.isfinite(pool) else 0.0
        return self.solution(best.counts, best.gap, 1 / alpha, over)

    def _most_money(self, alpha: float) -> float:
        """More than the best design costs: the value of some design, since the error is not negative."""
        corner = Polytope(self.prices.per_sample, 1.0, np.inf).most / len(self.prices.arms)

        def value(size: float) -> float:
            return size + alpha * self.accuracy.error(size * corner)

        size = 1.0
        # The value has one valley, wherever the units of money and error put it.
        for factor in (10.0, 0.1):
            while value(size * factor) < value(size):
                size *= factor
        return value(size)

    def _near_weighted(self, alpha: float, most: float) -> FloatArray:
        """The optimum of about the budget at which a unit of money is worth a unit of weighted error."""
        free = self._without_money()
        if free is not None and alpha * free.of_money <= 1:
            return free.counts
        low, high, money = 0.0, most, most
        best = self.least_error(Polytope(self.prices.per_sample, money, self.question.pool))
        for _ in range(_MAX_BUDGETS):
            ratio = alpha * best.of_money
            low, high = (money, high) if ratio > 1 else (low, money)
            if abs(ratio - 1) < 1e-3 or high - low <= 1e-3 * high:
                break
            # Where nothing is held money is worth k / money^2, or k / money in nats.
            factor = ratio ** (1.0 if self._is_logarithmic else 0.5)
            money *= float(np.clip(factor, 0.01, 100.0))
            if not low < money < high:
                money = float(np.sqrt(low * high)) if low > 0 else high / 100
            best = self.least_error(Polytope(self.prices.per_sample, money, self.question.pool), near=best.counts)
        return best.counts

    def least_error(self, polytope: Polytope, near: FloatArray | None = None) -> _Best:
        """Least error of all designs in a polytope."""
        scale = 1.0 if self.accuracy.criterion in LOGARITHMIC else None
        if near is not None:
            # A little of every arm, so that none is far from where it is wanted.
            near = 0.99 * polytope.shrunk(near) + 0.01 * np.diag(polytope.most).mean(axis=0)
        return self._least(self.error, self.bundle, polytope, scale=scale, near=near)

    def _least(
        self,
        objective: Objective,
        bundle: Bundle,
        polytope: Polytope,
        *,
        scale: float | None,
        near: FloatArray | None = None,
    ) -> _Best:
        def enough(value: float, aim: float = _AIM) -> float:
            return aim * (abs(value) if scale is None else scale)

        def gap_of_plane(value: float, minorant: Minorant) -> float:
            gain = most_gain(minorant.worth, polytope.prices, polytope.money, polytope.samples)
            return value - minorant.intercept + gain.value

        def gap(counts: FloatArray, value: float, slope: FloatArray) -> float:
            return gap_of_plane(value, Minorant.tangent(counts, value, slope))

        start = self._start(objective, polytope, near)
        counts = newton(objective, polytope, start, gap, enough)
        value = objective.value(counts)
        minorant = Minorant.tangent(counts, value, objective.slope(counts))
        if self.has_kinks and gap_of_plane(value, minorant) > enough(value):
            found = level_search(bundle, polytope, counts, gap_of_plane, lambda value: enough(value, _AIM_AT_KINKS))
            counts, value, minorant = found.counts, found.value, found.minorant
        gain = most_gain(minorant.worth, polytope.prices, polytope.money, polytope.samples)
        gap_left = max(gap_of_plane(value, minorant), 0.0)
        return _Best(counts, value, minorant, gap_left, gain.of_money, gain.of_samples)

    def _start(self, objective: Objective, polytope: Polytope, near: FloatArray | None) -> FloatArray:
        """A design with a finite value: near a known one, in the middle, or a corner."""
        corners = np.diag(polytope.most)
        candidates = [corners.mean(axis=0), *corners]
        if near is not None:
            candidates.insert(0, near)
        for candidate in candidates:
            fitting = polytope.shrunk(candidate)
            if np.isfinite(objective.value(fitting)):
                return fitting
        directions = self.accuracy.open_directions(corners.mean(axis=0))
        raise NotIdentifiableError(
            "What the budget and the pool allow does not pin the model down"
            f"{'; it leaves open: ' + ', '.join(directions) if directions else ''}. Allow more labels.",
            directions,
        )

    def _without_money(self) -> _Best | None:
        """The least error of what is free; None if that does not pin the model down."""
        try:
            return self.least_error(Polytope(self.prices.per_sample, 0.0, self.question.pool))
        except NotIdentifiableError:
            return None

    def _cheapest(self, target: float) -> tuple[_Best, float]:
        """The optimum of the smallest budget whose least error is the target, and a bound on the cost of any design.

        Where the target is as near to the least error of all budgets as these are known, the optimum of the smallest
        budget that cannot be told from it.
        """
        cost, pool = self.prices.per_sample, self.question.pool
        if not np.isfinite(pool):
            best = self.least_error(Polytope(cost, float(cost.max()), pool))
            return self._walk(best, float(cost.max()), target, None)
        best = self.least_error(Polytope(cost, np.inf, pool))
        among = f"within the pool of {pool:g} samples"
        ceiling = error_ceiling(self.question, self.accuracy.criterion, best.error, TOLERANCE, among=among)
        spent = float(cost @ best.counts)
        bound = least_cost(best.minorant, ceiling, cost, pool)
        if spent - bound <= _AIM * spent:
            return best, bound
        # The least errors of budgets scatter by as much as ends a walk.
        scatter = 4 * self._aim * size_of_errors(self.accuracy.criterion, best.error)
        return self._walk(best, spent, max(ceiling, best.error + scatter), best)

    def _walk(self, best: _Best, money: float, ceiling: float, reached: _Best | None) -> tuple[_Best, float]:
        """Newton on the least error of a budget, guarded, from the optimum of some money."""
        cost, pool = self.prices.per_sample, self.question.pool
        low, high, bound = 0.0, np.inf, 0.0
        for _ in range(_MAX_BUDGETS):
            bound = max(bound, least_cost(best.minorant, ceiling, cost, pool))
            if best.error <= ceiling:
                high, reached = min(high, float(cost @ best.counts)), best
            else:
                low = max(low, money)
            left = (ceiling - best.error) / size_of_errors(self.accuracy.criterion, ceiling)
            if reached is not None and (0 <= left <= self._closeness or high - max(low, bound) <= 1e-14 * high):
                break
            money = self._next_budget(best, ceiling, money, low, high)
            best = self.least_error(Polytope(cost, money, pool), near=best.counts)
        if reached is None:
            raise InfeasiblePlanError(f"No budget was found whose least error is {ceiling:g}.", best.error)
        return reached, bound

    @property
    def _aim(self) -> float:
        return _AIM_AT_KINKS if self.has_kinks else _AIM

    @property
    def _closeness(self) -> float:
        """How far below its target an error may end: what the optimum of a budget is good for."""
        return 2 * _AIM_AT_KINKS if self.has_kinks else _AIM / 10

    @property
    def _is_logarithmic(self) -> bool:
        return self.accuracy.criterion in LOGARITHMIC

    def _next_budget(self, best: _Best, target: float, money: float, low: float, high: float) -> float:
        """Newton in coordinates in which the least error is nearly a line: 1/error of money, nats of log money."""
        if best.of_money > 0:
            if self._is_logarithmic:
                guess = money * float(np.exp(np.clip((best.error - target) / (best.of_money * money), -20, 20)))
            else:
                guess = money + (1 / target - 1 / best.error) * best.error**2 / best.of_money
            # A hair beyond, so that the target is met and not nearly met.
            guess *= 1 + self._closeness / 4
            if low < guess < high:
                return guess
        if not np.isfinite(high):
            return 4 * money
        return float(np.sqrt(low * high)) if low > 0 else high / 16

    def solution(self, counts: FloatArray, gap: float, of_money: float, of_samples: float) -> Solution:
        """Say what was found, and whether the gap is small enough to be called a certificate."""
        error, cost = self.accuracy.error(counts), self.prices.cost(counts)
        scale = _scale(self.question, cost - self.prices.fixed, error, is_logarithmic=self._is_logarithmic)
        is_small, is_convex = gap <= TOLERANCE * scale, self.accuracy.is_convex
        return Solution(
            self.question,
            self.prices.arms,
            counts,
            cost,
            error,
            self.accuracy.standard_error(counts),
            gap,
            bool(is_small and is_convex),
            _in_words(self.question, gap, scale, is_convex=is_convex, is_small=is_small),
            of_money,
            of_samples,
            binding_limits(self.question, counts, cost, error),
            self.accuracy.criterion,
            self.accuracy.source,
        )


def is_stationary(solution: Solution, prices: ArmPrices) -> bool:
    """Whether the slope sees no better design, be the error convex or not."""
    is_logarithmic = solution.criterion in LOGARITHMIC
    scale = _scale(solution.question, solution.cost - prices.fixed, solution.error, is_logarithmic=is_logarithmic)
    return solution.gap is not None and solution.gap <= TOLERANCE * scale


def _scale(question: Question, cost: float, error: float, *, is_logarithmic: bool) -> float:
    """What a gap is small against: the figure that is minimized, or one nat."""
    if question.kind == "target":
        return cost
    if question.kind == "budget":
        return 1.0 if is_logarithmic else abs(error)
    return question.value if is_logarithmic else cost + question.value * error


_UNITS = {"budget": "error", "target": "cost", "alpha": "cost plus weighted error"}


def _in_words(question: Question, gap: float, scale: float, *, is_convex: bool, is_small: bool) -> str:
    best = f"any other design has at most {gap:.2g} less {_UNITS[question.kind]}"
    if not is_convex:
        return f"{NO_CERTIFICATE}: sampling may have bent the curve; were it convex, {best}."
    share = f" ({gap / scale:.1g} of it)" if scale > 0 else ""
    return (
        f"{best[0].upper()}{best[1:]}{share}."
        if is_small
        else f"{NO_CERTIFICATE} below {TOLERANCE:g}: {best}{share}."
    )
