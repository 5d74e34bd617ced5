"""Whole numbers of samples that really fit the budget and the pool."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.costs import Costs
from labelworth.tradeoff.problem import Question, Solution, at_most_less, binding_limits

_FEW = (0, 1, 2, 3, 5)
"""How many samples an exchange gives up of one arm, or takes of another."""

_MOST_SAMPLES = 10**12
_ROUNDING = 1e-9
_MOST_ROUNDS = 400


def whole_counts(accuracy: Accuracy, costs: Costs, solution: Solution) -> Solution:
    """Round a solution to whole numbers that fit, then exchange samples between arms while that helps.

    Parameters
    ----------
    accuracy : Accuracy
    costs : Costs
        Those of the solution.
    solution : Solution

    Returns
    -------
    Solution
        With whole counts. Its gap is against any design, whole or not, and so includes what rounding costs.

    Raises
    ------
    InfeasiblePlanError
        If no whole design near the solution meets the target.

    Notes
    -----
    A local search: it ends where giving up a few samples of any one arm for as many as fit of another gains nothing.
    """
    # A target within what a solver can tell of the least error is answered by that: whole samples need not be better.
    ceiling = max(solution.question.value, solution.error)
    best = _improved(_Rounding(accuracy, costs, solution.question, ceiling), solution.counts)
    error, cost = accuracy.error(best), costs.cost(best)
    gap, question = solution.gap, solution.question
    if gap is not None:
        lost = {
            "budget": error - solution.error,
            "target": cost - solution.cost,
            "alpha": cost - solution.cost + question.value * (error - solution.error),
        }
        gap = max(gap + lost[question.kind], 0.0)
    return replace(
        solution,
        counts=best,
        cost=cost,
        error=error,
        standard_error=accuracy.standard_error(best),
        gap=gap,
        certificate=_in_words(solution, gap),
        binding=binding_limits(question, best, cost, error),
    )


def _in_words(solution: Solution, gap: float | None) -> str:
    if gap is None or not solution.is_certified:
        return solution.certificate
    return f"{at_most_less(solution.question, gap, of='Any other design, of whole samples or not,')}."


class _Rounding:
    """The rank of whole designs, remembered, and how many more samples fit."""

    def __init__(self, accuracy: Accuracy, costs: Costs, question: Question, ceiling: float) -> None:
        self.accuracy, self.costs, self.question, self.ceiling = accuracy, costs, question, ceiling
        self._known: dict[bytes, float] = {}

    def rank(self, counts: FloatArray) -> float:
        """What is to be small; infinite for designs that do not fit."""
        key = counts.tobytes()
        if key not in self._known:
            self._known[key] = self._computed(counts)
        return self._known[key]

    def _computed(self, counts: FloatArray) -> float:
        if not self.fits(counts):
            return np.inf
        error, kind, value = self.accuracy.error(counts), self.question.kind, self.question.value
        if kind == "budget":
            return error
        if kind == "target":
            return self.costs.cost(counts) if error <= self.ceiling else np.inf
        return self.costs.cost(counts) + value * error

    def fits(self, counts: FloatArray) -> bool:
        """Whether the pool has so many samples, and the budget pays for them."""
        if counts.min() < 0 or counts.sum() > self.question.pool * (1 + 1e-12):
            return False
        return self.question.kind != "budget" or self.costs.cost(counts) <= self.question.value * (1 + 1e-12)

    def room(self, counts: FloatArray, arm: int) -> int:
        """How many more samples of an arm fit; some, where nothing limits them."""
        left = self.question.pool - float(counts.sum())
        most = int(np.floor(left * (1 + 1e-12) + _ROUNDING)) if np.isfinite(left) else self._unlimited(counts, arm)
        unit = np.eye(len(counts))[arm]
        return _last(lambda number: self.fits(counts + number * unit), max(most, 0))

    def _unlimited(self, counts: FloatArray, arm: int) -> int:
        """A number of samples that is too dear, or as many as there are."""
        number = 1 + int(counts.sum())
        unit = np.eye(len(counts))[arm]
        while self.question.kind == "budget" and self.fits(counts + number * unit) and number < _MOST_SAMPLES:
            number *= 2
        return number


def _improved(rounding: _Rounding, counts: FloatArray) -> FloatArray:
    start = _first(rounding, counts)
    best, rank = start, rounding.rank(start)
    for _ in range(_MOST_ROUNDS):
        better = min(_exchanges(rounding, best), key=rounding.rank, default=best)
        if not rounding.rank(better) < rank:
            break
        best, rank = better, rounding.rank(better)
    return best


def _first(rounding: _Rounding, counts: FloatArray) -> FloatArray:
    """Rounded down if that is allowed, else to the nearest or up; for a target as much more as it takes."""
    down = np.floor(counts + _ROUNDING)
    candidates = [down, np.rint(counts), np.ceil(counts - _ROUNDING)]
    if rounding.question.kind == "target":
        candidates += [down + more for more in _small_additions(len(counts))]
    best = min(candidates, key=rounding.rank)
    if np.isfinite(rounding.rank(best)):
        return best
    if rounding.question.kind == "target":
        return _met(rounding, down)
    return down


def _met(rounding: _Rounding, counts: FloatArray) -> FloatArray:
    """Add samples, each where it lowers the error most, until the target is met."""
    accuracy, identity = rounding.accuracy, np.eye(len(counts))
    for _ in range(_MOST_ROUNDS):
        if np.isfinite(rounding.rank(counts)):
            return counts
        grown = [counts + unit for unit in identity if rounding.fits(counts + unit)]
        swapped = [
            counts + unit - other
            for unit in identity
            for other in identity
            if unit is not other and rounding.fits(counts + unit - other)
        ]
        options = grown or swapped
        if not options:
            break
        following = min(options, key=accuracy.error)
        if not accuracy.error(following) < accuracy.error(counts):
            break
        counts = following
    raise InfeasiblePlanError(
        f"No design of whole samples near the best one reaches {rounding.question.value:g}; the nearest found has an "
        f"error of {accuracy.error(counts):.6g}. Raise the target a little.",
        accuracy.error(counts),
    )


def _small_additions(n_arms: int) -> Iterator[FloatArray]:
    """One more of some of the arms."""
    for subset in range(1, 2 ** min(n_arms, 10)):
        yield np.array([float(subset >> arm & 1) for arm in range(n_arms)])


def _exchanges(rounding: _Rounding, counts: FloatArray) -> Iterator[FloatArray]:
    """Designs near this one: a few of one arm for some of another, some of one for as many as it takes of another."""
    for given in range(len(counts)):
        for taken in _FEW:
            if counts[given] < taken:
                break
            reduced = _moved(counts, given, -taken)
            if taken:
                yield reduced
            for arm in range(len(counts)):
                yield from _additions(rounding, reduced, arm)
    for arm in range(len(counts)):
        for more in _FEW:
            grown = _moved(counts, arm, more)
            for given in range(len(counts)):
                if given != arm or more == 0:
                    yield from _released(rounding, grown, given)


def _additions(rounding: _Rounding, counts: FloatArray, arm: int) -> Iterator[FloatArray]:
    room = rounding.room(counts, arm)
    for more in sorted({*_FEW, room - 1, room}):
        if 0 < more <= room:
            yield _moved(counts, arm, more)


def _released(rounding: _Rounding, counts: FloatArray, given: int) -> Iterator[FloatArray]:
    """Give up of one arm as few as a budget asks for, or as many as a target allows."""
    most = int(counts[given])
    if rounding.question.kind == "target":
        if np.isfinite(rounding.rank(counts)):
            yield _moved(
                counts, given, -_last(lambda number: np.isfinite(rounding.rank(_moved(counts, given, -number))), most)
            )
        return
    if not rounding.fits(counts) and rounding.fits(_moved(counts, given, -most)):
        kept = _last(lambda number: rounding.fits(_moved(counts, given, number - most)), most)
        fitting = _moved(counts, given, kept - most)
        yield fitting
        for arm in range(len(counts)):
            yield from _additions(rounding, fitting, arm)


def _moved(counts: FloatArray, arm: int, number: int) -> FloatArray:
    moved = counts.copy()
    moved[arm] += number
    return moved


def _last(holds: Callable[[int], bool], most: int) -> int:
    """The largest number up to `most` that holds, where zero does and what holds for one holds for fewer."""
    if most <= 0 or holds(most):
        return max(most, 0)
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
