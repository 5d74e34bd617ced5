"""The three problems by grid and refinement, for any error and any cost: no certificate."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.costs import ArmPrices, Costs
from labelworth.tradeoff.line import Line
from labelworth.tradeoff.problem import Question, Solution, error_ceiling, require_paid, require_same_arms

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
_SHARES = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999)
_RANDOM_MOVES = 2
_CLOSE = 1e-12
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
    hunt = _Hunt(accuracy, costs, question)
    start = hunt.best_of_grid()
    if not np.isfinite(start.rank):
        hunt, start = _nearest(accuracy, costs, question)
    counts = hunt.followed(hunt.refined(start)).counts
    return Solution(question, accuracy.criterion, counts, costs.cost(counts), accuracy.error(counts))


@dataclass(frozen=True, eq=False)
class _Ray:
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

    def best_of_grid(self) -> _Ray:
        """The best of pure arms and mixtures."""
        directions = mixtures(len(self.costs.arms))
        return min((self.along(direction) for direction in directions), key=lambda ray: ray.rank)

    def refined(self, best: _Ray, step: float = 0.5) -> _Ray:
        """Move shares between arms in ever smaller steps while that helps."""
        rounds, rng, corners = 0, np.random.default_rng(0), self._corners()
        while step > _FINEST and rounds < _MOST_ROUNDS:
            rounds += 1
            better = min(
                (
                    self.along(direction, best)
                    for direction in near_mixtures(best.direction, best.counts, step, corners, rng)
                ),
                key=lambda ray: ray.rank,
            )
            if better.rank < best.rank:
                best = better
            else:
                step /= 2
        return best

    def followed(self, best: _Ray) -> _Ray:
        """Where a target takes the whole pool: the least error at its cost, the least cost along that, and again.

        The designs that meet the target with the whole pool are a ridge; at a given cost the corners lead along it.
        """
        for _ in range(_MOST_TURNS if self.question.kind == "target" else 0):
            if best.share < _NEARLY_ALL:
                break
            at_cost = replace(self, question=replace(self.question, kind="budget", value=best.rank))
            least = at_cost.refined(replace(best, rank=self.accuracy.error(best.counts)), _SMALL)
            start = self.along(least.direction, replace(least, longest=self.line(least.direction).most))
            better = self.refined(min(start, best, key=lambda ray: ray.rank), _SMALL)
            is_little = better.rank > best.rank * (1 - _LITTLE)
            best = better
            if is_little:
                break
        return best

    def along(self, direction: FloatArray, near: _Ray | None = None) -> _Ray:
        """The best design on a ray: of many sizes, or of some about as large as a known one."""
        line = self.line(direction)
        shares = _SIZES if near is None else np.unique(np.minimum(near.share * _NEAR, 1.0))
        (rank, _), length = line.best(self.question, line.most * shares, max(_CLOSE * line.most, 1e-300))
        # A root is where the target is nearly met.
        while self.question.kind == "target" and np.isfinite(rank) and line.error(length) > self.question.value:
            length = min(length + 2 * _CLOSE * line.most, line.most)
        return _Ray(direction, length, line.most, rank)

    def line(self, direction: FloatArray) -> Line:
        """To the end of the pool, and for a budget to the end of the money."""
        most = self.costs.longest(direction, self.question.pool)
        return Line(self.accuracy, self.costs, np.zeros(len(direction)), direction, most).within(self.question)

    def _corners(self) -> list[FloatArray]:
        """Designs of two arms that use up the money and the pool at once: moves towards them keep both used up."""
        if self.question.kind != "budget" or not isinstance(self.costs, ArmPrices):
            return []
        prices, money, pool = self.costs.per_sample, self.question.value - self.costs.fixed, self.question.pool
        corners = []
        for expensive, cheap in permutations(np.flatnonzero(np.isinf(self.costs.apart)), 2):
            if prices[cheap] * pool < money < prices[expensive] * pool < np.inf:
                corner = np.zeros(len(prices))
                corner[expensive] = (money - prices[cheap] * pool) / (prices[expensive] - prices[cheap])
                corner[cheap] = pool - corner[expensive]
                corners.append(corner)
        return corners


def _nearest(accuracy: Accuracy, costs: Costs, question: Question) -> tuple[_Hunt, _Ray]:
    """Where the grid has no answer: start from the least error, whatever it costs, if that meets the target.

    Raises
    ------
    NotIdentifiableError
        If nothing that was tried has a finite error.
    InfeasiblePlanError
        If the least error is above the target.
    """
    ignoring_cost = _Hunt(accuracy, costs, Question("budget", np.inf, question.pool))
    best = ignoring_cost.best_of_grid() if question.kind == "target" else None
    if best is None or not np.isfinite(best.rank):
        raise NotIdentifiableError(
            f"Of mixtures of {', '.join(accuracy.arms)} none that was tried pins the model down. Allow more labels."
        )
    least = ignoring_cost.refined(best)
    ceiling = error_ceiling(question, accuracy.criterion, least.rank, _RESOLUTION, among="that was tried")
    hunt = _Hunt(accuracy, costs, replace(question, value=ceiling))
    start = replace(least, rank=costs.cost(least.counts))
    return hunt, min(start, hunt.along(least.direction, least), key=lambda ray: ray.rank)


def _require_limits(costs: Costs, question: Question) -> None:
    require_paid(question, costs.cost(np.zeros(len(costs.arms))))
    is_limited = question.kind == "budget" and isinstance(costs, ArmPrices) and (costs.per_sample > 0).all()
    if not np.isfinite(question.pool) and not is_limited:
        raise InvalidInputError("A search needs a limit. Say how many samples there are (pool).")


def mixtures(n_arms: int) -> Iterator[FloatArray]:
    """Pure arms, mixtures of two in many shares, and all in equal parts."""
    corners = np.eye(n_arms)
    yield from corners
    for first, other in combinations(range(n_arms), 2):
        for share in _SHARES:
            yield share * corners[first] + (1 - share) * corners[other]
    if n_arms > 2:
        yield np.full(n_arms, 1 / n_arms)


def near_mixtures(
    direction: FloatArray, counts: FloatArray, step: float, corners: list[FloatArray], rng: np.random.Generator
) -> Iterator[FloatArray]:
    """One share larger or smaller; towards and away from corners; of three and more arms also all at random.

    Where two limits meet the best designs lie on a ridge that no single share follows.

    Parameters
    ----------
    direction, counts : array of shape (n_arms,)
        The shares of a design, and the design.
    corners : list of arrays of shape (n_arms,)
        Designs at the ends of such a ridge.
    """
    moved = [counts + signed * (corner - counts) for corner in corners for signed in (step, -step)]
    for arm, share in enumerate(direction):
        for other in (share + step, share * (1 + step), share / (1 + step), share - step):
            changed = direction.copy()
            changed[arm] = other
            moved.append(changed)
    for _ in range(_RANDOM_MOVES * len(direction) if len(direction) > 2 else 0):
        moved.append(direction + step * rng.standard_normal(len(direction)) * (direction + 0.1 * step))
    for shares in moved:
        positive = np.maximum(shares, 0.0)
        if positive.any():
            yield positive / positive.sum()
