"""The noise of the draws behind an accuracy, and the bias that a noisy matrix has inverted."""

from dataclasses import dataclass, replace

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.jackknife import Jackknife
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.problem import LOGARITHMIC


def on_scale(criterion: str, error: float) -> float:
    """The error on the scale on which noise adds: its logarithm, or itself where it is one."""
    return error if criterion in LOGARITHMIC else float(np.log(error))


def from_scale(criterion: str, value: float) -> float:
    """Back from there."""
    return value if criterion in LOGARITHMIC else float(np.exp(value))


@dataclass(frozen=True, eq=False)
class Settled:
    """What is known once the draws have been looked at."""

    accuracy: AsymptoticAccuracy  # Without the bias at the counts that were looked at.
    noise: float = 0.0  # The standard error there, on the scale on which noise adds; 0 where nothing was sampled.


def settle(accuracy: AsymptoticAccuracy, counts: FloatArray) -> Settled:
    """Take the bias off at these counts, and say what noise is left, by the jackknife."""
    whole, left_out = accuracy.error(counts), accuracy.left_out(counts)
    if not left_out.size or not np.isfinite([whole, *left_out]).all():
        return Settled(accuracy)
    on_its_scale = np.array([on_scale(accuracy.criterion, part) for part in left_out])
    noise = Jackknife.of(on_scale(accuracy.criterion, whole), on_its_scale)
    return Settled(replace(accuracy, shift=float(noise.correction)), float(np.sqrt(noise.variance)))


def joined_error(accuracy: AsymptoticAccuracy, counts: FloatArray) -> float | None:
    """The standard error of an error, its bias joined with the noise; None where nothing was sampled."""
    if not accuracy.information.n_replicates:
        return None
    settled = settle(accuracy, counts)
    joined = float(np.hypot(settled.accuracy.shift, settled.noise))
    return joined if accuracy.criterion in LOGARITHMIC else joined * accuracy.error(counts)
