"""Two symmetric matrices diagonalized at once: the decomposition that serves every labeled fraction."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray
from labelworth.linalg.symmetric import cholesky


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
