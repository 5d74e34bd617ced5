"""Accuracy from sampled matrices: the noise of the draws, and the bias that a noisy matrix has inverted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.tradeoff.accuracy import Source
from labelworth.tradeoff.matrix_accuracy import MatrixAccuracy
from labelworth.tradeoff.problem import LOGARITHMIC


def on_scale(criterion: str, error: float) -> float:
    """The error on the scale on which noise adds: its logarithm, or itself where it is one."""
    return error if criterion in LOGARITHMIC else float(np.log(error))


def from_scale(criterion: str, value: float) -> float:
    """Back from there."""
    return value if criterion in LOGARITHMIC else float(np.exp(value))


@dataclass(frozen=True, eq=False)
class ShiftedAccuracy:
    """The accuracy of matrices, moved by a constant on the scale on which noise adds: as convex as before.

    Attributes
    ----------
    inside : MatrixAccuracy
    shift : float
    """

    inside: MatrixAccuracy
    shift: float = 0.0

    @property
    def arms(self) -> tuple[str, ...]:
        """Those inside."""
        return self.inside.arms

    @property
    def labels_per_sample(self) -> FloatArray:
        """Those inside."""
        return self.inside.labels_per_sample

    @property
    def criterion(self) -> str:
        """That inside."""
        return self.inside.criterion

    @property
    def source(self) -> Source:
        """That inside."""
        return self.inside.source

    @property
    def reason(self) -> str:
        """That inside."""
        return self.inside.reason

    @property
    def is_convex(self) -> bool:
        """As inside."""
        return self.inside.is_convex

    def error(self, counts: FloatArray) -> float:
        """Moved; infinite where it was."""
        error = self.inside.error(counts)
        return error + self.shift if self._is_logarithmic else error * float(np.exp(self.shift))

    def slope(self, counts: FloatArray) -> FloatArray:
        """Of the error moved."""
        slope = self.inside.slope(counts)
        return slope if self._is_logarithmic else slope * float(np.exp(self.shift))

    def standard_error(self, counts: FloatArray) -> float | None:
        """Not from here: the noise of the draws is looked at once, where it is needed."""
        return None

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """As inside."""
        return self.inside.open_directions(counts)

    def apart(self) -> "ShiftedAccuracy":
        """The same, sharing nothing that is written to: for another thread."""
        return replace(self, inside=replace(self.inside))

    @property
    def _is_logarithmic(self) -> bool:
        return self.criterion in LOGARITHMIC


@dataclass(frozen=True, eq=False)
class Settled:
    """What is known once the draws have been looked at.

    Attributes
    ----------
    accuracy : ShiftedAccuracy
        Without the bias at the counts that were looked at.
    noise : float
        The standard error there, on the scale on which noise adds; 0 where nothing was sampled.
    """

    accuracy: ShiftedAccuracy
    noise: float = 0.0


@dataclass(frozen=True, eq=False)
class SampledAccuracy:
    r"""An accuracy, and the same from all draws but one batch, for every batch.

    With :math:`t` the error on the scale on which noise adds and :math:`t_{-b}` without batch b of B, the jackknife
    has for the bias :math:`(B - 1)(\bar t_{-b} - t)` and for the variance :math:`\frac{B - 1}{B} \sum_b (t_{-b} -
    \bar t_{-b})^2`.

    Attributes
    ----------
    accuracy : MatrixAccuracy
    replicates_of : function without arguments
        Those without one batch; none where nothing was sampled.
    """

    accuracy: MatrixAccuracy
    replicates_of: Callable[[], tuple[MatrixAccuracy, ...]]

    @cached_property
    def replicates(self) -> tuple[MatrixAccuracy, ...]:
        """Without one batch each."""
        return self.replicates_of()

    def settled(self, counts: FloatArray) -> Settled:
        """Take the bias off at these counts, and say what noise is left."""
        bias, noise = self._jackknife(counts)
        return Settled(ShiftedAccuracy(self.accuracy, -bias), noise)

    def standard_error(self, counts: FloatArray) -> float | None:
        """Of the error, its bias joined with the noise; None where nothing was sampled."""
        if not self.replicates:
            return None
        joined, error = float(np.hypot(*self._jackknife(counts))), self.accuracy.error(counts)
        return joined if self.accuracy.criterion in LOGARITHMIC else joined * error

    def _jackknife(self, counts: FloatArray) -> tuple[float, float]:
        criterion, count = self.accuracy.criterion, len(self.replicates)
        whole = self.accuracy.error(counts)
        parts = np.array([replicate.error(counts) for replicate in self.replicates])
        if not count or not np.isfinite([whole, *parts]).all():
            return 0.0, 0.0
        left_out = np.array([on_scale(criterion, part) for part in parts])
        bias = (count - 1) * (left_out.mean() - on_scale(criterion, whole))
        return float(bias), float(np.sqrt((count - 1) ** 2 / count * left_out.var(ddof=1)))
