"""How Gaussian classes vary around their means: the interface, and variances. See `matrix_spread` for matrices.

The log-density of class k at x, with c = x - mean_k and P the inverse covariance, is
-(log det covariance + c' P c + D log 2 pi) / 2. Everything below is its derivatives.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.errors import InvalidInputError


@dataclass(frozen=True)
class Moments:
    """What the curvature of a Gaussian log-likelihood depends on, per class.

    Attributes
    ----------
    mean_weights : array of shape (K,)
        How much c' P c counts as a function of the mean: the sum of the weights.
    determinant_weights : array of shape (K,)
        How often log det counts; the same for data, another number for a prior.
    sums : array of shape (K, D)
        Weighted sum of c.
    scatters : array of shape (K, D, D), or (K, D) for variances
        Weighted sum of c c', or of its diagonal.
    """

    mean_weights: FloatArray
    determinant_weights: FloatArray
    sums: FloatArray
    scatters: FloatArray


@dataclass(frozen=True)
class Curvature:
    """Minus the Hessian in means and spread: mean blocks (K, D, D), cross (K, D, f), spread (f, f)."""

    means: FloatArray
    cross: FloatArray
    spread: FloatArray


class Spread(Protocol):
    """The covariances of all classes, one way or another."""

    @property
    def residual_variances(self) -> FloatArray:
        """The variance of every feature given the ones before it, a row per covariance."""

    def log_density(self, vectors: FloatArray, means: FloatArray) -> FloatArray:
        """log p(x | y), (n, K)."""

    def noise(self, codes: IntArray, standard: FloatArray) -> FloatArray:
        """Turn standard normal rows into deviations from the means of the given classes."""

    def scores(self, centered: FloatArray, code: int) -> tuple[FloatArray, FloatArray]:
        """Gradient of log p(x | y = code) in that mean (n, D) and in all spread coordinates (n, f)."""

    def curvature(self, moments: Moments) -> Curvature:
        """Minus the Hessian of the weighted log-density."""

    def expected_moments(self, weights: FloatArray) -> Moments:
        """What `weights` (K,) samples of each class are expected to give."""

    def scatter(self, centered: FloatArray, weights: FloatArray) -> FloatArray:
        """Weighted sum of c c' (D, D), or of its diagonal (D,)."""

    def half_squared_step(self, other: FloatArray, mean_steps: FloatArray, weights: FloatArray) -> float:
        """Half the squared step from here in the complete information."""


@dataclass(frozen=True, eq=False)
class VarianceSpread:
    """Independent features: variances (K, D)."""

    variances: FloatArray

    def __post_init__(self) -> None:
        if not (self.variances > 0).all():
            raise InvalidInputError(
                f"Variances must be positive. Got {self.variances.min():g}; use a stronger prior."
            )

    @property
    def residual_variances(self) -> FloatArray:
        """The variances themselves."""
        return self.variances

    def log_density(self, vectors: FloatArray, means: FloatArray) -> FloatArray:
        """log p(x | y), (n, K)."""
        log_density = np.empty((len(vectors), len(means)))
        for code, (mean, variance) in enumerate(zip(means, self.variances, strict=True)):
            squares = np.square((vectors - mean) / np.sqrt(variance)).sum(axis=1)
            log_density[:, code] = -0.5 * (squares + np.log(2 * np.pi * variance).sum())
        return log_density

    def noise(self, codes: IntArray, standard: FloatArray) -> FloatArray:
        """Scale by the standard deviations."""
        return np.asarray(standard * np.sqrt(self.variances[codes]))

    def scores(self, centered: FloatArray, code: int) -> tuple[FloatArray, FloatArray]:
        """P c, and ((P c)^2 - 1 / variance) / 2."""
        variance = self.variances[code]
        scaled = centered / variance
        spread = np.zeros((len(centered), *self.variances.shape))
        spread[:, code] = 0.5 * (np.square(scaled) - 1 / variance)
        return scaled, spread.reshape(len(centered), -1)

    def curvature(self, moments: Moments) -> Curvature:
        """Diagonal in every pair: W / v, s / v^2, scatter / v^3 - W / (2 v^2)."""
        n_classes, n_features = self.variances.shape
        means = np.zeros((n_classes, n_features, n_features))
        cross = np.zeros((n_classes, n_features, n_classes, n_features))
        every = np.arange(n_features)
        for code, variance in enumerate(self.variances):
            means[code, every, every] = moments.mean_weights[code] / variance
            cross[code, every, code, every] = moments.sums[code] / variance**2
        spread = moments.scatters / self.variances**3 - 0.5 * moments.determinant_weights[:, None] / self.variances**2
        return Curvature(means, cross.reshape(n_classes, n_features, -1), np.diag(spread.ravel()))

    def expected_moments(self, weights: FloatArray) -> Moments:
        """No deviation on average, scatter equal to the variances."""
        return Moments(weights, weights, np.zeros(self.variances.shape), weights[:, None] * self.variances)

    def scatter(self, centered: FloatArray, weights: FloatArray) -> FloatArray:
        """Weighted sums of squares, (D,)."""
        return np.asarray(weights @ np.square(centered))

    def half_squared_step(self, other: FloatArray, mean_steps: FloatArray, weights: FloatArray) -> float:
        """Half of step^2 / v for the means and of step^2 / (2 v^2) for the variances."""
        means = (np.square(mean_steps) / self.variances).sum(axis=1)
        spreads = 0.5 * np.square((other - self.variances) / self.variances).sum(axis=1)
        return 0.5 * float(weights @ (means + spreads))
