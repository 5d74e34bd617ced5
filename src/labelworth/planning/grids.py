"""Answers along grids of budgets, targets and alphas: all three are read off the best designs for rising money."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError, NotIdentifiableError
from labelworth.planning.landscape import GridAnswer, Solutions
from labelworth.planning.situation import Situation
from labelworth.planning.solving import continuous
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.line import lines_of
from labelworth.tradeoff.problem import Problem

_N_QUESTIONS = 25
_N_KNOTS, _N_KNOTS_OF_KINDS = 97, 33
_PARTS = np.arange(1, 8) / 8
"""Parts of the best designs that are tried as whole designs too: they go the same way, which was simulated."""


def grid_solutions(situation: Situation, known: Sequence[FloatArray] = ()) -> Solutions:
    """Answers along grids of budgets, targets and alphas, for whoever wants to move through them.

    Parameters
    ----------
    known : sequence of arrays of shape (n_arms,)
        Whole designs whose error is told elsewhere: of simulated arms no answer is behind one of them.
    """
    most = situation.prices.most(situation.pool)
    if most <= 0 or situation.is_used_up:
        return Solutions()
    steps = np.concatenate([[0.0], np.geomspace(0.002, 1.0, _N_QUESTIONS - 1)])
    budgets = situation.held.cost + steps * most
    if not isinstance(situation.prices, ArmPrices):
        return _asked_one_by_one(situation, budgets)
    # Simulated arms are not mixed, so that nothing can be read off between two designs of theirs.
    is_stepped = situation.accuracy.source == "simulated" and len(situation.accuracy.arms) > 1
    ladder: _Ladder | _Steps = (
        _Steps.of(situation, situation.prices, known) if is_stepped else _Ladder.of(situation, situation.prices)
    )
    targets = _between(ladder.errors)
    alphas = _alphas(ladder.costs, ladder.errors)
    return Solutions(
        tuple(ladder.answer("budget", float(value)) for value in budgets),
        tuple(ladder.answer("target", float(value)) for value in targets),
        tuple(ladder.answer("alpha", float(value)) for value in alphas),
    )


def _asked_one_by_one(situation: Situation, budgets: FloatArray) -> Solutions:
    """Where costs have steps, nothing can be read off between two answers."""
    by_budget = _answers(situation, "budget", budgets)
    known = [answer for answer in by_budget if answer.error is not None]
    errors = np.array([answer.error for answer in known], dtype=np.float64)
    costs = np.array([answer.cost_in_all for answer in known], dtype=np.float64)
    rising = np.concatenate([[True], np.diff(costs) > 0])
    return Solutions(
        by_budget,
        _answers(situation, "target", _between(errors)) if known else (),
        _answers(situation, "alpha", _alphas(costs[rising], errors[rising])) if known else (),
    )


def _answers(situation: Situation, problem: Problem, values: FloatArray) -> tuple[GridAnswer, ...]:
    answers = []
    for value in values.tolist():
        asked = max(value - situation.held.cost, 0.0) if problem == "budget" else value
        try:
            counts = continuous(situation.accuracy, situation.prices, situation.pool, problem, asked)
        except (InfeasiblePlanError, NotIdentifiableError):
            answers.append(GridAnswer(value, None, None, None, None))
            continue
        answers.append(_answer(situation, value, counts))
    return tuple(answers)


def _alphas(costs: FloatArray, errors: FloatArray) -> FloatArray:
    """Prices of error for which something between nothing and everything is best."""
    slopes = -np.diff(errors) / np.diff(costs)
    falling = slopes[slopes > 0]
    if not falling.size:
        return np.empty(0)
    return np.geomspace(0.5 / falling.max(), 2 / falling.min(), _N_QUESTIONS)


def _between(errors: FloatArray) -> FloatArray:
    """Targets from the error of today down to the least."""
    finite = errors[np.isfinite(errors)]
    high, low = float(finite[0]), float(finite.min())
    if low > 0:
        return np.geomspace(high, low * (1 + 1e-6), _N_QUESTIONS)
    return np.linspace(high, low, _N_QUESTIONS)


def _designs(situation: Situation, prices: ArmPrices) -> list[FloatArray]:
    """The best designs for rising amounts of money, as far as these buy one."""
    designs = [situation.nothing_more]
    amounts = (prices.most(situation.pool) - prices.fixed) * _shares_of_money(situation)
    for money in amounts[amounts > 0]:
        try:
            designs.append(continuous(situation.accuracy, situation.prices, situation.pool, "budget", float(money)))
        except (InfeasiblePlanError, NotIdentifiableError):
            continue
    return designs


def _shares_of_money(situation: Situation) -> FloatArray:
    # Every mix of kinds of labels is a program of its own, and the cheap ones need little money.
    least, n_knots = (1e-3, _N_KNOTS) if situation.kinds is None else (1e-4, _N_KNOTS_OF_KINDS)
    return np.concatenate([[0.0], np.geomspace(least, 1.0, n_knots - 1)])


def _answer(situation: Situation, value: float, counts: FloatArray) -> GridAnswer:
    design = situation.design(counts)
    return GridAnswer(value, tuple(counts.tolist()), design.labels, design.cost_in_all, design.error)


@dataclass(frozen=True, eq=False)
class _Steps:
    """Whole designs for rising amounts of money, each with less error than all that cost no more."""

    situation: Situation
    counts: FloatArray
    costs: FloatArray
    errors: FloatArray

    @classmethod
    def of(cls, situation: Situation, prices: ArmPrices, known: Sequence[FloatArray]) -> "_Steps":
        rungs = _designs(situation, prices)
        parts = [share * np.asarray(own) for own in rungs for share in _PARTS]
        designs = [np.floor(np.asarray(own) + 1e-6) for own in (*rungs, *parts, *known)]
        counts = np.unique([own for own in designs if prices.fit(own, situation.pool)], axis=0)
        errors = np.array([situation.accuracy.error(own) for own in counts])
        costs = counts @ prices.per_sample
        order = np.lexsort((errors, costs))
        least = np.minimum.accumulate(np.concatenate([[np.inf], errors[order]]))
        kept = order[errors[order] < least[:-1]]
        return cls(situation, counts[kept], costs[kept], errors[kept])

    def answer(self, problem: Problem, value: float) -> GridAnswer:
        """The best of these designs."""
        if problem == "budget":
            met = self.situation.held.cost + self.costs <= value + 1e-9 * max(value, 1.0)
            index = int(met.sum()) - 1
        elif problem == "target":
            met = self.errors <= value * (1 + 1e-9)
            index = int(np.argmax(met)) if met.any() else -1
        else:
            index = int(np.argmin(self.costs + value * self.errors))
        if index < 0:
            return GridAnswer(value, None, None, None, None)
        return _answer(self.situation, value, self.counts[index])


@dataclass(frozen=True, eq=False)
class _Ladder:
    """The best designs for rising amounts of money: all three problems are read off it."""

    situation: Situation
    counts: FloatArray
    costs: FloatArray
    errors: FloatArray

    @classmethod
    def of(cls, situation: Situation, prices: ArmPrices) -> "_Ladder":
        accuracy = situation.accuracy
        most = prices.most(situation.pool) - prices.fixed
        lines = lines_of(accuracy, prices, situation.pool)
        if len(lines) == 1:
            counts = np.array([lines[0].counts(share * situation.pool) for share in _shares_of_money(situation)])
        else:
            counts = np.array(_designs(situation, prices))
        costs = counts @ prices.per_sample
        order = np.argsort(costs, kind="stable")
        costs, counts = costs[order], counts[order]
        keep = np.concatenate([[True], np.diff(costs) > 1e-9 * max(most, 1.0)])
        errors = np.array([accuracy.error(design) for design in counts[keep]])
        return cls(situation, counts[keep], costs[keep], errors)

    def answer(self, problem: Problem, value: float) -> GridAnswer:
        """Between the rungs, made whole."""
        cost = self._cost(problem, value)
        if cost is None:
            return GridAnswer(value, None, None, None, None)
        exact = self._counts(cost)
        counts = self._fitting(np.ceil(exact - 1e-6) if problem == "target" else np.floor(exact + 1e-6))
        return _answer(self.situation, value, counts)

    def _counts(self, cost: float) -> FloatArray:
        """What so much money buys, between rungs."""
        return np.array([np.interp(cost, self.costs, column) for column in self.counts.T])

    def _fitting(self, counts: FloatArray) -> FloatArray:
        """Rounded up, samples may be more than there are; free ones fill the pool again."""
        accuracy, pool = self.situation.accuracy, float(np.floor(self.situation.pool))
        unlabeled = accuracy.arms.index("nothing") if "nothing" in accuracy.arms else None
        apart = self.situation.prices.apart
        counts = np.minimum(counts, apart)
        labeling = np.isinf(apart) & (np.arange(len(counts)) != (-1 if unlabeled is None else unlabeled))
        excess = counts[labeling].sum() - pool
        if excess > 0:
            counts[int(np.argmax(np.where(labeling, counts, -1.0)))] -= excess
        if unlabeled is not None:
            room = pool - counts[labeling].sum()
            counts[unlabeled] = room if self.situation.unlabeled_is_free else min(counts[unlabeled], room)
        return counts

    def _cost(self, problem: Problem, value: float) -> float | None:
        if problem == "budget":
            left = value - self.situation.held.cost
            return None if left < -1e-9 * max(value, 1.0) else self._worth_spending(max(left, 0.0))
        if problem == "target":
            return self._cost_of_target(value)
        curve = self._curve()
        fine = np.unique(np.concatenate([self.costs, np.linspace(self.costs[0], self.costs[-1], 2000)]))
        return float(fine[np.argmin(fine + value * curve(fine))])

    def _worth_spending(self, left: float) -> float:
        """All that is left, or less where a forecast does not fall any further."""
        all_of_it = float(min(left, self.costs[-1]))
        below = np.flatnonzero(self.costs <= all_of_it)
        best = int(below[np.argmin(self.errors[below])])
        error = self.situation.accuracy.error(self._counts(all_of_it))
        return all_of_it if error <= self.errors[best] + 1e-9 * abs(self.errors[best]) else float(self.costs[best])

    def _cost_of_target(self, target: float) -> float | None:
        met = np.flatnonzero(self.errors <= target * (1 + 1e-9))
        if not met.size:
            return None
        index = int(met[0])
        if index == 0:
            return float(self.costs[0])
        curve = self._curve()
        fine = np.linspace(self.costs[index - 1], self.costs[index], 200)
        reached = np.flatnonzero(curve(fine) <= target * (1 + 1e-9))
        return float(fine[reached[0]]) if reached.size else float(self.costs[index])

    def _curve(self) -> Callable[[FloatArray], FloatArray]:
        if len(self.costs) < 2:
            return lambda costs: np.full(np.shape(costs), self.errors[0])
        curve: Callable[[FloatArray], FloatArray] = PchipInterpolator(self.costs, self.errors)
        return curve
