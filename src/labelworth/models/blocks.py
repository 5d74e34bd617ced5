"""The kinds of named tables: rows of probabilities, unrelated numbers, covariances; and how entries are called."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray

Naming = Callable[[str, str, str], str]
"""(table, row, column) -> what people call that entry."""


def entry_name(table: str, row: str, column: str) -> str:
    """Table, row and column, as in ``word_probabilities[ham, free]``."""
    where = ", ".join(part for part in (row, column) if part)
    return f"{table}[{where}]"


def arrow_name(table: str, row: str, column: str) -> str:
    """From where to where, as in ``transition B-NP -> I-NP``; a table of one row has no place to come from."""
    return f"{table} {row} -> {column}" if row else f"{table} {column}"


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
            return [f"{self.kind} {position}" for position in range(*index.indices(self.size))]
        if not -self.size <= index < self.size:
            raise IndexError(index)
        return f"{self.kind} {index % self.size}"


@dataclass(frozen=True, eq=False)
class Block(ABC):
    """A named table: its free coordinates, the Jacobian between the two, and unconstrained ones for steps."""

    table: str
    rows: Sequence[str]
    columns: Sequence[str]
    naming: Naming = entry_name

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the named table."""
        return len(self.rows), len(self.columns)

    @property
    @abstractmethod
    def n_free(self) -> int:
        """How many free coordinates it has."""

    @property
    def n_unconstrained(self) -> int:
        """How many unconstrained coordinates it has."""
        return self.n_free

    @abstractmethod
    def free(self, named: FloatArray) -> FloatArray:
        """Named table -> free coordinates."""

    @abstractmethod
    def named(self, free: FloatArray) -> FloatArray:
        """Free coordinates -> named table."""

    @abstractmethod
    def push(self, vectors: FloatArray) -> FloatArray:
        """Jacobian of the named table times (n_free, b) vectors."""

    @abstractmethod
    def pull(self, vectors: FloatArray) -> FloatArray:
        """Transposed Jacobian times (n_named, b) vectors."""

    def unconstrained(self, named: FloatArray) -> FloatArray:
        """Named table -> coordinates in which every real vector is valid."""
        vector = np.empty(self.n_unconstrained)
        self.write_unconstrained(named, vector)
        return vector

    @abstractmethod
    def write_unconstrained(self, named: FloatArray, vector: FloatArray) -> None:
        """Write them into a vector: tables may be large, and copies of them take longer than what is written."""

    @abstractmethod
    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Back again, into memory of its own: the vector may be written to again."""

    def name(self, index: int) -> str:
        """What free coordinate `index` is called."""
        row, column = divmod(self._entry(index), len(self.columns))
        return self.naming(self.table, self.rows[row], self.columns[column])

    def _entry(self, index: int) -> int:
        """Where it lies in the named table, row by row."""
        return index


@dataclass(frozen=True)
class SimplexRows(Block):
    """A table whose rows are probabilities. Free: every row without its last entry."""

    @property
    def n_free(self) -> int:
        """One less than the columns, for every row."""
        return len(self.rows) * (len(self.columns) - 1)

    @property
    def n_unconstrained(self) -> int:
        """Every entry: the scale of a row does not matter."""
        return len(self.rows) * len(self.columns)

    def free(self, named: FloatArray) -> FloatArray:
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
        n_vectors = vectors.shape[1]
        full = vectors.reshape(*self.shape, n_vectors)
        return (full[:, :-1] - full[:, -1:]).reshape(self.n_free, n_vectors)

    def _entry(self, index: int) -> int:
        return index + index // (self.shape[1] - 1)

    def write_unconstrained(self, named: FloatArray, vector: FloatArray) -> None:
        """Square roots: rows become points of a sphere, whose metric is a quarter of the Fisher information.

        Zeros stay finite, and equally long steps matter equally, which logarithms would not give.
        """
        np.sqrt(named.reshape(self.shape), out=vector.reshape(self.shape))

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Square, and divide by the sum of the row; any row but one of zeros is valid."""
        squares = np.square(vector.reshape(self.shape))
        squares /= squares.sum(axis=1, keepdims=True)
        return np.asarray(squares, dtype=np.float64)


