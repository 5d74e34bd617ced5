"""What else is possible around a plan: the cloud, the surface, the forecast, and answers to other questions."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from labelworth.arrays import FloatArray
from labelworth.simulation.calibration import Floor
from labelworth.tradeoff.accuracy import Source
from labelworth.tradeoff.problem import UNSEEN

_N_SURFACE = 25


@dataclass(frozen=True)
class FrontierDesign:
    """One way to go on in the cloud of all of them."""

    name: str  # What it is, in a few words.
    counts: tuple[float, ...]  # Samples per arm, beyond what is held.
    labels: float  # As in `Design`.
    cost: float
    error: float
    # The index of a point that is no worse in both and better in one; None: on the frontier.
    dominated_by: int | None = None


@dataclass(frozen=True)
class Surface:
    """The error over (samples, labeled fraction)."""

    n_samples: tuple[float, ...]
    labeled_fractions: tuple[float, ...]
    # One row per labeled fraction, an entry per number of samples; None where the model is not identified, or
    # labels are fewer than was simulated.
    error: tuple[tuple[float | None, ...], ...]
    source: Source = "asymptotic"
    words: str = ""  # What to know when reading it.


def surface_grid(n_labeled: float, most: float) -> tuple[FloatArray, FloatArray]:
    """Numbers of samples up to `most`, and labeled fractions, from well below what is held; evenly in logarithms."""
    sizes = np.geomspace(max(most / 50, 10.0), most, _N_SURFACE)
    return sizes, np.geomspace(max(n_labeled / most / 4, 1e-3), 1.0, _N_SURFACE)


@dataclass(frozen=True)
class ForecastCurve:
    """The error over the number of labels in all."""

    labels: tuple[float, ...]  # Labels in all.
    error: tuple[float | None, ...]  # What is expected, and its 90 % interval; None where there is none.
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    # What the formulas alone, and a plain power law through the pilot, would say; empty: not computed.
    asymptotic: tuple[float | None, ...] = ()
    power_law: tuple[float | None, ...] = ()
    measured_labels: tuple[float, ...] = ()  # What cross-validation on the pilot measured.
    measured_error: tuple[float, ...] = ()
    # By how much one more label lowers the error there, the slope of the curve, and its 90 % interval; empty:
    # not computed, None: not known.
    gain: tuple[float | None, ...] = ()
    gain_low: tuple[float | None, ...] = ()
    gain_high: tuple[float | None, ...] = ()
    # What no number of labels takes away; None: not known, as of formulas.
    floor: Floor | None = None

    def at(self, labels: float) -> tuple[float, float, float] | None:
        """The error with so many labels and the ends of its interval, between those known; None: not known."""
        lines = (self.error, self.low, self.high)
        if not all(line and None not in line for line in lines):
            return None
        x, known = np.log(labels), np.log(self.labels)
        error, low, high = (float(np.interp(x, known, np.array(line, dtype=np.float64))) for line in lines)
        return error, low, high

    def falls(self, n_next: float) -> list[float | None]:
        """By how much so many more labels lower the error, at every size; along its slope where the curve ends."""
        x, known = np.array(self.labels), np.array(self.error, dtype=np.float64)
        slopes = np.array(self.gain, dtype=np.float64)
        falls = n_next * slopes
        if len(x) > 1 and np.isfinite(known).all():
            later = PchipInterpolator(np.log(x), known)(np.log(x + n_next))
            falls = np.where(x + n_next <= x[-1], known - later, falls)
        return [float(fall) if np.isfinite(fall) else None for fall in falls]

    def lower_from(self, labels: float, error: float) -> float | None:
        """From how many labels on, beyond `labels`, the error is less than `error` by a thousandth; None: nowhere."""
        least = error - UNSEEN * abs(error)
        pairs = zip(self.labels, self.error, strict=True)
        return next((more for more, own in pairs if more > labels and own is not None and own < least), None)


def gains_along(labels: FloatArray, errors: FloatArray) -> FloatArray:
    """By how much one more label lowers errors, (..., n_labels), that are known at these numbers of labels."""
    if len(labels) < 2:
        return np.full(errors.shape, np.nan)
    with np.errstate(invalid="ignore"):
        return np.asarray(-np.gradient(errors, np.log(labels), axis=-1) / labels)


@dataclass(frozen=True)
class GridAnswer:
    """The answer to one question along a grid of questions."""

    value: float  # The budget, target or alpha.
    counts: tuple[float, ...] | None  # Whole samples per arm, beyond what is held; None: infeasible.
    labels: float | None
    cost_in_all: float | None
    error: float | None


@dataclass(frozen=True)
class Solutions:
    """Answers along grids of budgets, targets and alphas: what a control can move through without computing."""

    budgets: tuple[GridAnswer, ...] = ()
    targets: tuple[GridAnswer, ...] = ()
    alphas: tuple[GridAnswer, ...] = ()
