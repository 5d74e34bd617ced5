"""Designs on a line in whole samples: for costs of any shape, with steps and discounts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import PchipInterpolator

from labelworth.arrays import FloatArray, IntArray
from labelworth.tradeoff.line import Line
from labelworth.tradeoff.problem import UNMET, Question, Rank

FEW, MANY = 33, 4096
"""Numbers of samples at which costs are asked for: quickly, or thoroughly."""

_MOST_ANCHORS = 33
"""Errors are computed at so many numbers and read off a smooth curve between them; computed where it matters."""

_N_COMPUTED = 12
_SLACK = 1e-3
_ROUNDING = 1e-9


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
    return line.counts(climbed(lambda k: line.rank(allowed, k), start, most))
