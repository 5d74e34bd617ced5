"""How Gaussian classes vary around their means: the interface, and variances. See `matrix_spread` for matrices.

The log-density of class k at x, with c = x - mean_k and P the inverse covariance, is
-(log det covariance + c' P c + D log 2 pi) / 2. Everything below is its derivatives.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.errors import InvalidInputError
from labelworth.models.blocks import SymmetricMatrices


@dataclass(frozen=True)
class Moments:
    """What the curvature of a Gaussian log-likelihood depends on, per class."""

    mean_weights: FloatArray  # (K,): How much c' P c counts as a function of the mean: the sum of the weights.
    determinant_weights: FloatArray  # (K,): How often log det counts; the same for data, another number for a prior.
    sums: FloatArray  # (K, D): Weighted sum of c.
    scatters: FloatArray  # (K, D, D), or (K, D) for variances: Weighted sum of c c', or of its diagonal.


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
        return self.variances

    def log_density(self, vectors: FloatArray, means: FloatArray) -> FloatArray:
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


_ASYMMETRY = 1e-9


@dataclass(frozen=True, eq=False)
class MatrixSpread:
    """Covariance matrices: (1, D, D) shared by the classes, or (K, D, D)."""

    matrices: FloatArray
    shared: bool

    def __post_init__(self) -> None:
        asymmetry = np.abs(self.matrices - self.matrices.transpose(0, 2, 1)).max(initial=0.0)
        if asymmetry > _ASYMMETRY * np.abs(self.matrices).max(initial=0.0):
            raise InvalidInputError(f"A covariance must be symmetric. Got entries that differ by {asymmetry:g}.")
        _ = self.factors

    @cached_property
    def factors(self) -> FloatArray:
        try:
            return np.asarray(np.linalg.cholesky(self.matrices))
        except np.linalg.LinAlgError as error:
            raise InvalidInputError(
                "A covariance is not positive definite: its class has too few samples, or features depend on each "
                "other. Use a stronger prior (smoothing), a shared or diagonal covariance, or fewer features."
            ) from error

    @property
    def residual_variances(self) -> FloatArray:
        """Squares on the diagonal of the factors."""
        return np.square(np.diagonal(self.factors, axis1=1, axis2=2))

    @cached_property
    def whiteners(self) -> FloatArray:
        """Inverses of the factors; products with them are many times faster than threaded triangular solves."""
        return np.asarray(np.tril(np.linalg.inv(self.factors)))

    @cached_property
    def precisions(self) -> FloatArray:
        return np.asarray(self.whiteners.transpose(0, 2, 1) @ self.whiteners)

    def log_density(self, vectors: FloatArray, means: FloatArray) -> FloatArray:
        log_density = np.empty((len(vectors), len(means)))
        middle = means.mean(axis=0)
        # A shared covariance whitens the vectors once for all classes.
        once = (vectors - middle) @ self.whiteners[0].T if self.shared else None
        for code, mean in enumerate(means):
            position = self._index_of(code)
            whitener = self.whiteners[position]
            whitened = (vectors - mean) @ whitener.T if once is None else once - whitener @ (mean - middle)
            log_root = np.log(np.diag(self.factors[position])).sum() + 0.5 * len(mean) * np.log(2 * np.pi)
            log_density[:, code] = -0.5 * np.einsum("nd,nd->n", whitened, whitened) - log_root
        return log_density

    def noise(self, codes: IntArray, standard: FloatArray) -> FloatArray:
        """Color by the Cholesky factors."""
        if self.shared:
            return np.asarray(standard @ self.factors[0].T)
        colored = np.empty_like(standard)
        for code, factor in enumerate(self.factors):
            rows = codes == code
            colored[rows] = standard[rows] @ factor.T
        return colored

    def scores(self, centered: FloatArray, code: int) -> tuple[FloatArray, FloatArray]:
        """P c, and (P c c' P - P) / 2 in the lower triangles."""
        position = self._index_of(code)
        precision = self.precisions[position]
        scaled = centered @ precision
        named = np.zeros((len(centered), *self.matrices.shape))
        named[:, position] = 0.5 * (np.einsum("na,nb->nab", scaled, scaled) - precision)
        return scaled, self._block.pull(named.reshape(len(centered), -1).T).T

    def curvature(self, moments: Moments) -> Curvature:
        r"""Minus the Hessian in means and matrices.

        In a direction A of the matrix: :math:`\operatorname{tr}(P A P A P\, \text{scatter}) - \tfrac12 W
        \operatorname{tr}(P A P A)`; with the mean: :math:`P A P s`; in the mean: :math:`W P`.
        """
        n_classes, n_features = moments.sums.shape
        size = n_features * n_features
        means = np.empty((n_classes, n_features, n_features))
        cross = np.zeros((n_classes, n_features, len(self.matrices), size))
        spread = np.zeros((len(self.matrices), size, len(self.matrices), size))
        for code in range(n_classes):
            position = self._index_of(code)
            precision = self.precisions[position]
            pulled = precision @ moments.sums[code]
            means[code] = moments.mean_weights[code] * precision
            cross[code, :, position] = np.einsum("ja,b->jab", precision, pulled).reshape(n_features, size)
            squeezed = precision @ moments.scatters[code] @ precision
            # <A, H A> for symmetric A, written symmetrically in the two slots of A.
            both = np.kron(precision, squeezed)
            both = 0.5 * (both + np.kron(squeezed, precision))
            both -= 0.5 * moments.determinant_weights[code] * np.kron(precision, precision)
            spread[position, :, position] += both
        n_named = len(self.matrices) * size
        block = self._block
        flat_cross = block.pull(cross.reshape(n_classes * n_features, n_named).T).T
        half = block.pull(spread.reshape(n_named, n_named))
        return Curvature(means, flat_cross.reshape(n_classes, n_features, -1), block.pull(half.T))

    def expected_moments(self, weights: FloatArray) -> Moments:
        """No deviation on average, scatter equal to the covariances."""
        indices = [self._index_of(code) for code in range(len(weights))]
        scatters = weights[:, None, None] * self.matrices[indices]
        return Moments(weights, weights, np.zeros(scatters.shape[:2]), scatters)

    def scatter(self, centered: FloatArray, weights: FloatArray) -> FloatArray:
        """Weighted sum of outer products, (D, D)."""
        return np.asarray((centered * weights[:, None]).T @ centered)

    def half_squared_step(self, other: FloatArray, mean_steps: FloatArray, weights: FloatArray) -> float:
        """Half of d' P d for the means and of tr(P A P A) / 2 for the matrices."""
        total = 0.0
        for code, weight in enumerate(weights):
            position = self._index_of(code)
            whitener = self.whiteners[position]
            step = whitener @ mean_steps[code]
            change = whitener @ (other[position] - self.matrices[position]) @ whitener.T
            total += weight * (float(step @ step) + 0.5 * float(np.square(change).sum()))
        return 0.5 * total

    def _index_of(self, code: int) -> int:
        return 0 if self.shared else code

    @cached_property
    def _block(self) -> SymmetricMatrices:
        return SymmetricMatrices("", [""] * len(self.matrices), [""] * self.matrices.shape[1])
