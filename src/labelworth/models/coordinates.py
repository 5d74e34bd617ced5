"""Theta three ways: named tables people read, free coordinates the theory uses, unconstrained ones for steps.

Named tables may be redundant (a probability row sums to one, a covariance is symmetric). Free coordinates drop the
redundancy - the last entry of every probability row, the upper triangle - so that information is invertible.
Figures such as the total variance are those of the named tables, carried there by the Jacobian.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError


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

    def free(self, named: FloatArray) -> FloatArray:
        """Drop the last column."""
        return named.reshape(self.shape)[:, :-1].ravel()

    def named(self, free: FloatArray) -> FloatArray:
        """Restore the last column as what is left of one."""
        head = free.reshape(self.shape[0], self.shape[1] - 1)
        return np.concatenate([head, 1 - head.sum(axis=1, keepdims=True)], axis=1)

    def push(self, vectors: FloatArray) -> FloatArray:
        """A change of the free entries changes the last one by minus their sum."""
        head = vectors.reshape(self.shape[0], self.shape[1] - 1, -1)
        return np.concatenate([head, -head.sum(axis=1, keepdims=True)], axis=1).reshape(-1, vectors.shape[1])

    def pull(self, vectors: FloatArray) -> FloatArray:
        """The transpose of `push`."""
        full = vectors.reshape(*self.shape, -1)
        return (full[:, :-1] - full[:, -1:]).reshape(self.n_free, -1)

    def name(self, index: int) -> str:
        """Table, row and column."""
        row, column = divmod(index, self.shape[1] - 1)
        return _entry(self.table, self.rows[row], self.columns[column])

    def unconstrained(self, named: FloatArray) -> FloatArray:
        """Logarithms; a constant along a row does not matter."""
        return np.log(named).ravel()

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Softmax along the rows."""
        logits = vector.reshape(self.shape)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return np.asarray(weights, dtype=np.float64)


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
        """Identity, logarithm or log-odds, by the bounds."""
        entries = named.ravel()
        if np.isinf(self.low):
            return entries.copy()
        if np.isinf(self.high):
            return np.log(entries - self.low)
        return np.log(entries - self.low) - np.log(self.high - entries)

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Identity, exponential or logistic, by the bounds."""
        if np.isinf(self.low):
            entries = vector
        elif np.isinf(self.high):
            entries = self.low + np.exp(vector)
        else:
            entries = self.low + (self.high - self.low) / (1 + np.exp(-vector))
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
        lower = vectors.reshape(len(self.rows), -1, n_vectors)
        full = np.empty((*self.shape, n_vectors))
        full[:, below, across] = lower
        full[:, across, below] = lower
        return full.reshape(-1, n_vectors)

    def pull(self, vectors: FloatArray) -> FloatArray:
        """Off-diagonal entries stand twice in the named table."""
        below, across = self._triangle
        full = vectors.reshape(*self.shape, -1)
        summed = full[:, below, across] + full[:, across, below]
        summed[:, below == across] /= 2
        return summed.reshape(self.n_free, -1)

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
class Coordinates:
    """All tables of a model behind each other.

    Examples
    --------
    >>> coordinates = Coordinates((SimplexRows("class_probabilities", [""], ["ham", "spam"]),))
    >>> theta = coordinates.flatten({"class_probabilities": np.array([[0.2, 0.8]])})
    >>> theta, coordinates.named(theta)["class_probabilities"], coordinates.names()
    (array([0.2]), array([[0.2, 0.8]]), ['class_probabilities[ham]'])
    """

    blocks: tuple[Block, ...]

    @cached_property
    def n_free(self) -> int:
        """The number of free coordinates, d."""
        return sum(block.n_free for block in self.blocks)

    @cached_property
    def n_named(self) -> int:
        """The number of entries of all named tables."""
        return sum(int(np.prod(block.shape)) for block in self.blocks)

    def slices(self) -> dict[str, slice]:
        """Where each table lies in the free vector."""
        start, slices = 0, {}
        for block in self.blocks:
            slices[block.table] = slice(start, start + block.n_free)
            start += block.n_free
        return slices

    def flatten(self, tables: Mapping[str, FloatArray]) -> FloatArray:
        """Named tables -> free vector."""
        return np.concatenate([block.free(np.asarray(tables[block.table])) for block in self.blocks])

    def named(self, theta: FloatArray) -> dict[str, FloatArray]:
        """Free vector -> named tables."""
        if theta.shape != (self.n_free,):
            raise InvalidInputError(f"theta must have shape ({self.n_free},). Got {theta.shape} instead.")
        slices = self.slices()
        return {block.table: block.named(theta[slices[block.table]]) for block in self.blocks}

    def flatten_named(self, tables: Mapping[str, FloatArray]) -> FloatArray:
        """Named tables -> one vector of all named entries, the space in which squared errors are summed."""
        return np.concatenate([np.asarray(tables[block.table]).ravel() for block in self.blocks])

    def push(self, vectors: FloatArray) -> FloatArray:
        """Jacobian (named by free) times vectors of shape (d, b)."""
        slices = self.slices()
        return np.concatenate([block.push(vectors[slices[block.table]]) for block in self.blocks])

    def pull(self, vectors: FloatArray) -> FloatArray:
        """Transposed Jacobian times vectors of shape (n_named, b)."""
        start, parts = 0, []
        for block in self.blocks:
            stop = start + int(np.prod(block.shape))
            parts.append(block.pull(vectors[start:stop]))
            start = stop
        return np.concatenate(parts)

    def jacobian(self) -> FloatArray:
        """The Jacobian as a matrix, (n_named, d); for small d."""
        return self.push(np.eye(self.n_free))

    def names(self) -> list[str]:
        """What every free coordinate is called; for small d."""
        return [block.name(index) for block in self.blocks for index in range(block.n_free)]

    def name(self, index: int) -> str:
        """What one free coordinate is called."""
        for block in self.blocks:
            if index < block.n_free:
                return block.name(index)
            index -= block.n_free
        raise InvalidInputError(f"There are {self.n_free} free coordinates; there is none with that index.")

    def unconstrained(self, tables: Mapping[str, FloatArray]) -> FloatArray:
        """Named tables -> a vector any step away from which is valid."""
        return np.concatenate([block.unconstrained(np.asarray(tables[block.table])) for block in self.blocks])

    def from_unconstrained(self, vector: FloatArray) -> dict[str, FloatArray]:
        """Back again."""
        start, tables = 0, {}
        for block in self.blocks:
            size = int(np.prod(block.shape)) if not isinstance(block, SymmetricMatrices) else block.n_free
            tables[block.table] = block.from_unconstrained(vector[start : start + size])
            start += size
        return tables
