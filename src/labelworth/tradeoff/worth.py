"""What the next label is worth, in unlabeled examples."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.tradeoff.accuracy import Accuracy, ConvexAccuracy

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Worth:
    """What one more sample takes off the error, and what that is in unlabeled samples.

    Attributes
    ----------
    by_arm : mapping of str to float
        How much one more sample of every arm lowers the error.
    labeled_example : float or None
        How many more unlabeled samples do as much good as one more labeled whole; infinite where unlabeled ones do
        none. None if "everything" or "nothing" is not among the arms.
    label : float or None
        The same for the labels of a sample already in the pool: one less.
    """

    by_arm: Mapping[str, float]
    labeled_example: float | None
    label: float | None


def worth_of_next(accuracy: Accuracy, counts: FloatArray) -> Worth:
    r"""What the next sample of every arm is worth at a design.

    For a trace :math:`d_j = \operatorname{tr}(G M^{-1} I_j M^{-1})`, so a labeled example is worth
    :math:`d_{everything} / d_{nothing}` unlabeled ones, and a label on an example already in the pool, which gives up
    an unlabeled one, that minus one. An error without a slope is asked at one more sample of each arm.

    Raises
    ------
    InvalidInputError
        If the design does not pin the model down, so that everything is worth infinitely much.
    """
    counts = np.asarray(counts, dtype=np.float64)
    error = accuracy.error(counts)
    if not np.isfinite(error):
        raise InvalidInputError("At these counts the model is not pinned down: label some samples first.")
    if isinstance(accuracy, ConvexAccuracy) and (accuracy.is_convex or accuracy.criterion != "worst_direction"):
        worths = -accuracy.slope(counts)
    else:
        worths = np.array([error - accuracy.error(counts + unit) for unit in np.eye(len(counts))])
    by_arm = dict(zip(accuracy.arms, worths.tolist(), strict=True))
    if "everything" not in by_arm or "nothing" not in by_arm:
        return Worth(by_arm, None, None)
    labeled, unlabeled = by_arm["everything"], by_arm["nothing"]
    # A worth of rounding size is none.
    rate = labeled / unlabeled if abs(unlabeled) > _ROUNDING * abs(labeled) else float("inf")
    return Worth(by_arm, rate, rate - 1)
