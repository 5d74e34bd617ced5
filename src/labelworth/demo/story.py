"""What a demonstration is: something that runs and tells its story, on data that is there without a download."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.progress import Progress
from labelworth.report.values import Curve, Outcome


@dataclass(frozen=True)
class Story:
    """A demonstration that has run."""

    settings: Any  # How it was set up, for the record.
    outcome: Outcome  # With exactly one picture.
    data_digest: str | None = None  # None: its data were drawn from the seed.


Scenario = Callable[[bool, int, Progress], Story]
"""Of (quick, seed, progress)."""


@dataclass(frozen=True, eq=False)
class Trials:
    """What happened, tried several times in several ways: (n_ways, n_draws) figures, or one per size behind these."""

    draws: FloatArray

    @cached_property
    def means(self) -> FloatArray:
        return np.asarray(self.draws.mean(axis=1))

    @cached_property
    def standard_errors(self) -> FloatArray:
        return standard_error(self.draws, axis=1)

    def points(self, label: str, x: FloatArray, way: int, color: int) -> Curve:
        """The means of one way over `x`, with error bars."""
        y, errors = np.atleast_1d(self.means[way]), np.atleast_1d(self.standard_errors[way])
        return Curve(label, np.atleast_1d(x), y, *band(y, errors), "points", color)


def standard_error(draws: FloatArray, axis: int = 0) -> FloatArray:
    """Of the mean over the draws."""
    return np.asarray(draws.std(axis=axis, ddof=1) / np.sqrt(draws.shape[axis]))


def band(values: FloatArray, width: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    return values - width, values + width
