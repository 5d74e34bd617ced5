"""Symmetric matrices that are a diagonal plus something of low rank: any size, and nothing square is ever formed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray, require_shape
from labelworth.errors import NotIdentifiableError

_ROUNDING = float(np.finfo(np.float64).eps)
_BLOCK_ROWS = 512


@dataclass(frozen=True)
class DiagonalPlusLowRank:
    r"""The symmetric matrix :math:`\operatorname{diag}(d) + F C F'`, of size n and rank r beside the diagonal."""

    diagonal: FloatArray  # (n,)
    factor: FloatArray  # (n, r)
    core: FloatArray  # (r, r): Symmetric; it need not be definite.

    def __post_init__(self) -> None:
        rank = self.factor.shape[1]
        require_shape("factor", self.factor, (len(self.diagonal), rank))
        require_shape("core", self.core, (rank, rank))

    @property
    def size(self) -> int:
        """The number of rows, n."""
        return len(self.diagonal)

    @property
    def rank(self) -> int:
        """The number of columns of the factor, r."""
        return int(self.factor.shape[1])

    @cached_property
    def _weighted(self) -> FloatArray:
        return self.factor @ self.core

    def dense(self) -> FloatArray:
        """The matrix itself, (n, n); for small n."""
        return np.diag(self.diagonal) + self._weighted @ self.factor.T

    def entries_on_diagonal(self) -> FloatArray:
        """The diagonal of the whole matrix, (n,)."""
        entries: FloatArray = self.diagonal + np.einsum("ij,ij->i", self._weighted, self.factor)
        return entries

    def times(self, vectors: FloatArray) -> FloatArray:
        """The matrix times one vector (n,) or several (n, b)."""
        scale = self.diagonal if vectors.ndim == 1 else self.diagonal[:, None]
        product: FloatArray = scale * vectors + self._weighted @ (self.factor.T @ vectors)
        return product

    def scaled(self, scale: float) -> "DiagonalPlusLowRank":
        """The matrix times a number."""
        return DiagonalPlusLowRank(scale * self.diagonal, self.factor, scale * self.core)

    def trace_with(self, other: "DiagonalPlusLowRank") -> float:
        r"""The trace of the product, :math:`\operatorname{tr}(A B)`, in O(n r^2)."""
        between = self.factor.T @ other.factor
        crossed = np.sum((self.core @ between @ other.core) * between)
        first = self.diagonal @ (other.entries_on_diagonal() - other.diagonal)
        second = other.diagonal @ (self.entries_on_diagonal() - self.diagonal)
        return float(self.diagonal @ other.diagonal + first + second + crossed)

    def around(self, inner: "DiagonalPlusLowRank") -> "DiagonalPlusLowRank":
        r"""The sandwich :math:`A B A`, of rank 2 r_A + r_B."""
        outer = inner.diagonal[:, None] * self.factor
        scaled_outer = self.diagonal[:, None] * outer
        filled = self.times(inner.factor)
        twice = self.core @ (self.factor.T @ outer) @ self.core
        size = self.rank
        core = np.zeros((2 * size + inner.rank, 2 * size + inner.rank))
        core[:size, :size] = twice
        core[:size, size : 2 * size] = self.core
        core[size : 2 * size, :size] = self.core
        core[2 * size :, 2 * size :] = inner.core
        factor = np.concatenate([self.factor, scaled_outer, filled], axis=1)
        return DiagonalPlusLowRank(self.diagonal * inner.diagonal * self.diagonal, factor, core)


@dataclass(frozen=True)
class ConstrainedInverse:
    r"""The inverse of a matrix on the directions orthogonal to a normal, zero along it."""

    inverse: DiagonalPlusLowRank
    log_determinant: float  # Of the matrix (not of its inverse), compressed to those directions.


def compress(factor: FloatArray, core: FloatArray, tolerance: float = _ROUNDING) -> tuple[FloatArray, FloatArray]:
    r"""Write :math:`F C F'` with orthonormal columns and a diagonal core, dropping what is below rounding.

    Eigenvalues below `tolerance` times the largest are dropped; the error in norm is at most that.
    """
    rank = factor.shape[1]
    if rank == 0:
        return factor, core
    # Blocks of rows that fit into the cache, then the triangles of all blocks: several times faster than one pass.
    n_blocks = max(1, len(factor) // max(_BLOCK_ROWS, 2 * rank))
    blocks = [np.linalg.qr(block) for block in np.array_split(factor, n_blocks)]
    outer, triangle = np.linalg.qr(np.concatenate([block.R for block in blocks]))
    small = triangle @ core @ triangle.T
    values, vectors = np.linalg.eigh((small + small.T) / 2)
    kept = np.abs(values) > tolerance * np.abs(values).max(initial=0.0)
    inner = np.split(outer @ vectors[:, kept], np.cumsum([len(block.R) for block in blocks])[:-1])
    basis = np.concatenate([block.Q @ part for block, part in zip(blocks, inner, strict=True)])
    return basis, np.diag(values[kept])


def constrained_inverse(matrix: DiagonalPlusLowRank, normal: FloatArray) -> ConstrainedInverse:
    r"""Invert a positive definite matrix on the directions orthogonal to a unit normal :math:`\nu`.

    First the diagonal part :math:`D` alone, :math:`T_0 = D^{-1} - D^{-1}\nu\nu'D^{-1} / \nu'D^{-1}\nu`, then
    Woodbury on what is left, :math:`T = T_0 - T_0 F (1 + C F'T_0F)^{-1} C F'T_0`, which needs no inverse of
    the core. In this order every piece exists as soon as the diagonal is positive; Woodbury first and the
    constraint second would pass through the unconstrained matrix, which may be singular.

    Raises
    ------
    NotIdentifiableError
        If the matrix is not positive definite on those directions.
    """
    require_shape("normal", normal, (matrix.size,))
    if not matrix.diagonal.min() > 0:
        raise NotIdentifiableError("The information is singular: some direction is not identified at this fraction.")
    inverse_diagonal = 1 / matrix.diagonal
    scaled_normal = inverse_diagonal * normal
    length = float(normal @ scaled_normal)
    pushed = inverse_diagonal[:, None] * matrix.factor
    pushed -= np.outer(scaled_normal, (scaled_normal @ matrix.factor) / length)
    capacitance = np.eye(matrix.rank) + matrix.core @ (matrix.factor.T @ pushed)
    sign, log_capacitance = np.linalg.slogdet(capacitance)
    if sign <= 0:
        raise NotIdentifiableError("The information is not positive definite at this fraction.")
    woodbury = np.linalg.solve(capacitance, matrix.core)
    core = np.zeros((matrix.rank + 1, matrix.rank + 1))
    core[0, 0] = -1 / length
    core[1:, 1:] = -(woodbury + woodbury.T) / 2
    inverse = DiagonalPlusLowRank(inverse_diagonal, np.column_stack([scaled_normal, pushed]), core)
    log_determinant = float(np.sum(np.log(matrix.diagonal)) + np.log(length) + log_capacitance)
    return ConstrainedInverse(inverse, log_determinant)
