"""The least error of the designs that fit, with the gap that always holds and shadow prices."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import NotIdentifiableError
from labelworth.tradeoff.accuracy import ConvexAccuracy
from labelworth.tradeoff.bundle import Bundle, level_search
from labelworth.tradeoff.certificate import Minorant, most_gain
from labelworth.tradeoff.newton import Objective, newton
from labelworth.tradeoff.polytope import Polytope
from labelworth.tradeoff.problem import size_of_errors

_AIM = 1e-10
_AIM_AT_KINKS = 4e-10
_LITTLE = 0.01


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best design of a polytope.

    Attributes
    ----------
    counts : array of shape (n_arms,)
    value : float
        What was minimized, there.
    minorant : Minorant
        A plane below it, which shows the gap.
    gap : float
        No other design of the polytope is better by more.
    of_money, of_samples : float
        What one more unit of either takes off.
    """

    counts: FloatArray
    value: float
    minorant: Minorant
    gap: float
    of_money: float
    of_samples: float


class ErrorMinimizer:
    """Minimizes a convex error, or a convex function made of it, over one polytope after another.

    Planes below the error that one polytope taught are used in the next.

    Parameters
    ----------
    accuracy : ConvexAccuracy
    """

    def __init__(self, accuracy: ConvexAccuracy) -> None:
        self.accuracy = accuracy
        self.error = Objective(accuracy.error, accuracy.slope)
        self._has_kinks = accuracy.criterion == "worst_direction"
        self._bundle = Bundle(self.error)

    @property
    def aim(self) -> float:
        """The gap at which a walk ends, as a share of the error."""
        return _AIM_AT_KINKS if self._has_kinks else _AIM

    @property
    def closeness(self) -> float:
        """How far below a target an error may end: what the optimum of a budget is good for."""
        return 2 * _AIM_AT_KINKS if self._has_kinks else _AIM / 10

    def within(self, polytope: Polytope, near: FloatArray | None = None) -> Optimum:
        """The least error of all designs in a polytope, from a design near it if one is known.

        Raises
        ------
        NotIdentifiableError
            If none pins the model down.
        """
        if near is not None:
            # A little of every arm, so that none is far from where it is wanted.
            near = (1 - _LITTLE) * polytope.shrunk(near) + _LITTLE * np.diag(polytope.most).mean(axis=0)
        return self._minimized(self.error, self._bundle, polytope, near)

    def without_money(self, prices: FloatArray, pool: float) -> Optimum | None:
        """The least error of what is free; None if that does not pin the model down."""
        try:
            return self.within(Polytope(prices, 0.0, pool))
        except NotIdentifiableError:
            return None

    def minimized(self, objective: Objective, polytope: Polytope, near: FloatArray) -> Optimum:
        """The least value of a function that is the error's `weight`-fold but for a linear part."""
        return self._minimized(objective, Bundle(objective), polytope, near)

    def _minimized(
        self, objective: Objective, bundle: Bundle, polytope: Polytope, near: FloatArray | None
    ) -> Optimum:
        def enough(value: float, aim: float = _AIM) -> float:
            return aim * objective.weight * size_of_errors(self.accuracy.criterion, value / objective.weight)

        def gap_of_plane(value: float, minorant: Minorant) -> float:
            gain = most_gain(minorant.worth, polytope.prices, polytope.money, polytope.samples)
            return value - minorant.intercept + gain.value

        def gap(counts: FloatArray, value: float, slope: FloatArray) -> float:
            return gap_of_plane(value, Minorant.tangent(counts, value, slope))

        counts = newton(objective, polytope, self._start(objective, polytope, near), gap, enough)
        value = objective.value(counts)
        minorant = Minorant.tangent(counts, value, objective.slope(counts))
        if self._has_kinks and gap_of_plane(value, minorant) > enough(value):
            found = level_search(bundle, polytope, counts, gap_of_plane, lambda value: enough(value, _AIM_AT_KINKS))
            counts, value, minorant = found.counts, found.value, found.minorant
        gain = most_gain(minorant.worth, polytope.prices, polytope.money, polytope.samples)
        gap_left = max(gap_of_plane(value, minorant), 0.0)
        return Optimum(counts, value, minorant, gap_left, gain.of_money, gain.of_samples)

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
