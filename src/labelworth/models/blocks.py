"""The kinds of named tables: rows of probabilities and unrelated numbers. See `matrix_block` for covariances."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.models.names import Naming, entry_name


class Block(Protocol):
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


@dataclass(frozen=True)
class SimplexRows:
    """A table whose rows are probabilities. Free: every row without its last entry."""

    table: str
    rows: Sequence[str]
    columns: Sequence[str]
    naming: Naming = entry_name

    @property
    def shape(self) -> tuple[int, int]:
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

    def name(self, index: int) -> str:
        row, column = divmod(index, self.shape[1] - 1)
        return self.naming(self.table, self.rows[row], self.columns[column])

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
    naming: Naming = entry_name

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    @property
    def n_free(self) -> int:
        return len(self.rows) * len(self.columns)

    @property
    def n_unconstrained(self) -> int:
        return self.n_free

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

    def name(self, index: int) -> str:
        row, column = divmod(index, self.shape[1])
        return self.naming(self.table, self.rows[row], self.columns[column])

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


@dataclass(frozen=True, eq=False)
class ListedTable:
    """A table of unrelated numbers. Free: the listed entries."""

    table: str
    rows: Sequence[str]
    columns: Sequence[str]
    positions: IntArray  # Where the listed entries lie in the table, row by row, ascending.
    naming: Naming = entry_name

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    @property
    def n_free(self) -> int:
        """How many entries are listed."""
        return len(self.positions)

    @property
    def n_unconstrained(self) -> int:
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

    def name(self, index: int) -> str:
        row, column = divmod(int(self.positions[index]), len(self.columns))
        return self.naming(self.table, self.rows[row], self.columns[column])

    def unconstrained(self, named: FloatArray) -> FloatArray:
        """The listed entries: every real vector is valid."""
        return self.free(named)

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        return self.named(vector)
