"""The kinds of named tables: rows of probabilities, unrelated numbers, covariance matrices."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, overload

import numpy as np

from labelworth.arrays import FloatArray


class Block(Protocol):
    """One named table."""

    @property
    def table(self) -> str:
        """Its name."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the named table."""

    @property
    def n_free(self) -> int:
        """How many free coordinates it has."""

    @property
    def n_unconstrained(self) -> int:
        """How many unconstrained coordinates it has."""

    def free(self, named: FloatArray) -> FloatArray:
        """Named table -> free coordinates."""

    def named(self, free: FloatArray) -> FloatArray:
        """Free coordinates -> named table."""

    def push(self, vectors: FloatArray) -> FloatArray:
        """Jacobian of the named table times (n_free, b) vectors."""

    def pull(self, vectors: FloatArray) -> FloatArray:
        """Transposed Jacobian times (n_named, b) vectors."""

    def name(self, index: int) -> str:
        """What free coordinate `index` is called."""

    def unconstrained(self, named: FloatArray) -> FloatArray:
        """Named table -> coordinates in which every real vector is valid."""

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Back again."""


def _entry(table: str, row: str, column: str) -> str:
    place = ", ".join(part for part in (row, column) if part)
    return f"{table}[{place}]"


@dataclass(frozen=True)
class SimplexRows:
    """A table whose rows are probabilities. Free: every row without its last entry."""

    table: str
    rows: Sequence[str]
    columns: Sequence[str]

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return len(self.rows), len(self.columns)

    @property
    def n_free(self) -> int:
        """One less than the columns, for every row."""
        return len(self.rows) * (len(self.columns) - 1)

    @property
    def n_unconstrained(self) -> int:
        """Every entry: the scale of a row does not matter."""
        return len(self.rows) * len(self.columns)

    def free(self, named: FloatArray) -> FloatArray:
        """Drop the last column."""
        return named.reshape(self.shape)[:, :-1].ravel()

    def named(self, free: FloatArray) -> FloatArray:
        """Restore the last column as what is left of one."""
        head = free.reshape(self.shape[0], self.shape[1] - 1)
        return np.concatenate([head, 1 - head.sum(axis=1, keepdims=True)], axis=1)

    def push(self, vectors: FloatArray) -> FloatArray:
        """A change of the free entries changes the last one by minus their sum."""
        n_vectors = vectors.shape[1]
        head = vectors.reshape(self.shape[0], self.shape[1] - 1, n_vectors)
        return np.concatenate([head, -head.sum(axis=1, keepdims=True)], axis=1).reshape(
            math.prod(self.shape), n_vectors
        )

    def pull(self, vectors: FloatArray) -> FloatArray:
        """The transpose of `push`."""
        n_vectors = vectors.shape[1]
        full = vectors.reshape(*self.shape, n_vectors)
        return (full[:, :-1] - full[:, -1:]).reshape(self.n_free, n_vectors)

    def name(self, index: int) -> str:
        """Table, row and column."""
        row, column = divmod(index, self.shape[1] - 1)
        return _entry(self.table, self.rows[row], self.columns[column])

    def unconstrained(self, named: FloatArray) -> FloatArray:
        """Square roots: rows become points of a sphere, whose metric is a quarter of the Fisher information.

        Zeros stay finite, and equally long steps matter equally, which logarithms would not give.
        """
        return np.sqrt(named).ravel()

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Square, and divide by the sum of the row; any row but one of zeros is valid."""
        squares = np.square(vector.reshape(self.shape))
        squares /= squares.sum(axis=1, keepdims=True)
        return np.asarray(squares, dtype=np.float64)


@dataclass(frozen=True)
class FreeTable:
    """A table of unrelated numbers, each in (low, high). Free and named are the same."""

    table: str
    rows: Sequence[str]
    columns: Sequence[str]
    low: float = -np.inf
    high: float = np.inf

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return len(self.rows), len(self.columns)

    @property
    def n_free(self) -> int:
        """Every entry."""
        return len(self.rows) * len(self.columns)

    @property
    def n_unconstrained(self) -> int:
        """Every entry."""
        return self.n_free

    def free(self, named: FloatArray) -> FloatArray:
        """The entries in a row."""
        return named.ravel()

    def named(self, free: FloatArray) -> FloatArray:
        """The entries as a table."""
        return free.reshape(self.shape)

    def push(self, vectors: FloatArray) -> FloatArray:
        """The identity."""
        return vectors

    def pull(self, vectors: FloatArray) -> FloatArray:
        """The identity."""
        return vectors

    def name(self, index: int) -> str:
        """Table, row and column."""
        row, column = divmod(index, self.shape[1])
        return _entry(self.table, self.rows[row], self.columns[column])

    def unconstrained(self, named: FloatArray) -> FloatArray:
        """Identity, logarithm or arcsine of the square root, by the bounds.

        The last is the angle on the circle that stands for two probabilities, as in `SimplexRows`.
        """
        entries = named.ravel()
        if np.isinf(self.low):
            return entries.copy()
        if np.isinf(self.high):
            return np.log(entries - self.low)
        return np.arcsin(np.sqrt((entries - self.low) / (self.high - self.low)))

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Identity, exponential or squared sine, by the bounds."""
        if np.isinf(self.low):
            entries = vector
        elif np.isinf(self.high):
            entries = self.low + np.exp(vector)
        else:
            entries = self.low + (self.high - self.low) * np.square(np.sin(vector))
        return entries.reshape(self.shape)


@dataclass(frozen=True)
class SymmetricMatrices:
    """Positive definite matrices, one per row. Free: the lower triangles."""

    table: str
    rows: Sequence[str]
    columns: Sequence[str]

    @property
    def shape(self) -> tuple[int, int, int]:
        """(n_matrices, n_columns, n_columns)."""
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
    def _triangle(self) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = np.tril_indices(len(self.columns))
        return rows, columns

    def free(self, named: FloatArray) -> FloatArray:
        """The lower triangles."""
        below, across = self._triangle
        return named.reshape(self.shape)[:, below, across].ravel()

    def named(self, free: FloatArray) -> FloatArray:
        """Mirror the lower triangles."""
        below, across = self._triangle
        matrices = np.empty(self.shape)
        matrices[:, below, across] = free.reshape(len(self.rows), -1)
        matrices[:, across, below] = free.reshape(len(self.rows), -1)
        return matrices

    def push(self, vectors: FloatArray) -> FloatArray:
        """Mirror every vector."""
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
        matrix, place = divmod(index, self._triangle[0].size)
        below, across = self._triangle[0][place], self._triangle[1][place]
        return _entry(self.table, self.rows[matrix], f"{self.columns[below]} x {self.columns[across]}")

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


@dataclass(frozen=True)
class Numbered(Sequence[str]):
    """Names for columns that have none: "word 0", "word 1", ... without spelling out a million of them."""

    kind: str
    size: int

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [f"{self.kind} {place}" for place in range(*index.indices(self.size))]
        if not -self.size <= index < self.size:
            raise IndexError(index)
        return f"{self.kind} {index % self.size}"
