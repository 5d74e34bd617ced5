"""A named table of which only listed entries are parameters; the others are zero and stay so."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.models.names import Naming, entry_name


@dataclass(frozen=True, eq=False)
class ListedTable:
    """A table of unrelated numbers. Free: the listed entries.

    Attributes
    ----------
    places : integer array
        Where the listed entries lie in the table, row by row, ascending.
    """

    table: str
    rows: Sequence[str]
    columns: Sequence[str]
    places: IntArray
    naming: Naming = entry_name

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return len(self.rows), len(self.columns)

    @property
    def n_free(self) -> int:
        """How many entries are listed."""
        return len(self.places)

    @property
    def n_unconstrained(self) -> int:
        """How many entries are listed."""
        return len(self.places)

    def free(self, named: FloatArray) -> FloatArray:
        """The listed entries."""
        return named.ravel()[self.places]

    def named(self, free: FloatArray) -> FloatArray:
        """The table, zero where nothing is listed."""
        return self.push(free[:, None]).reshape(self.shape)

    def push(self, vectors: FloatArray) -> FloatArray:
        """Listed entries into their places."""
        spread = np.zeros((len(self.rows) * len(self.columns), vectors.shape[1]))
        spread[self.places] = vectors
        return spread

    def pull(self, vectors: FloatArray) -> FloatArray:
        """The transpose of `push`."""
        return vectors[self.places]

    def name(self, index: int) -> str:
        """Table, row and column."""
        row, column = divmod(int(self.places[index]), len(self.columns))
        return self.naming(self.table, self.rows[row], self.columns[column])

    def unconstrained(self, named: FloatArray) -> FloatArray:
        """The listed entries: every real vector is valid."""
        return self.free(named)

    def from_unconstrained(self, vector: FloatArray) -> FloatArray:
        """Back again."""
        return self.named(vector)
