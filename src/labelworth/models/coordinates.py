"""Theta three ways: named tables people read, free coordinates the theory uses, unconstrained ones for steps.

Named tables may be redundant (a probability row sums to one, a covariance is symmetric). Free coordinates drop the
redundancy - the last entry of every probability row, the upper triangle - so that information is invertible.
Figures such as the total variance are those of the named tables, carried there by the Jacobian.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.models.blocks import Block, FreeTable, SimplexRows, SymmetricMatrices

__all__ = ["Block", "Coordinates", "FreeTable", "SimplexRows", "SymmetricMatrices"]


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

    @cached_property
    def n_unconstrained(self) -> int:
        """The number of unconstrained coordinates."""
        return sum(block.n_unconstrained for block in self.blocks)

    def unconstrained(self, tables: Mapping[str, FloatArray], vector: FloatArray | None = None) -> FloatArray:
        """Named tables -> a vector any step away from which is valid; in the memory of `vector` if one is given."""
        vector = np.empty(self.n_unconstrained) if vector is None else vector
        for block, part in self._parts(vector):
            block.write_unconstrained(np.asarray(tables[block.table]), part)
        return vector

    def from_unconstrained(self, vector: FloatArray) -> dict[str, FloatArray]:
        return {block.table: block.from_unconstrained(part) for block, part in self._parts(vector)}

    def _parts(self, vector: FloatArray) -> Iterator[tuple[Block, FloatArray]]:
        """Every table with its unconstrained coordinates."""
        start = 0
        for block in self.blocks:
            stop = start + block.n_unconstrained
            yield block, vector[start:stop]
            start = stop
