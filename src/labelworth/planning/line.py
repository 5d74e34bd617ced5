"""The three problems where only the number of labels is open: a line, searched by grid and halving."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError, NotIdentifiableError
from labelworth.planning.answer import Problem
from labelworth.planning.targets import infeasible_target
from labelworth.tradeoff.accuracy import Accuracy, Source

_N_GRID = 17
_FINEST = 1e-3
"""Labels; counts are made whole afterwards."""


@dataclass(frozen=True, eq=False)
class _Within(ABC):
    """A part of an accuracy, as an accuracy: counts of the part become counts of all arms inside."""

    inside: Accuracy

    @abstractmethod
    def counts_inside(self, counts: FloatArray) -> FloatArray:
        """Counts of all arms inside."""

    @property
    def criterion(self) -> str:
        """That of the accuracy inside."""
        return self.inside.criterion

    @property
    def source(self) -> Source:
        """That of the accuracy inside."""
        return self.inside.source

    @property
    def reason(self) -> str:
        """That of the accuracy inside."""
        return self.inside.reason

    def error(self, counts: FloatArray) -> float:
        """That of the counts inside."""
        return self.inside.error(self.counts_inside(counts))

    def standard_error(self, counts: FloatArray) -> float | None:
        """Of that figure."""
        return self.inside.standard_error(self.counts_inside(counts))


@dataclass(frozen=True, eq=False)
class LabelLine(_Within):
    """Label some of the pool, and learn from the rest without labels: the one arm is "everything".

    Attributes
    ----------
    inside : Accuracy
        Of labeled and unlabeled samples, in that order; or of labeled ones alone.
    pool : float
        Samples to label or to take as they are.
    """

    pool: float

    @property
    def arms(self) -> tuple[str, ...]:
        """A labeled sample."""
        return self.inside.arms[:1]

    @property
    def labels_per_sample(self) -> FloatArray:
        """That of the accuracy inside."""
        return self.inside.labels_per_sample[:1]

    def counts_inside(self, counts: FloatArray) -> FloatArray:
        """With the rest of the pool unlabeled."""
        labeled = float(counts[0])
        return np.array([labeled, max(self.pool - labeled, 0.0)])[: len(self.inside.arms)]


@dataclass(frozen=True, eq=False)
class OneArm(_Within):
    """One arm of several, by itself.

    Attributes
    ----------
    inside : Accuracy
    place : int
        Of the arm.
    """

    place: int

    @property
    def arms(self) -> tuple[str, ...]:
        """The one arm."""
        return (self.inside.arms[self.place],)

    @property
    def labels_per_sample(self) -> FloatArray:
        """Of the one arm."""
        return self.inside.labels_per_sample[[self.place]]

    def counts_inside(self, counts: FloatArray) -> FloatArray:
        """So many samples of this arm and none of the others."""
        every = np.zeros(len(self.inside.arms))
        every[self.place] = float(counts[0])
        return every


def best_arm(
    accuracy: Accuracy, per_sample: FloatArray, pool: float, problem: Problem, value: float
) -> tuple[OneArm, float]:
    """The best of all arms, each by itself, and how many samples of it; for forecasts of pure rules.

    Raises
    ------
    InfeasiblePlanError
        If no arm meets the target; with the nearest that one does.
    """
    found: list[tuple[float, OneArm, float]] = []
    refusals: list[InfeasiblePlanError] = []
    for place, price in enumerate(per_sample.tolist()):
        arm = OneArm(accuracy, place)
        try:
            count = solve_line(LabelLine(arm, pool), price, problem, value)
        except InfeasiblePlanError as error:
            refusals.append(error)
            continue
        error_there = arm.error(np.array([count]))
        rank = {"budget": error_there, "target": price * count, "alpha": price * count + value * error_there}
        found.append((rank[problem], arm, count))
    if not found:
        raise min(refusals, key=lambda refusal: refusal.nearest or np.inf)
    _, arm, count = min(found, key=lambda one: one[0])
    return arm, count


def on_line(accuracy: Accuracy, per_sample: FloatArray) -> bool:
    """Whether only the number of labels is open: there is one arm, or unlabeled samples are free."""
    return len(accuracy.arms) == 1 or (accuracy.arms == ("everything", "nothing") and per_sample[1] == 0)


def solve_line(line: LabelLine, price: float, problem: Problem, value: float) -> float:
    """How many samples to label.

    Parameters
    ----------
    line : LabelLine
    price : float
        Of one labeled sample.
    problem, value
        A budget for what is still to be bought, a target, or alpha.

    Raises
    ------
    InfeasiblePlanError
        If no number of labels meets the target.
    NotIdentifiableError
        If none pins the model down.
    """
    most = line.pool if problem != "budget" or price == 0 else min(line.pool, value / price)
    counts = _grid(most) if line.source == "simulated" or problem == "alpha" else np.unique([0.0, most])
    errors = np.array([line.error(np.array([count])) for count in counts])
    if not np.isfinite(errors).any():
        raise NotIdentifiableError("No number of labels that fits pins the model down. Label other samples, or more.")
    if problem == "target":
        return _first_met(line, counts, errors, value)
    if problem == "budget":
        # More labels are better wherever the error falls; a simulated one may rise by chance.
        return float(counts[-1]) if errors[-1] <= errors.min() * (1 + 1e-9) else _lowest(counts, errors, line.error)
    return _lowest(
        counts, price * counts + value * errors, lambda one: price * float(one[0]) + value * line.error(one)
    )


def _grid(most: float) -> FloatArray:
    """None, few, many and all."""
    if most <= 0:
        return np.zeros(1)
    counts: FloatArray = np.unique(np.concatenate([[0.0], np.geomspace(min(1.0, most), most, _N_GRID), [most]]))
    return counts


def _first_met(line: LabelLine, counts: FloatArray, errors: FloatArray, target: float) -> float:
    if not (errors <= target).any():
        # Between two of them a forecast may dip, or a whole number be better than what stands on the grid.
        lowest = _lowest_whole(line, counts, errors)
        error = line.error(np.array([lowest]))
        if error > target:
            raise infeasible_target(line.criterion, target, error, lowest)
        place = int(np.searchsorted(counts, lowest))
        counts, errors = np.insert(counts, place, lowest), np.insert(errors, place, error)
    place = int(np.flatnonzero(errors <= target)[0])
    if place == 0:
        return float(counts[0])
    low, high = float(counts[place - 1]), float(counts[place])
    if np.isfinite(errors[place - 1]):
        return float(brentq(lambda count: line.error(np.array([count])) - target, low, high, xtol=_FINEST))
    while high - low > _FINEST:
        middle = (low + high) / 2
        low, high = (low, middle) if line.error(np.array([middle])) <= target else (middle, high)
    return high


def _lowest_whole(line: LabelLine, counts: FloatArray, errors: FloatArray) -> float:
    """The whole number of labels with the least error, near the best of a grid."""
    near = _lowest(counts, errors, line.error)
    whole = {float(np.floor(near)), min(float(np.ceil(near)), float(np.floor(counts[-1])))}
    return min(sorted(whole), key=lambda count: line.error(np.array([count])))


def _lowest(counts: FloatArray, values: FloatArray, function: Callable[[Any], float]) -> float:
    place = int(np.nanargmin(np.where(np.isfinite(values), values, np.inf)))
    low, high = counts[max(place - 1, 0)], counts[min(place + 1, len(counts) - 1)]
    if high <= low:
        return float(counts[place])
    found = minimize_scalar(lambda count: function(np.array([count])), bounds=(low, high), method="bounded")
    return float(found.x) if found.fun < values[place] else float(counts[place])
