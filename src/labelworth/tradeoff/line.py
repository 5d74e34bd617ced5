"""Designs along a line: the three problems where one number is open; in whole samples also for costs of any shape."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq, minimize_scalar

from labelworth.arrays import FloatArray, IntArray
from labelworth.errors import NotIdentifiableError
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.costs import ArmPrices, Costs
from labelworth.tradeoff.problem import UNMET, Question, Rank, infeasible_target

_N_GRID = 17
_FINEST = 1e-3
"""Samples: a root is not looked for more closely, since counts are made whole afterwards."""

_HALVINGS = 40
_NEARLY_ALL = 0.98
_ROUNDING = 1e-9
_VALLEY = 1e-7
_LAST_DIGIT = 1e-15
FEW, MANY = 33, 4096
"""Numbers of samples at which costs are asked for: quickly, or thoroughly."""

_MOST_ANCHORS = 33
"""Errors are computed at so many numbers and read off a smooth curve between them; computed where it matters."""

_N_COMPUTED = 12
_SLACK = 1e-3


@dataclass(frozen=True, eq=False)
class Line:
    """The designs start + x step, 0 <= x <= most."""

    accuracy: Accuracy
    costs: Costs
    start: FloatArray  # (n_arms,)
    step: FloatArray
    most: float

    def counts(self, x: float) -> FloatArray:
        """The design at x."""
        return np.asarray(self.start + x * self.step)

    def error(self, x: float) -> float:
        """Of the design at x."""
        return self.accuracy.error(self.counts(x))

    def rank(self, question: Question, x: float) -> Rank:
        """What is to be small."""
        counts = self.counts(x)
        return question.rank(self.costs.cost(counts), self.accuracy.error(counts))

    def within(self, question: Question) -> "Line":
        """As far as a budget pays; costs are taken to rise along the line."""
        if question.kind != "budget":
            return self
        if isinstance(self.costs, ArmPrices):
            rate, money = float(self.costs.per_sample @ self.step), question.value - self.costs.cost(self.start)
            return replace(self, most=min(self.most, max(money, 0.0) / rate) if rate > 0 else self.most)
        low, high = 0.0, self.most
        if self.costs.cost(self.counts(high)) <= question.value:
            return self
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.costs.cost(self.counts(middle)) <= question.value else (low, middle)
        return replace(self, most=low)

    def best(self, question: Question, lengths: FloatArray, finest: float = _FINEST) -> tuple[Rank, float]:
        """The best x and its rank, looked for at some lengths and between the best of them and those beside it.

        Parameters
        ----------
        lengths : array
            Rising, and such that a budget pays for them.
        finest : float
            How closely the root of a target is looked for.
        """
        ranks = [self.rank(question, float(x)) for x in lengths]
        index = min(range(len(ranks)), key=ranks.__getitem__)
        here = ranks[index], float(lengths[index])
        if not np.isfinite(ranks[index][0]):
            return here
        low, high = float(lengths[max(index - 1, 0)]), float(lengths[min(index + 1, len(lengths) - 1)])
        if question.kind == "target":
            x = self.first_met(question.value, low if index else 0.0, here[1], finest)
            counts = self.counts(x)
            return (self.costs.cost(counts), self.accuracy.error(counts)), x
        if question.kind == "budget":
            # More samples are better wherever the error falls; a simulated one may rise by chance.
            end, slack = ranks[-1][0], _ROUNDING * abs(ranks[index][0])
            if end <= ranks[index][0] + slack and end <= self.error(_NEARLY_ALL * float(lengths[-1])) + slack:
                return ranks[-1], float(lengths[-1])
        if high <= low:
            return here
        valley = minimize_scalar(
            lambda x: self.rank(question, float(x))[0],
            bounds=(low, high),
            method="bounded",
            options={"xatol": _VALLEY * (high - low)},
        )
        return min(here, (self.rank(question, float(valley.x)), float(valley.x)))

    def first_met(self, target: float, low: float, high: float, finest: float) -> float:
        """Where a falling error reaches a target that it meets at `high`, to within `finest`."""
        if high <= low or self.error(low) <= target:
            return low
        while not np.isfinite(self.error(low)):
            if high - low <= max(finest, _LAST_DIGIT * high):
                return high
            middle = (low + high) / 2
            low, high = (low, middle) if self.error(middle) <= target else (middle, high)
        return float(brentq(lambda x: self.error(x) - target, low, high, xtol=finest))


def lines_of(accuracy: Accuracy, costs: Costs, pool: float) -> tuple[Line, ...]:
    """The lines on which all sensible designs lie; none if these are no lines.

    Where unlabeled samples are free, label some of the pool and learn from the rest without labels. Simulated arms
    are not mixed: each goes by itself, or along the ``rays`` that were simulated.
    """
    ways = getattr(accuracy, "rays", ())
    if ways:
        none = np.zeros(len(accuracy.arms))
        return tuple(Line(accuracy, costs, none, way.step, costs.longest(way.step, pool)) for way in ways)
    units = np.eye(len(accuracy.arms))
    if accuracy.arms == ("everything", "nothing") and costs.is_free("nothing", pool):
        return (Line(accuracy, costs, pool * units[1], units[0] - units[1], pool),)
    if len(units) == 1 or accuracy.source == "simulated":
        return tuple(Line(accuracy, costs, np.zeros(len(units)), unit, pool) for unit in units)
    return ()


def best_on_lines(lines: Sequence[Line], question: Question) -> tuple[Line, float]:
    """The best of all lines, for prices per sample, and how far along it.

    Raises
    ------
    InfeasiblePlanError
        If no line meets the target; with the nearest that one does.
    NotIdentifiableError
        If nothing that fits pins the model down.
    """
    answers = [(*_best(line.within(question), question), line) for line in lines]
    rank, x, line = min(answers, key=lambda answer: answer[0])
    if np.isfinite(rank[0]):
        return line, x
    # Between two sizes a forecast may dip, or a whole number be better than what stands on the grid.
    least = [(*_least_whole(line, question), line) for line in lines]
    error, x, line = min(least, key=lambda answer: answer[0])
    if not np.isfinite(error):
        raise NotIdentifiableError("No number of labels that fits pins the model down. Label other samples, or more.")
    if question.kind != "target" or error > question.value:
        labels = float((line.counts(x) - line.start) @ line.accuracy.labels_per_sample)
        raise infeasible_target(line.accuracy.criterion, question.value, error, labels)
    return line, line.best(question, np.unique([*_grid(line, question), x]))[1]


def _best(line: Line, question: Question) -> tuple[Rank, float]:
    return line.best(question, _grid(line, question))


def _grid(line: Line, question: Question) -> FloatArray:
    """None, few, many and all; the ends where an error is known to fall."""
    if line.most <= 0:
        return np.zeros(1)
    if line.accuracy.source == "asymptotic" and question.kind != "alpha":
        return np.array([0.0, line.most])
    return np.unique(np.concatenate([[0.0], np.geomspace(min(1.0, line.most), line.most, _N_GRID), [line.most]]))


def _least_whole(line: Line, question: Question) -> tuple[float, float]:
    """The least error of whole numbers of samples near the best of a grid, and the number."""
    _, x = line.best(replace(question, kind="budget", value=np.inf), _grid(line, question))
    whole = sorted({float(np.floor(x)), min(float(np.ceil(x)), float(np.floor(line.most)))})
    return min((line.error(number), number) for number in whole)


@dataclass(frozen=True, eq=False)
class WholeLine:
    """The designs k = 0, 1, ..., most of a line."""

    line: Line  # Of whole starts and steps.
    n_tried: int = MANY  # Costs are asked for at every k, or at so many and then between the best ones.

    def best(self, question: Question) -> tuple[Rank, FloatArray]:
        """The best design on the line and its rank; `UNMET` where none meets what is asked."""
        index = self._best_index(question)
        rank, k = self._rank(question, index), int(self._numbers[index])
        low = int(self._numbers[max(index - 1, 0)])
        high = int(self._numbers[min(index + 1, len(self._numbers) - 1)])
        if high - low > 2:
            between = replace(self.line, start=self.line.counts(low), most=high - low)
            inner, counts = WholeLine(between, max(self.n_tried, 3)).best(question)
            if inner < rank:
                return inner, counts
        return rank, self.line.counts(k)

    def _best_index(self, question: Question) -> int:
        """By the curve between the anchors, then by errors computed there and next to it."""
        # A curve between anchors may lie a little above the error itself.
        slack = _SLACK * abs(question.value) if question.kind == "target" else 0.0
        loosened = replace(question, value=question.value + slack)
        guesses = [loosened.rank(cost, error) for cost, error in zip(self._costs, self._errors_between, strict=True)]
        order = sorted(range(len(guesses)), key=guesses.__getitem__)
        best = min(order[: min(_N_COMPUTED, self.n_tried // 4)], key=lambda index: self._rank(question, index))
        if question.kind == "target" and self._rank(question, best) == UNMET:
            met = [index for index in order if self._errors_between[index] <= question.value]
            best = next((index for index in met if self._rank(question, index) != UNMET), best)
        return climbed(lambda index: self._rank(question, index), best, len(self._numbers) - 1)

    def _rank(self, question: Question, index: int) -> Rank:
        return question.rank(float(self._costs[index]), self._error(index))

    def _error(self, index: int) -> float:
        if index not in self._computed:
            self._computed[index] = self.line.error(int(self._numbers[index]))
        return self._computed[index]

    @cached_property
    def _numbers(self) -> IntArray:
        """The k that are looked at: all, or some evenly spread and some ever further apart."""
        most = int(self.line.most)
        if most < self.n_tried:
            return np.arange(most + 1)
        half = self.n_tried // 2 + 1
        spread = np.concatenate([[0], np.linspace(0, most, half), np.geomspace(1, most, half)])
        return np.unique(np.rint(spread).astype(np.int64))

    @cached_property
    def _costs(self) -> FloatArray:
        return np.array([self.line.costs.cost(self.line.counts(int(k))) for k in self._numbers])

    @cached_property
    def _errors_between(self) -> FloatArray:
        """Errors everywhere, computed at the anchors; infinite where an anchor nearby is."""
        last, n_anchors = len(self._numbers) - 1, min(_MOST_ANCHORS, self.n_tried // 3)
        spread = np.concatenate([np.linspace(0, last, n_anchors // 2), np.geomspace(1, last + 1, n_anchors) - 1])
        anchors = np.unique(np.rint(spread).astype(np.int64))
        errors = np.array([self._error(int(index)) for index in anchors])
        sizes = np.log1p(self._numbers.astype(np.float64))
        known = np.isfinite(errors)
        if known.sum() < 2:
            return np.where(np.isin(np.arange(last + 1), anchors[known]), errors[known].min(initial=np.inf), np.inf)
        ends = self._numbers[anchors[known][[0, -1]]]
        curve = PchipInterpolator(sizes[anchors[known]], errors[known])
        return np.where((self._numbers >= ends[0]) & (self._numbers <= ends[1]), curve(sizes), np.inf)

    @cached_property
    def _computed(self) -> dict[int, float]:
        return {}


def climbed(rank: Callable[[int], Rank], number: int, most: int) -> int:
    """From a whole number to its neighbors, up to `most`, while these rank better."""
    while True:
        neighbors = [near for near in (number - 1, number, number + 1) if 0 <= near <= most]
        better = min(neighbors, key=rank)
        if rank(better) >= rank(number):
            return number
        number = better


def whole_near(line: Line, question: Question, x: float) -> FloatArray:
    """The best whole design near a good one, for prices per sample."""
    # Rounding may leave the last label a hair above the target.
    slack = _ROUNDING * abs(question.value) if question.kind != "alpha" else 0.0
    allowed = replace(question, value=question.value + slack)
    most = int(np.floor(line.most * (1 + _ROUNDING)))
    start = min(int(np.floor(x + _ROUNDING * max(x, 1.0))), most)
    if question.kind == "target":
        start = next(
            (k for k in (start, start + 1, start + 2) if k <= most and line.error(k) <= allowed.value), start
        )
    counts = line.counts(climbed(lambda k: line.rank(allowed, k), start, most))
    if np.allclose(counts, np.rint(counts), atol=1e-9):
        return counts
    # Along a mix of arms whole samples are near the line: no more than a budget pays, no fewer than a target needs.
    whole = np.ceil(counts - _ROUNDING) if question.kind == "target" else np.floor(counts + _ROUNDING)
    return whole if line.costs.fit(whole, question.pool) else np.floor(counts + _ROUNDING)
