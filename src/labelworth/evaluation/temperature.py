"""Honest log-odds: by what they are divided so that a log-loss is least."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

COLDEST, HOTTEST = 0.05, 1000.0


def best_temperature(loss: Callable[[float], float], *, precision: float = 1e-5) -> float:
    """The temperature of least loss, between 0.05 and 1000; `precision` is that of its logarithm."""
    best = minimize_scalar(
        lambda logarithm: loss(float(np.exp(logarithm))),
        bounds=(np.log(COLDEST), np.log(HOTTEST)),
        method="bounded",
        options={"xatol": precision},
    )
    return float(np.exp(best.x))
