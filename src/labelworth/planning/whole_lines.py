"""Designs on a line, in whole samples: for costs of any shape, with steps and discounts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import PchipInterpolator

from labelworth.arrays import FloatArray, IntArray
from labelworth.planning.answer import Problem
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.costs import Costs

Rank = tuple[float, float]
"""What is to be small: first the one, and where that is equal the other."""

UNMET: Rank = (np.inf, np.inf)
_MOST_ANCHORS = 33
"""Errors are computed at so many places and read off a smooth curve between them, to be computed where it matters."""
_N_COMPUTED = 12
_SLACK = 1e-3
_FITS = 1e-12


@dataclass(frozen=True)
class Ranking:
    """What is asked, as an order of designs.

    Attributes
    ----------
    problem : "budget", "target" or "alpha"
    value : float
        Of a budget, what is still to be spent.
    """

    problem: Problem
    value: float

    def of(self, cost: float, error: float) -> Rank:
        """The rank of a design; `UNMET` where it is none."""
        if self.problem == "alpha":
            return cost + self.value * error, error
        if self.problem == "budget":
            return (error, cost) if cost <= self.value + _FITS * max(abs(self.value), 1.0) else UNMET
        return (cost, error) if error <= self.value else UNMET


@dataclass(frozen=True, eq=False)
class WholeLine:
    """The designs start + k x step, k = 0, 1, ..., most.

    Attributes
    ----------
    accuracy : Accuracy
    costs : Costs
    start, step : arrays of shape (n_arms,)
        Whole numbers.
    most : int
    n_tried : int
        Costs are asked for at every k, or at so many and then between the best ones.
    """

    accuracy: Accuracy
    costs: Costs
    start: FloatArray
    step: FloatArray
    most: int
    n_tried: int = 4096

    def counts(self, k: int) -> FloatArray:
        """The design at k."""
        return self.start + k * self.step

    def best(self, ranking: Ranking) -> tuple[Rank, FloatArray]:
        """The best design on the line and its rank; `UNMET` where none meets what is asked."""
        place = self._best_place(ranking)
        rank, k = self._rank(ranking, place), int(self.places[place])
        low = int(self.places[max(place - 1, 0)])
        high = int(self.places[min(place + 1, len(self.places) - 1)])
        if high - low > 2:
            between = WholeLine(
                self.accuracy, self.costs, self.counts(low), self.step, high - low, max(self.n_tried, 3)
            )
            inner, counts = between.best(ranking)
            if inner < rank:
                return inner, counts
        return rank, self.counts(k)

    def _best_place(self, ranking: Ranking) -> int:
        """By the curve between the anchors, then by errors computed there and next to it."""
        hoped = ranking if ranking.problem != "target" else Ranking("target", _loosened(ranking.value))
        guesses = [hoped.of(cost, error) for cost, error in zip(self.costs_there, self._errors_between, strict=True)]
        order = sorted(range(len(guesses)), key=guesses.__getitem__)
        best = min(order[: min(_N_COMPUTED, self.n_tried // 4)], key=lambda place: self._rank(ranking, place))
        if ranking.problem == "target" and self._rank(ranking, best) == UNMET:
            met = [place for place in order if self._errors_between[place] <= ranking.value]
            best = next((place for place in met if self._rank(ranking, place) != UNMET), best)
        return self._climbed(ranking, best)

    def _climbed(self, ranking: Ranking, place: int) -> int:
        """To a neighbor while that is better."""
        while True:
            near = [one for one in (place - 1, place, place + 1) if 0 <= one < len(self.places)]
            better = min(near, key=lambda one: self._rank(ranking, one))
            if self._rank(ranking, better) >= self._rank(ranking, place):
                return place
            place = better

    def _rank(self, ranking: Ranking, place: int) -> Rank:
        return ranking.of(float(self.costs_there[place]), self._error(place))

    def _error(self, place: int) -> float:
        if place not in self._computed:
            self._computed[place] = self.accuracy.error(self.counts(int(self.places[place])))
        return self._computed[place]

    @cached_property
    def places(self) -> IntArray:
        """The k that are looked at: all, or some evenly spread and some ever further apart."""
        if self.most < self.n_tried:
            return np.arange(self.most + 1)
        half = self.n_tried // 2 + 1
        spread = np.concatenate([[0], np.linspace(0, self.most, half), np.geomspace(1, self.most, half)])
        return np.unique(np.rint(spread).astype(np.int64))

    @cached_property
    def costs_there(self) -> FloatArray:
        """What they cost."""
        return np.array([self.costs.cost(self.counts(int(k))) for k in self.places])

    @cached_property
    def _errors_between(self) -> FloatArray:
        """Errors everywhere, computed at the anchors; infinite where an anchor nearby is."""
        last, n_anchors = len(self.places) - 1, min(_MOST_ANCHORS, self.n_tried // 3)
        spread = np.concatenate([np.linspace(0, last, n_anchors // 2), np.geomspace(1, last + 1, n_anchors) - 1])
        anchors = np.unique(np.rint(spread).astype(np.int64))
        errors = np.array([self._error(int(place)) for place in anchors])
        sizes = np.log1p(self.places.astype(np.float64))
        known = np.isfinite(errors)
        if known.sum() < 2:
            return np.where(np.isin(np.arange(last + 1), anchors[known]), errors[known].min(initial=np.inf), np.inf)
        inside = (self.places >= self.places[anchors[known][0]]) & (self.places <= self.places[anchors[known][-1]])
        curve = PchipInterpolator(sizes[anchors[known]], errors[known])
        return np.where(inside, curve(sizes), np.inf)

    @cached_property
    def _computed(self) -> dict[int, float]:
        return {}


def _loosened(target: float) -> float:
    """A curve between anchors may lie a little above the error itself."""
    return target + _SLACK * abs(target)
