"""The noise of the draws behind an accuracy, the bias that a noisy matrix has inverted, and that of a fit itself."""

from dataclasses import dataclass, replace

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import NotIdentifiableError
from labelworth.fisher.jackknife import Jackknife
from labelworth.tradeoff.accuracy import Accuracy, Source
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


@dataclass(frozen=True, eq=False)
class ReflectedAccuracy:
    r"""The error at other parameters, reflected at that of the fit.

    On the scale on which noise adds, :math:`t' = 2 \hat t - t_b`. What the pilot's chance did to the fit, other
    pilots of the same truth would do again: :math:`\hat t - t` is distributed as :math:`t_b - \hat t`, its bias and
    all, so that the truth is :math:`\hat t - (t_b - \hat t)`. Answers at :math:`t_b` itself would have the bias
    twice.
    """

    center: Accuracy  # At the fit.
    other: Accuracy  # At other parameters, of the same arms.

    @classmethod
    def of(cls, center: Accuracy, other: Accuracy) -> "ReflectedAccuracy":
        """With a slope where both have one; shares nothing that is written to with other threads."""
        if isinstance(center, AsymptoticAccuracy) and isinstance(other, AsymptoticAccuracy):
            return SlopedReflectedAccuracy(center.apart(), other)
        return cls(center, other)

    @property
    def arms(self) -> tuple[str, ...]:
        return self.center.arms

    @property
    def labels_per_sample(self) -> FloatArray:
        return self.center.labels_per_sample

    @property
    def criterion(self) -> str:
        return self.center.criterion

    @property
    def source(self) -> Source:
        return self.center.source

    def error(self, counts: FloatArray) -> float:
        """Infinite where one of the two is; that at the other parameters where one is zero: it has no logarithm."""
        errors = self.center.error(counts), self.other.error(counts)
        if not np.isfinite(errors).all():
            return np.inf
        if self.criterion not in LOGARITHMIC and min(errors) <= 0:
            return errors[1]
        at_fit, elsewhere = (on_scale(self.criterion, error) for error in errors)
        return from_scale(self.criterion, 2 * at_fit - elsewhere)

    def standard_error(self, counts: FloatArray) -> float | None:
        return None


@dataclass(frozen=True, eq=False)
class SlopedReflectedAccuracy(ReflectedAccuracy):
    """The same of two errors with a slope."""

    center: AsymptoticAccuracy
    other: AsymptoticAccuracy

    @property
    def has_kinks(self) -> bool:
        return self.center.has_kinks or self.other.has_kinks

    @property
    def is_convex(self) -> bool:
        """Nearly, but that is no theorem."""
        return False

    def slope(self, counts: FloatArray) -> FloatArray:
        """Of the error reflected.

        Raises
        ------
        NotIdentifiableError
            Where it is infinite.
        """
        error = self.error(counts)
        if not np.isfinite(error):
            raise NotIdentifiableError("These counts do not pin the model down.", self.open_directions(counts))
        if self.criterion in LOGARITHMIC:
            return 2 * self.center.slope(counts) - self.other.slope(counts)
        steepness = 2 * self.center.slope(counts) / self.center.error(counts)
        return np.asarray(error * (steepness - self.other.slope(counts) / self.other.error(counts)))

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """Those at the fit, or else those at the other parameters."""
        return self.center.open_directions(counts) or self.other.open_directions(counts)
