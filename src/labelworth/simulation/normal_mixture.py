"""Mixtures of normal distributions, one per column."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from labelworth.arrays import FloatArray

_N_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class NormalMixture:
    """Mixtures of normals, one per column, all with the same weights."""

    weights: FloatArray  # (n_parts,): They sum to one.
    means: FloatArray  # (n_parts, n_columns)
    variances: FloatArray

    @property
    def mean(self) -> FloatArray:
        return np.asarray(self.weights @ self.means)

    @property
    def variance(self) -> FloatArray:
        """Of the mixture: within and between its parts, (n_columns,)."""
        return np.asarray(self.weights @ (self.variances + (self.means - self.mean) ** 2))

    def quantiles(self, probability: float) -> FloatArray:
        """Below which the truth lies with that probability, (n_columns,); by halving."""
        spread = np.sqrt(self.variances)
        of_parts = self.means + ndtri(probability) * spread
        # The quantile of a mixture lies among those of its parts.
        low, high = of_parts.min(axis=0), of_parts.max(axis=0)
        for _ in range(_N_HALVINGS):
            middle = (low + high) / 2
            is_low = self.weights @ ndtr((middle - self.means) / spread) < probability
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        return np.asarray((low + high) / 2)

    def log_densities(self, values: FloatArray) -> FloatArray:
        """Of one value per column, (n_columns,)."""
        parts = -0.5 * ((values - self.means) ** 2 / self.variances + np.log(2 * np.pi * self.variances))
        with np.errstate(divide="ignore"):  # a part of no weight adds nothing
            parts += np.log(self.weights)[:, None]
        return np.asarray(np.logaddexp.reduce(parts, axis=0))
