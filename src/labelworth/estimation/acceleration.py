"""A longer step along the path EM is walking. The caller keeps it only if the objective does not fall."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray

_GROWTH = 4.0


@dataclass
class SquaredExtrapolation:
    r"""SQUAREM (Varadhan & Roland 2008, scheme S3): two EM steps, squared and stretched.

    From :math:`v_0 \to v_1 \to v_2` with :math:`r = v_1 - v_0` and :math:`u = (v_2 - v_1) - r`,

    .. math:: v = v_0 + 2 a r + a^2 u, \qquad a = \lVert r \rVert / \lVert u \rVert

    :math:`a = 1` is the second EM step itself; the slower EM walks, the larger a. The largest a allowed grows when it
    was used with success and falls back when a step was refused.
    """

    longest: float = _GROWTH  # The largest a allowed now.
    _used_longest: bool = False

    def step(self, start: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray | None:
        """Extrapolate from three iterates in unconstrained coordinates; None where it would not reach further."""
        change = first - start
        bend = second - first
        bend -= change
        bend_length = _length(bend)
        if bend_length == 0.0:
            return None
        stretch = _length(change) / bend_length
        self._used_longest = stretch >= self.longest
        stretch = min(stretch, self.longest)
        if stretch <= 1.0:
            return None
        change *= 2 * stretch
        bend *= stretch * stretch
        change += bend
        change += start
        return change

    def accepted(self) -> None:
        """The step was kept."""
        if self._used_longest:
            self.longest *= _GROWTH

    def refused(self) -> None:
        """The step would have lowered the objective."""
        self.longest = max(_GROWTH, self.longest / _GROWTH)


def _length(vector: FloatArray) -> float:
    # Not numpy.linalg.norm: threads are woken for it, which costs more than the sum where the cores are busy.
    return float(np.sqrt(np.einsum("i,i->", vector, vector)))
