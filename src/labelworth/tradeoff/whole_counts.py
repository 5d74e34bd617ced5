"""Whole numbers of samples that really fit the budget and the pool, for costs of any shape."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from labelworth.arrays import BoolArray, FloatArray
from labelworth.errors import InfeasiblePlanError, LabelworthError, NotIdentifiableError
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.costs import Costs
from labelworth.tradeoff.line import FEW, MANY, Line, WholeLine, lines_of
from labelworth.tradeoff.problem import UNMET, UNSEEN, Question, Rank, Solution, gap_scale, infeasible_target
from labelworth.tradeoff.search import search

_FEW = (0, 1, 2, 3, 5)
"""How many samples an exchange gives up of one arm, or takes of another."""

_MOST_SAMPLES = 10**12
_ROUNDING = 1e-9
_HAIR = 1e-6
"""So small a share of all samples is what a solver leaves of an arm that it does not use."""

_MOST_ROUNDS = 400
_MOST_TURNS = 8


def whole_counts(accuracy: Accuracy, costs: Costs, solution: Solution) -> FloatArray:
    """Round a solution to whole numbers that fit, then exchange samples between arms while that helps.

    A local search: it ends where giving up a few samples of any one arm for as many as fit of another gains nothing.
    Arms that the solution leaves aside are too dear, so they do not come in for what rounding leaves over: only where
    nothing else meets a target, or where they do visibly more.

    Raises
    ------
    InfeasiblePlanError
        If no whole design near the solution meets the target.
    """
    # A target within what a solver can tell of the least error is answered by that: whole samples need not be better.
    is_target = solution.question.kind == "target"
    ceiling = max(solution.question.value, solution.error) if is_target else solution.question.value
    question, is_used = replace(solution.question, value=ceiling), solution.counts > _HAIR * solution.counts.sum()
    every = _WholeDesigns(accuracy, costs, question, np.ones_like(is_used))
    try:
        used = _WholeDesigns(accuracy, costs, question, is_used)
        counts = _improved(used, _first(used, np.where(is_used, solution.counts, 0.0)))
    except InfeasiblePlanError:
        return _improved(every, _first(every, solution.counts))
    other = _improved(every, counts)
    if every.meets(counts):
        cost, error = costs.cost(counts), accuracy.error(counts)
        visible = UNSEEN * gap_scale(question, accuracy.criterion, cost - costs.cost(0 * counts), error)
        return other if every.rank(counts)[0] - every.rank(other)[0] > visible else counts
    return other


class _WholeDesigns:
    """The rank of whole designs, remembered, and how many more samples fit."""

    def __init__(self, accuracy: Accuracy, costs: Costs, question: Question, is_open: BoolArray) -> None:
        self.accuracy, self.costs, self.question, self.is_open = accuracy, costs, question, is_open
        self._known: dict[bytes, Rank] = {}

    def rank(self, counts: FloatArray) -> Rank:
        """What is to be small; `UNMET` for designs that do not fit."""
        key = counts.tobytes()
        if key not in self._known:
            fits = self.fits(counts)
            self._known[key] = (
                self.question.rank(self.costs.cost(counts), self.accuracy.error(counts)) if fits else UNMET
            )
        return self._known[key]

    def meets(self, counts: FloatArray) -> bool:
        """Whether a design fits, meets the target and pins the model down."""
        return bool(np.isfinite(self.rank(counts)[0]))

    def fits(self, counts: FloatArray) -> bool:
        """Whether the pool has so many samples, the budget pays for them, and they are of arms that are open."""
        if counts[~self.is_open].any() or not self.costs.fit(counts, self.question.pool):
            return False
        return self.question.kind != "budget" or self.costs.cost(counts) <= self.question.value * (1 + 1e-12)

    def room(self, counts: FloatArray, arm: int) -> int:
        """How many more samples of an arm fit; some, where nothing limits them."""
        is_apart = np.isfinite(self.costs.apart[arm])
        left = self.costs.apart[arm] - counts[arm] if is_apart else self.question.pool - self.costs.of_pool(counts)
        most = int(np.floor(left * (1 + 1e-12) + _ROUNDING)) if np.isfinite(left) else self._unlimited(counts, arm)
        unit = np.eye(len(counts))[arm]
        return _last(lambda number: self.fits(counts + number * unit), max(most, 0))

    def _unlimited(self, counts: FloatArray, arm: int) -> int:
        """A number of samples that is too expensive, or as many as there are."""
        number = 1 + int(counts.sum())
        unit = np.eye(len(counts))[arm]
        while self.question.kind == "budget" and self.fits(counts + number * unit) and number < _MOST_SAMPLES:
            number *= 2
        return number


def _improved(designs: _WholeDesigns, counts: FloatArray) -> FloatArray:
    best, rank = counts, designs.rank(counts)
    for _ in range(_MOST_ROUNDS):
        better = min(_exchanges(designs, best), key=designs.rank, default=best)
        if not designs.rank(better) < rank:
            break
        best, rank = better, designs.rank(better)
    return best


def _first(designs: _WholeDesigns, counts: FloatArray) -> FloatArray:
    """Rounded down if that is allowed, else to the nearest or up; for a target as much more as it takes."""
    down = np.floor(counts + _ROUNDING)
    candidates = [down, np.rint(counts), np.ceil(counts - _ROUNDING)]
    if designs.question.kind == "target":
        candidates += [down + more for more in _small_additions(len(counts))]
    best = min(candidates, key=designs.rank)
    if designs.meets(best):
        return best
    if designs.question.kind == "target":
        return _met(designs, down)
    return down


def _met(designs: _WholeDesigns, counts: FloatArray) -> FloatArray:
    """Add samples, each where it lowers the error most, until the target is met."""
    accuracy, identity = designs.accuracy, np.eye(len(counts))
    for _ in range(_MOST_ROUNDS):
        if designs.meets(counts):
            return counts
        grown = [counts + unit for unit in identity if designs.fits(counts + unit)]
        swapped = [
            counts + unit - other
            for unit in identity
            for other in identity
            if unit is not other and designs.fits(counts + unit - other)
        ]
        options = grown or swapped
        if not options:
            break
        following = min(options, key=accuracy.error)
        if not accuracy.error(following) < accuracy.error(counts):
            break
        counts = following
    raise InfeasiblePlanError(
        f"No design of whole samples near the best one reaches {designs.question.value:g}; the nearest found has an "
        f"error of {accuracy.error(counts):.6g}. Raise the target a little.",
        accuracy.error(counts),
    )


def _small_additions(n_arms: int) -> Iterator[FloatArray]:
    """One more of some of the arms."""
    for subset in range(1, 2 ** min(n_arms, 10)):
        yield np.array([float(subset >> arm & 1) for arm in range(n_arms)])


def _exchanges(designs: _WholeDesigns, counts: FloatArray) -> Iterator[FloatArray]:
    """Designs near this one: a few of one arm for some of another, some of one for as many as it takes of another."""
    for given in range(len(counts)):
        for taken in _FEW:
            if counts[given] < taken:
                break
            reduced = _moved(counts, given, -taken)
            if taken:
                yield reduced
            for arm in range(len(counts)):
                yield from _additions(designs, reduced, arm)
    for arm in range(len(counts)):
        for more in _FEW:
            grown = _moved(counts, arm, more)
            for given in range(len(counts)):
                if given != arm or more == 0:
                    yield from _released(designs, grown, given)


def _additions(designs: _WholeDesigns, counts: FloatArray, arm: int) -> Iterator[FloatArray]:
    room = designs.room(counts, arm)
    for more in sorted({*_FEW, room - 1, room}):
        if 0 < more <= room:
            yield _moved(counts, arm, more)


def _released(designs: _WholeDesigns, counts: FloatArray, given: int) -> Iterator[FloatArray]:
    """Give up of one arm as few as a budget asks for, or as many as a target allows."""
    most = int(counts[given])
    if designs.question.kind == "target":
        if designs.meets(counts):
            yield _moved(counts, given, -_last(lambda number: designs.meets(_moved(counts, given, -number)), most))
        return
    if not designs.fits(counts) and designs.fits(_moved(counts, given, -most)):
        kept = _last(lambda number: designs.fits(_moved(counts, given, number - most)), most)
        fitting = _moved(counts, given, kept - most)
        yield fitting
        for arm in range(len(counts)):
            yield from _additions(designs, fitting, arm)


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


def best_whole(accuracy: Accuracy, costs: Costs, question: Question, *, thorough: bool = True) -> FloatArray:
    """The best whole counts where costs have steps or discounts: whole lines in place of exchanges.

    Parameters
    ----------
    thorough : bool
        Whether every number of samples is tried along a line, and designs of several arms are also looked for from
        the answer of `labelworth.tradeoff.search`; else some numbers, and those between the best.

    Raises
    ------
    InfeasiblePlanError
        If nothing meets a target, with the nearest that can be met.
    NotIdentifiableError
        If nothing that fits pins the model down.
    """
    rank, counts = _best_along(accuracy, costs, question, thorough=thorough)
    if np.isfinite(rank[0]):
        return counts
    money = question.value if question.kind == "budget" else np.inf
    least = replace(question, kind="budget", value=money)
    (error, _), nearest = _best_along(accuracy, costs, least, thorough=thorough)
    if not np.isfinite(error):
        raise NotIdentifiableError("No number of labels that fits pins the model down. Label other samples, or more.")
    labels = float(nearest @ accuracy.labels_per_sample)
    raise infeasible_target(accuracy.criterion, question.value, error, labels)


def _best_along(accuracy: Accuracy, costs: Costs, question: Question, *, thorough: bool) -> tuple[Rank, FloatArray]:
    """Along the lines there are; of arms that can be mixed from several starts on."""
    pool, n_tried = int(np.floor(question.pool)), MANY if thorough else FEW

    def best(line: Line) -> tuple[Rank, FloatArray]:
        return WholeLine(line, n_tried).best(question)

    def improved(start: tuple[Rank, FloatArray]) -> tuple[Rank, FloatArray]:
        for _ in range(_MOST_TURNS):
            better = min((best(line) for line in _lines_through(accuracy, costs, pool, start[1])), key=_rank_first)
            if not better[0] < start[0]:
                break
            start = better
        return start

    lines = lines_of(accuracy, costs, pool)
    if lines:
        return min((best(line) for line in lines), key=_rank_first)
    starts = [best(line) for line in _lines_to_start(accuracy, costs, pool)]
    if not thorough:
        return improved(min(starts, key=_rank_first))
    for counts in _near_search(accuracy, costs, question, pool):
        starts.append((question.rank(costs.cost(counts), accuracy.error(counts)), counts))
    return min((improved(start) for start in starts), key=_rank_first)


def _rank_first(answer: tuple[Rank, FloatArray]) -> Rank:
    return answer[0]


def _lines_to_start(accuracy: Accuracy, costs: Costs, pool: int) -> Iterator[Line]:
    """Every arm by itself, and every labeling arm with all of the rest unlabeled."""
    units = np.eye(len(accuracy.arms))
    for unit in units:
        yield Line(accuracy, costs, 0 * unit, unit, pool)
    if "nothing" in accuracy.arms:
        rest = accuracy.arms.index("nothing")
        for arm, unit in enumerate(units):
            if arm != rest:
                yield Line(accuracy, costs, pool * units[rest], unit - units[rest], pool)


def _lines_through(accuracy: Accuracy, costs: Costs, pool: int, counts: FloatArray) -> Iterator[Line]:
    """More or less of one arm, or one arm in place of another."""
    units = np.eye(len(counts))
    for arm, unit in enumerate(units):
        without = counts - counts[arm] * unit
        yield Line(accuracy, costs, without, unit, pool - int(without.sum()))
        for other in range(arm + 1, len(counts)):
            both = int(counts[arm] + counts[other])
            if both:
                yield Line(accuracy, costs, without + counts[arm] * units[other], unit - units[other], both)


def _near_search(accuracy: Accuracy, costs: Costs, question: Question, pool: int) -> list[FloatArray]:
    """What a search over mixtures of any sizes finds, rounded down and up."""
    try:
        counts = search(accuracy, costs, replace(question, pool=float(pool))).counts
    except LabelworthError:
        return []
    return [whole for whole in (np.floor(counts + 1e-6), np.ceil(counts - 1e-6)) if whole.sum() <= pool]