@dataclass(frozen=True)
class FreeTable(Block):
    """A table of unrelated numbers, each in (low, high). Free and named are the same."""

    low: float = -np.inf
    high: float = np.inf

    @property
    def n_free(self) -> int:
        return len(self.rows) * len(self.columns)

    def free(self, named: FloatArray) -> FloatArray:
        """The entries in a row."""
        return named.ravel()

    def named(self, free: FloatArray) -> FloatArray:
        """The entries as a table."""
        return free.reshape(self.shape)

    def push(self, vectors: FloatArray) -> FloatArray:
        return vectors

    def pull(self, vectors: FloatArray) -> FloatArray:
        return vectors

    def write_unconstrained(self, named: FloatArray, vector: FloatArray) -> None:
        """Identity, logarithm or arcsine of the square root, by the bounds.

        The last is the angle on the circle that stands for two probabilities, as in `SimplexRows`.
        """
        entries = named.ravel()
        if np.isinf(self.low):
            vector[:] = entries
        elif np.isinf(self.high):
            vector[:] = np.log(entries - self.low)
        else:
            vector[:] = np.arcsin(np.sqrt((entries - self.low) / (self.high - self.low)))

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Identity, exponential or squared sine, by the bounds."""
        if np.isinf(self.low):
            entries = vector.copy()
        elif np.isinf(self.high):
            entries = self.low + np.exp(vector)
        else:
            entries = self.low + (self.high - self.low) * np.square(np.sin(vector))
        return entries.reshape(self.shape)


@dataclass(frozen=True, eq=False)
class ListedTable(Block):
    """A table of unrelated numbers. Free: the listed entries."""

    positions: IntArray = field(kw_only=True)  # Where the listed entries lie in the table, row by row, ascending.

    @property
    def n_free(self) -> int:
        """How many entries are listed."""
        return len(self.positions)

    def free(self, named: FloatArray) -> FloatArray:
        return named.ravel()[self.positions]

    def named(self, free: FloatArray) -> FloatArray:
        """The table, zero where nothing is listed."""
        return self.push(free[:, None]).reshape(self.shape)

    def push(self, vectors: FloatArray) -> FloatArray:
        """Listed entries into their positions."""
        spread = np.zeros((len(self.rows) * len(self.columns), vectors.shape[1]))
        spread[self.positions] = vectors
        return spread

    def pull(self, vectors: FloatArray) -> FloatArray:
        return vectors[self.positions]

    def _entry(self, index: int) -> int:
        return int(self.positions[index])

    def write_unconstrained(self, named: FloatArray, vector: FloatArray) -> None:
        """The listed entries: every real vector is valid."""
        vector[:] = self.free(named)

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        return self.named(vector)


@dataclass(frozen=True)
class SymmetricMatrices(Block):
    """Positive definite matrices, one per row. Free: the lower triangles."""

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.rows), len(self.columns), len(self.columns)

    @property
    def n_free(self) -> int:
        """The entries of the lower triangles."""
        return len(self.rows) * self._triangle[0].size

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

    def write_unconstrained(self, named: FloatArray, vector: FloatArray) -> None:
        """Cholesky factors with the logarithm of their diagonal."""
        below, across = self._triangle
        factors = np.linalg.cholesky(named.reshape(self.shape))
        entries = factors[:, below, across]
        diagonal = below == across
        entries[:, diagonal] = np.log(entries[:, diagonal])
        vector[:] = entries.ravel()

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Square the Cholesky factors again."""
        below, across = self._triangle
        entries = vector.reshape(len(self.rows), -1).copy()
        diagonal = below == across
        entries[:, diagonal] = np.exp(entries[:, diagonal])
        factors = np.zeros(self.shape)
        factors[:, below, across] = entries
        return factors @ factors.transpose(0, 2, 1)
