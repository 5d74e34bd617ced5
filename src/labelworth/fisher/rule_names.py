"""What the parameters of a chain are called when people are told about them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.fisher.identifiability import WeakDirection
from labelworth.models.blocks import ListedTable
from labelworth.models.coordinates import Coordinates, FreeTable, SimplexRows

_NAMED_SHARE = 0.9
_MOST_NAMES = 6


@dataclass(frozen=True)
class NamedEntries:
    """The entries of all named tables behind each other, in words.

    Examples
    --------
    >>> from labelworth.models.names import arrow_name
    >>> labels = ["B-NP", "I-NP"]
    >>> tables = SimplexRows("start", [""], labels, arrow_name), SimplexRows("transition", labels, labels, arrow_name)
    >>> entries = NamedEntries(Coordinates(tables))
    >>> entries.name(1), entries.name(3)
    ('start I-NP', 'transition B-NP -> I-NP')
    """

    coordinates: Coordinates

    @cached_property
    def _starts(self) -> IntArray:
        return np.cumsum([0, *(int(np.prod(block.shape)) for block in self.coordinates.blocks)])

    def name(self, index: int) -> str:
        """One entry."""
        place = int(np.searchsorted(self._starts, index, side="right")) - 1
        block = self.coordinates.blocks[place]
        if not isinstance(block, SimplexRows | FreeTable | ListedTable):
            raise ValueError(f"Tables of chains have rows and columns; {block.table} is something else.")
        row, column = divmod(index - int(self._starts[place]), block.shape[1])
        return block.naming(block.table, block.rows[row], block.columns[column])

    def direction(self, relative: float, vector: FloatArray) -> WeakDirection:
        """A direction in the named tables by the entries that change most."""
        unit = vector / np.linalg.norm(vector)
        order = np.argsort(-np.abs(unit), kind="stable")
        n_names = min(int(np.searchsorted(np.cumsum(np.square(unit[order])), _NAMED_SHARE)) + 1, _MOST_NAMES)
        # The sign of a direction means nothing: the entry that changes most is shown to rise.
        sign = np.sign(unit[order[0]])
        chosen = order[:n_names]
        return WeakDirection(
            relative,
            tuple(self.name(int(entry)) for entry in chosen),
            tuple(float(sign * unit[entry]) for entry in chosen),
        )
