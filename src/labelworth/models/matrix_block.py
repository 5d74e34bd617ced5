"""Covariance matrices as a named table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import AnyArray, FloatArray
from labelworth.models.names import entry_name


@dataclass(frozen=True)
class SymmetricMatrices:
    """Positive definite matrices, one per row. Free: the lower triangles."""

    table: str
    rows: Sequence[str]
    columns: Sequence[str]

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.rows), len(self.columns), len(self.columns)

    @property
    def n_free(self) -> int:
        """The entries of the lower triangles."""
        return len(self.rows) * self._triangle[0].size

    @property
    def n_unconstrained(self) -> int:
        """The entries of the lower triangles."""
        return self.n_free

    @cached_property
    def _triangle(self) -> tuple[AnyArray, AnyArray]:
        rows, columns = np.tril_indices(len(self.columns))
        return rows, columns

    def free(self, named: FloatArray) -> FloatArray:
        below, across = self._triangle
        return named.reshape(self.shape)[:, below, across].ravel()

    def named(self, free: FloatArray) -> FloatArray:
        below, across = self._triangle
        matrices = np.empty(self.shape)
        matrices[:, below, across] = free.reshape(len(self.rows), -1)
        matrices[:, across, below] = free.reshape(len(self.rows), -1)
        return matrices

    def push(self, vectors: FloatArray) -> FloatArray:
        below, across = self._triangle
        n_vectors = vectors.shape[1]
        lower = vectors.reshape(len(self.rows), below.size, n_vectors)
        full = np.empty((*self.shape, n_vectors))
        full[:, below, across] = lower
        full[:, across, below] = lower
        return full.reshape(math.prod(self.shape), n_vectors)

    def pull(self, vectors: FloatArray) -> FloatArray:
        """Off-diagonal entries stand twice in the named table."""
        below, across = self._triangle
        n_vectors = vectors.shape[1]
        full = vectors.reshape(*self.shape, n_vectors)
        summed = full[:, below, across] + full[:, across, below]
        summed[:, below == across] /= 2
        return summed.reshape(self.n_free, n_vectors)

    def name(self, index: int) -> str:
        """Table, matrix and the two columns."""
        matrix, position = divmod(index, self._triangle[0].size)
        below, across = self._triangle[0][position], self._triangle[1][position]
        return entry_name(self.table, self.rows[matrix], f"{self.columns[below]} x {self.columns[across]}")

    def unconstrained(self, named: FloatArray) -> FloatArray:
        """Cholesky factors with the logarithm of their diagonal."""
        below, across = self._triangle
        factors = np.linalg.cholesky(named.reshape(self.shape))
        entries = factors[:, below, across]
        diagonal = below == across
        entries[:, diagonal] = np.log(entries[:, diagonal])
        return np.asarray(entries, dtype=np.float64).ravel()

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Square the Cholesky factors again."""
        below, across = self._triangle
        entries = vector.reshape(len(self.rows), -1).copy()
        diagonal = below == across
        entries[:, diagonal] = np.exp(entries[:, diagonal])
        factors = np.zeros(self.shape)
        factors[:, below, across] = entries
        return factors @ factors.transpose(0, 2, 1)
