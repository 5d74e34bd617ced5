"""Labels that do not follow from the features: how many there may be, before the pilot's points are looked at."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import beta

from labelworth.arrays import FloatArray, IntArray

USUAL_PARTS = (-1.17, 2.16, -0.37, 2.37)
"""Of what the best learner misses with a pilot, the part that the best still misses with all labels there are is Beta
distributed over the data sets of LCDB 1.1 (`labelworth reproduce learning-curves`). Log-odds of its mean: where next
to nothing is missed; per share of chance that is missed; per logarithm of how many classes as large as the largest
there would be. Last, the two parameters of the distribution together."""
N_PARTS = 10
"""Into so many equal parts is divided what the best source misses."""


@dataclass(frozen=True, eq=False)
class OpenLabels:
    """Shares of the labels that may not follow from the features, (n_shares,), and how probable each of them is."""

    shares: FloatArray
    probabilities: FloatArray


def open_labels(class_counts: IntArray, n_labeled: int, missed: float) -> OpenLabels:
    """What the pilot's classes and the source that misses least of it leave open.

    No source finds what does not follow from the features: at least that it misses. Nor does it find a class that no
    other label of the pilot has, whatever that follows from.

    Parameters
    ----------
    class_counts : integer array of shape (K,)
        Of the pilot's labels.
    n_labeled : int
        Labeled units of the pilot.
    missed : float
        Share of its labels that the best source misses.
    """
    shares = class_shares(class_counts)
    alone = (class_counts == 1).sum() / class_counts.sum()
    n_missed = n_labeled * max(missed - alone, 0.0)
    of_chance = min((n_missed + 0.5) / (n_labeled + 1) / (1 - shares.max()), 1.0)
    start, per_missed, per_class, both = USUAL_PARTS
    mean = expit(start + per_missed * of_chance - per_class * np.log(shares.max()))
    ends = np.linspace(0.0, 1.0, N_PARTS + 1)
    probabilities = np.diff(beta.cdf(ends, mean * both, (1 - mean) * both))
    return OpenLabels(of_chance * (ends[1:] + ends[:-1]) / 2, probabilities)


def class_shares(class_counts: IntArray) -> FloatArray:
    """Shares of the classes, half a label of each added."""
    counts = class_counts + 0.5
    return np.asarray(counts / counts.sum())
