"""The three problems by grid and refinement, for any error and any cost: no certificate."""

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.costs import ArmPrices, Costs
from labelworth.tradeoff.line_search import farthest, first_met, golden_section
from labelworth.tradeoff.mixtures import mixtures, near_mixtures
from labelworth.tradeoff.problem import (
    NO_CERTIFICATE,
    Question,
    Solution,
    binding_limits,
    error_ceiling,
    require_paid,
    require_same_arms,
)

_SIZES = np.logspace(-6.0, 0.0, 24)
"""Sizes tried along every direction, as shares of the largest."""

_NEAR = np.array([0.5, 0.8, 1.0, 1.25, 2.0])
"""Sizes tried along a direction near a known one, as shares of that."""

_FINEST = 3e-4
_NEARLY_ALL = 0.8
_MOST_TURNS = 3
_LITTLE = 1e-3
_SMALL = 0.05
_MOST_ROUNDS = 200
_RESOLUTION = 1e-6
"""Two searches of one valley, from two sides, end so near to each other: errors in shares enter with their square."""


def search(accuracy: Accuracy, costs: Costs, question: Question) -> Solution:
    """Try pure arms and mixtures of two, at many sizes, then refine the best step by step.

    Parameters
    ----------
    accuracy : Accuracy
        Need not be convex, nor fall with every sample: unlabeled samples may hurt.
    costs : Costs
        Any function of the counts.
    question : Question

    Raises
    ------
    InvalidInputError
        If nothing limits the number of samples.
    InfeasiblePlanError
        If no design that was tried meets the question, with the nearest error or cost.
    NotIdentifiableError
        If none that was tried pins the model down.
    """
    require_same_arms(accuracy, costs)
    _require_limits(costs, question)
    hunt = _Hunt(accuracy, costs, question, question.value)
    start = hunt.best_of_grid()
    if not np.isfinite(start.rank):
        hunt, start = _nearest(accuracy, costs, question)
    counts = hunt.followed(hunt.refined(start)).counts
    error, cost = accuracy.error(counts), costs.cost(counts)
    return Solution(
        question,
        accuracy.arms,
        counts,
        cost,
        error,
        accuracy.standard_error(counts),
        None,
        False,
        f"{NO_CERTIFICATE}: found by grid and refinement; the error or the cost is not known to be convex.",
        None,
        None,
        binding_limits(question, counts, cost, error),
        accuracy.criterion,
        accuracy.source,
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """A design along one direction: smaller `rank` is better; infinite where the question is not met."""

    direction: FloatArray
    length: float
    longest: float
    rank: float

    @property
    def counts(self) -> FloatArray:
        return self.length * self.direction

    @property
    def share(self) -> float:
        """Of the largest design along the direction; all of it where nothing fits."""
        return self.length / self.longest if self.longest > 0 else 1.0


@dataclass(frozen=True, eq=False)
class _Hunt:
    accuracy: Accuracy
    costs: Costs
    question: Question
    ceiling: float
    """The error that designs may have, where a target is asked for."""

    def best_of_grid(self) -> _Found:
        """The best of pure arms and mixtures."""
        directions = mixtures(len(self.costs.arms))
        return min((self.along(direction) for direction in directions), key=lambda found: found.rank)

    def refined(self, best: _Found, step: float = 0.5) -> _Found:
        """Move shares between arms in ever smaller steps while that helps."""
        rounds, rng, corners = 0, np.random.default_rng(0), self._corners()
        while step > _FINEST and rounds < _MOST_ROUNDS:
            rounds += 1
            better = min(
                (
                    self.along(direction, best)
                    for direction in near_mixtures(best.direction, best.counts, step, corners, rng)
                ),
                key=lambda found: found.rank,
            )
            if better.rank < best.rank:
                best = better
            else:
                step /= 2
        return best

    def followed(self, best: _Found) -> _Found:
        """Where a target takes the whole pool: the least error at its cost, the least cost along that, and again.

        The designs that meet the target with the whole pool are a ridge; at a given cost the corners lead along it.
        """
        for _ in range(_MOST_TURNS if self.question.kind == "target" else 0):
            if best.share < _NEARLY_ALL:
                break
            at_cost = replace(self, question=replace(self.question, kind="budget", value=best.rank))
            least = at_cost.refined(replace(best, rank=self.accuracy.error(best.counts)), _SMALL)
            start = self.along(least.direction, replace(least, longest=self._longest(least.direction)))
            better = self.refined(min(start, best, key=lambda one: one.rank), _SMALL)
            is_little = better.rank > best.rank * (1 - _LITTLE)
            best = better
            if is_little:
                break
        return best

    def along(self, direction: FloatArray, near: _Found | None = None) -> _Found:
        """The best design on a ray: of many sizes, or of some about as large as a known one."""
        longest = self._longest(direction)
        shares = _SIZES if near is None else np.unique(np.minimum(near.share * _NEAR, 1.0))
        lengths = longest * shares
        values = np.array([self.rank(length * direction) for length in lengths])
        if self.question.kind == "target":
            return self._shortest(direction, lengths, values)
        place = int(np.argmin(values))
        found = _Found(direction, float(lengths[place]), longest, float(values[place]))
        is_last = place == len(lengths) - 1 and shares[-1] == 1.0
        if not np.isfinite(found.rank) or (is_last and found.rank <= self.rank(0.98 * longest * direction)):
            return found
        low, high = lengths[max(place - 1, 0)], lengths[min(place + 1, len(lengths) - 1)]
        length = golden_section(lambda x: self.rank(x * direction), float(low), float(high))
        refined = _Found(direction, length, longest, self.rank(length * direction))
        return min(found, refined, key=lambda one: one.rank)

    def rank(self, counts: FloatArray) -> float:
        """What is to be small, of designs that meet the question; infinite elsewhere."""
        error = self.accuracy.error(counts)
        if self.question.kind == "budget":
            return error
        if self.question.kind == "alpha":
            return self.costs.cost(counts) + self.question.value * error
        return self.costs.cost(counts) if error <= self.ceiling else np.inf

    def _shortest(self, direction: FloatArray, lengths: FloatArray, costs: FloatArray) -> _Found:
        """Where the target is first met on a ray."""
        met = np.flatnonzero(np.isfinite(costs))
        longest = self._longest(direction)
        if not met.size:
            return _Found(direction, longest, longest, np.inf)
        place = int(met[np.argmin(costs[met])])
        low, high = (float(lengths[place - 1]) if place else 0.0), float(lengths[place])
        length = first_met(lambda one: self.accuracy.error(one * direction) - self.ceiling, low, high)
        return _Found(direction, length, longest, self.costs.cost(length * direction))

    def _longest(self, direction: FloatArray) -> float:
        """How far a ray may go: to the end of the pool, and for a budget to the end of the money."""
        pool = self.question.pool / float(direction.sum())
        if self.question.kind != "budget":
            return pool
        if isinstance(self.costs, ArmPrices):
            rate = float(self.costs.per_sample @ direction)
            money = self.question.value - self.costs.fixed
            return min(pool, money / rate if rate > 0 else np.inf)
        return farthest(lambda length: self.costs.cost(length * direction) <= self.question.value, pool)

    def _corners(self) -> list[FloatArray]:
        """Designs of two arms that use up the money and the pool at once: moves towards them keep both used up."""
        if self.question.kind != "budget" or not isinstance(self.costs, ArmPrices):
            return []
        prices, money, pool = self.costs.per_sample, self.question.value - self.costs.fixed, self.question.pool
        corners = []
        for dear, cheap in permutations(range(len(prices)), 2):
            if prices[cheap] * pool < money < prices[dear] * pool < np.inf:
                corner = np.zeros(len(prices))
                corner[dear] = (money - prices[cheap] * pool) / (prices[dear] - prices[cheap])
                corner[cheap] = pool - corner[dear]
                corners.append(corner)
        return corners


def _nearest(accuracy: Accuracy, costs: Costs, question: Question) -> tuple[_Hunt, _Found]:
    """Where the grid has no answer: start from the least error, whatever it costs, if that meets the target.

    Raises
    ------
    NotIdentifiableError
        If nothing that was tried has a finite error.
    InfeasiblePlanError
        If the least error is above the target.
    """
    unpaid = _Hunt(accuracy, costs, Question("budget", np.inf, question.pool), np.inf)
    found = unpaid.best_of_grid() if question.kind == "target" else None
    if found is None or not np.isfinite(found.rank):
        raise NotIdentifiableError(
            f"Of mixtures of {', '.join(accuracy.arms)} none that was tried pins the model down. Allow more labels."
        )
    least = unpaid.refined(found)
    ceiling = error_ceiling(question, accuracy.criterion, least.rank, _RESOLUTION, among="that was tried")
    hunt = _Hunt(accuracy, costs, question, ceiling)
    start = replace(least, rank=costs.cost(least.counts))
    return hunt, min(start, hunt.along(least.direction, least), key=lambda one: one.rank)


def _require_limits(costs: Costs, question: Question) -> None:
    require_paid(question, costs.cost(np.zeros(len(costs.arms))))
    is_limited = question.kind == "budget" and isinstance(costs, ArmPrices) and (costs.per_sample > 0).all()
    if not np.isfinite(question.pool) and not is_limited:
        raise InvalidInputError("A search needs a limit. Say how many samples there are (pool).")
