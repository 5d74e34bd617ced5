"""What a demonstration is: something that runs and tells its story, on data that is there without a download."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.progress import Progress
from labelworth.report.values import Outcome


@dataclass(frozen=True)
class Story:
    """A demonstration that has run."""

    settings: Any  # How it was set up, for the record.
    outcome: Outcome  # With exactly one picture.
    data_digest: str | None = None  # None: its data were drawn from the seed.


Scenario = Callable[[bool, int, Progress], Story]
"""Of (quick, seed, progress)."""


def over_draws(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means over the draws, which are the second axis, and their standard errors."""
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])


def band(values: FloatArray, width: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    return values - width, values + width
