"""Gaussian classes with covariance matrices, one for all or one each."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.errors import InvalidInputError
from labelworth.models.matrix_block import SymmetricMatrices
from labelworth.models.spread import Curvature, Moments

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
        """Lower Cholesky factors."""
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
        """Inverse covariances."""
        return np.asarray(self.whiteners.transpose(0, 2, 1) @ self.whiteners)

    def log_density(self, vectors: FloatArray, means: FloatArray) -> FloatArray:
        """log p(x | y), (n, K)."""
        log_density = np.empty((len(vectors), len(means)))
        middle = means.mean(axis=0)
        # A shared covariance whitens the vectors once for all classes.
        once = (vectors - middle) @ self.whiteners[0].T if self.shared else None
        for code, mean in enumerate(means):
            place = self._place(code)
            whitener = self.whiteners[place]
            whitened = (vectors - mean) @ whitener.T if once is None else once - whitener @ (mean - middle)
            log_root = np.log(np.diag(self.factors[place])).sum() + 0.5 * len(mean) * np.log(2 * np.pi)
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
        place = self._place(code)
        precision = self.precisions[place]
        scaled = centered @ precision
        named = np.zeros((len(centered), *self.matrices.shape))
        named[:, place] = 0.5 * (np.einsum("na,nb->nab", scaled, scaled) - precision)
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
            place = self._place(code)
            precision = self.precisions[place]
            pulled = precision @ moments.sums[code]
            means[code] = moments.mean_weights[code] * precision
            cross[code, :, place] = np.einsum("ja,b->jab", precision, pulled).reshape(n_features, size)
            squeezed = precision @ moments.scatters[code] @ precision
            # <A, H A> for symmetric A, written symmetrically in the two slots of A.
            both = np.kron(precision, squeezed)
            both = 0.5 * (both + np.kron(squeezed, precision))
            both -= 0.5 * moments.determinant_weights[code] * np.kron(precision, precision)
            spread[place, :, place] += both
        n_named = len(self.matrices) * size
        block = self._block
        flat_cross = block.pull(cross.reshape(n_classes * n_features, n_named).T).T
        half = block.pull(spread.reshape(n_named, n_named))
        return Curvature(means, flat_cross.reshape(n_classes, n_features, -1), block.pull(half.T))

    def expected_moments(self, weights: FloatArray) -> Moments:
        """No deviation on average, scatter equal to the covariances."""
        places = [self._place(code) for code in range(len(weights))]
        scatters = weights[:, None, None] * self.matrices[places]
        return Moments(weights, weights, np.zeros(scatters.shape[:2]), scatters)

    def scatter(self, centered: FloatArray, weights: FloatArray) -> FloatArray:
        """Weighted sum of outer products, (D, D)."""
        return np.asarray((centered * weights[:, None]).T @ centered)

    def half_squared_step(self, other: FloatArray, mean_steps: FloatArray, weights: FloatArray) -> float:
        """Half of d' P d for the means and of tr(P A P A) / 2 for the matrices."""
        total = 0.0
        for code, weight in enumerate(weights):
            place = self._place(code)
            whitener = self.whiteners[place]
            step = whitener @ mean_steps[code]
            change = whitener @ (other[place] - self.matrices[place]) @ whitener.T
            total += weight * (float(step @ step) + 0.5 * float(np.square(change).sum()))
        return 0.5 * total

    def _place(self, code: int) -> int:
        return 0 if self.shared else code

    @cached_property
    def _block(self) -> SymmetricMatrices:
        return SymmetricMatrices("", [""] * len(self.matrices), [""] * self.matrices.shape[1])
