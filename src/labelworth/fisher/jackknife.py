r"""Batches of sampled information, each left out in turn: what that says of bias and noise.

With :math:`t` a figure of the mean of B batches and :math:`t_{-b}` that of all but batch b, the leading bias of t is
:math:`(B-1)(\bar t_{-b} - t)`, and its variance :math:`(B-1)^2/B` times that of the :math:`t_{-b}`.
"""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray, require_shape
from labelworth.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class Jackknife:
    """What leaving out batches says of a figure, or of many."""

    correction: FloatArray  # To be added to the figure: minus its leading bias.
    variance: FloatArray  # Of the figure.

    @classmethod
    def of(cls, figure: FloatArray | float, left_out: FloatArray) -> "Jackknife":
        """From a figure and the same without each batch, stacked along the first axis."""
        count = len(left_out)
        correction = (count - 1) * (figure - left_out.mean(axis=0))
        return cls(np.asarray(correction), np.asarray((count - 1) ** 2 / count * left_out.var(axis=0, ddof=1)))


def leave_one_out(batches: FloatArray) -> FloatArray:
    """The means of all batches but one, stacked as the batches are."""
    return np.asarray((batches.sum(axis=0) - batches) / (len(batches) - 1))


def require_batches(name: str, batches: FloatArray | None, shape: tuple[int, ...]) -> None:
    """Refuse batches of another shape, or a single one: none, for exact information, is well."""
    if batches is None:
        return
    require_shape(name, batches, (len(batches), *shape))
    if len(batches) < 2:
        raise InvalidInputError("Standard errors need at least two batches. Got one.")
