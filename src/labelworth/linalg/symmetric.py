"""Symmetric matrices: is one definite, how well conditioned, its largest eigenvalue; two diagonalized at once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from labelworth.arrays import FloatArray

_DENSE_LIMIT = 64
"""Up to this size a full decomposition is quicker than an iteration."""


class SingularMatrixError(np.linalg.LinAlgError):
    """A matrix that had to be positive definite is not, to working precision.

    Attributes
    ----------
    null_vectors : array of shape (d, n_null)
        Directions v with v' A v = 0 to working precision, or negative; unit length.
    """

    def __init__(self, message: str, null_vectors: FloatArray) -> None:
        super().__init__(message)
        self.null_vectors = null_vectors


def symmetrized(matrix: FloatArray) -> FloatArray:
    """The symmetric part: what rounding left of a matrix that is symmetric by construction."""
    return (matrix + np.swapaxes(matrix, -1, -2)) / 2


def equilibration(matrix: FloatArray) -> FloatArray:
    """Factors s that give the diagonal of diag(s) A diag(s) ones; no diagonal entry may be negative."""
    diagonal = np.diag(matrix)
    positive = diagonal > 0
    factors = np.ones(len(diagonal))
    factors[positive] = 1 / np.sqrt(diagonal[positive])
    return factors


def cholesky(matrix: FloatArray) -> tuple[FloatArray, float]:
    """Lower Cholesky factor of a positive definite matrix, and how well conditioned it is.

    Parameters
    ----------
    matrix : array of shape (d, d)
        Symmetric.

    Returns
    -------
    factor : array of shape (d, d)
        Lower triangular L with L L' = A.
    reciprocal_condition : float
        An estimate of 1 / (condition number in the 1-norm) of A scaled to a unit diagonal: what decides the
        accuracy of solves, since they do not notice the units of the coordinates.

    Raises
    ------
    SingularMatrixError
        If A is singular to working precision or not positive.
    """
    factors = equilibration(matrix)
    scaled = matrix * factors * factors[:, None]
    norm = float(np.abs(scaled).sum(axis=0).max())
    try:
        lower = scipy.linalg.cholesky(scaled, lower=True, overwrite_a=False, check_finite=False)
    except np.linalg.LinAlgError:
        raise _singular(scaled, factors) from None
    reciprocal_condition, _ = scipy.linalg.lapack.dpocon(lower, norm, uplo="L")
    if reciprocal_condition < len(matrix) * np.finfo(float).eps:
        raise _singular(scaled, factors)
    return lower / factors[:, None], float(reciprocal_condition)


def _singular(scaled: FloatArray, factors: FloatArray) -> SingularMatrixError:
    values, vectors = scipy.linalg.eigh(scaled)
    tolerance = 8 * len(scaled) * np.finfo(float).eps * max(abs(float(values[-1])), 1.0)
    n_null = max(int((values <= tolerance).sum()), 1)
    null = vectors[:, :n_null] * factors[:, None]
    return SingularMatrixError(
        f"The matrix is not positive definite: smallest eigenvalue {values[0]:.3g}, at unit diagonal.",
        null / np.linalg.norm(null, axis=0),
    )


def largest_eigenvalue(apply: Callable[[FloatArray], FloatArray], size: int) -> tuple[float, FloatArray]:
    """The largest eigenvalue of a positive semi-definite operator, and a unit eigenvector.

    Parameters
    ----------
    apply : function
        The product with a block of vectors, shape (size, b).
    size : int

    Notes
    -----
    Dense for small sizes, else Lanczos (ARPACK) to working precision: the eigenvalue is right to about
    the square of the residual even where the largest ones are equal and the eigenvector is arbitrary.
    """
    if size <= _DENSE_LIMIT:
        values, vectors = scipy.linalg.eigh(symmetrized(apply(np.eye(size))), subset_by_index=[size - 1, size - 1])
        return float(values[0]), np.asarray(vectors[:, 0])
    operator = scipy.sparse.linalg.LinearOperator(
        (size, size), matvec=lambda vector: apply(vector.reshape(size, 1)).ravel(), dtype=np.float64
    )
    # A fixed start makes the answer repeatable; a vector of ones could be orthogonal to what is looked for.
    first = np.random.default_rng(0).standard_normal(size)
    values, vectors = scipy.sparse.linalg.eigsh(operator, k=1, which="LA", v0=first, tol=0)
    return float(values[0]), np.asarray(vectors[:, 0])


@dataclass(frozen=True)
class Pencil:
    r"""The generalized eigenproblem :math:`A W = B W \operatorname{diag}(\mu)` with :math:`W' B W = 1`."""

    values: FloatArray  # (d,): :math:`\mu`, ascending.
    vectors: FloatArray  # (d, d): :math:`W`, one eigenvector per column.
    log_determinant: float  # log det B.
    tolerance: float  # How far rounding may have moved an eigenvalue, relative to the largest.

    @classmethod
    def of(cls, matrix: FloatArray, metric: FloatArray) -> "Pencil":
        """Decompose A = `matrix` against B = `metric`, both (d, d) symmetric, B positive definite.

        Raises
        ------
        SingularMatrixError
            If B is singular to working precision.

        Notes
        -----
        B = L L', an ordinary decomposition of L^-1 A L^-T, then W = L^-T Q: O(d^3), once.

        Examples
        --------
        >>> Pencil.of(np.diag([1.0, 1.0]), np.diag([2.0, 4.0])).values
        array([0.25, 0.5 ])
        """
        lower, reciprocal_condition = cholesky(metric)
        # LAPACK's own reduction keeps the symmetry and does half the work of two triangular solves.
        whitened, _ = scipy.linalg.lapack.dsygst(matrix, lower, itype=1, lower=1)
        values, rotation = scipy.linalg.eigh(whitened, lower=True, driver="evd", overwrite_a=True, check_finite=False)
        vectors = scipy.linalg.solve_triangular(lower, rotation, lower=True, trans="T", check_finite=False)
        tolerance = 16 * len(metric) * float(np.finfo(float).eps) / reciprocal_condition
        return cls(values, vectors, 2 * float(np.log(np.diag(lower)).sum()), tolerance)
