"""The designs that fit: counts that are not negative, within the money and within the pool."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Polytope:
    """All w >= 0 with prices . w <= money and sum w <= samples; at least one of the limits bounds every arm.

    Attributes
    ----------
    prices : array of shape (n_arms,)
    money, samples : float
    """

    prices: FloatArray
    money: float
    samples: float

    @cached_property
    def most(self) -> FloatArray:
        """How many samples of each arm fit if nothing else is used, (n_arms,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            bought = np.where(self.prices > 0, self.money / self.prices, np.inf)
        return np.minimum(bought, self.samples)

    @cached_property
    def rows(self) -> tuple[FloatArray, FloatArray]:
        """The polytope as A u <= b, in units of `most`: first -u <= 0, then what is limited."""
        rows, limits = [-np.eye(len(self.prices))], [np.zeros(len(self.prices))]
        if np.isfinite(self.money) and self.money > 0:
            rows.append((self.prices * self.most / self.money)[None])
            limits.append(np.ones(1))
        if np.isfinite(self.samples) and self.samples > 0:
            rows.append((self.most / self.samples)[None])
            limits.append(np.ones(1))
        return np.concatenate(rows), np.concatenate(limits)

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """The counts, scaled down until they fit: rounding must not spend money that is not there."""
        positive = np.maximum(counts, 0.0)
        spent, used = float(self.prices @ positive), float(positive.sum())
        factor = min(1.0, self.money / spent if spent > 0 else 1.0, self.samples / used if used > 0 else 1.0)
        return positive * factor
