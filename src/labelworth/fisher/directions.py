"""Directions of the parameters that labels leave open or weak, by the names of what changes along them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.models.blocks import ListedTable
from labelworth.models.coordinates import Coordinates, FreeTable, SimplexRows, SymmetricMatrices

WEAK = 0.01
"""A direction is weak if one sample tells less of it than this share of what a labeled sample tells."""

_NAMED_SHARE = 0.9
_MOST_NAMES = 6


@dataclass(frozen=True)
class WeakDirection:
    """A change of the parameters that samples hardly notice."""

    relative_information: float  # The share of what complete labels would tell of it; 0: open.
    parameters: tuple[str, ...]  # The entries of the named tables that change most, most first.
    weights: tuple[float, ...]  # By how much each, in a direction of unit length in the named tables.


def most_changed(coordinates: Coordinates, directions: FloatArray) -> tuple[str, ...]:
    """By name, each once, the parameters that change most along directions in free coordinates, (d, n_directions)."""
    indices = np.argmax(np.abs(directions), axis=0)
    return tuple(dict.fromkeys(coordinates.name(int(index)) for index in indices))


def weak_direction(coordinates: Coordinates, share: float, direction: FloatArray) -> WeakDirection:
    """Describe a direction, (d,) in free coordinates, by the named entries that change most along it."""
    change = coordinates.push(direction[:, None])[:, 0]
    unit = change / np.linalg.norm(change)
    # Entries that differ by rounding alone stay in their own order.
    order = np.argsort(-np.abs(unit).round(9), kind="stable")
    n_names = min(int(np.searchsorted(np.cumsum(np.square(unit[order])), _NAMED_SHARE)) + 1, _MOST_NAMES)
    # The sign of a direction means nothing: the entry that changes most is shown to rise.
    sign = np.sign(unit[order[0]])
    # Off the diagonal a covariance stands twice.
    weights = {name_of_entry(coordinates, int(entry)): float(sign * unit[entry]) for entry in order[:n_names]}
    return WeakDirection(share, tuple(weights), tuple(weights.values()))


def name_of_entry(coordinates: Coordinates, index: int) -> str:
    """What one entry of the named tables behind each other is called.

    Examples
    --------
    >>> from labelworth.models.blocks import arrow_name
    >>> labels = ["B-NP", "I-NP"]
    >>> tables = SimplexRows("start", [""], labels, arrow_name), SimplexRows("transition", labels, labels, arrow_name)
    >>> name_of_entry(Coordinates(tables), 1), name_of_entry(Coordinates(tables), 3)
    ('start I-NP', 'transition B-NP -> I-NP')
    """
    starts = [0, *accumulate(prod(block.shape) for block in coordinates.blocks)]
    number = bisect_right(starts, index) - 1
    block, index = coordinates.blocks[number], index - starts[number]
    if isinstance(block, SimplexRows | FreeTable | ListedTable):
        row, column = divmod(index, block.shape[1])
        return block.naming(block.table, block.rows[row], block.columns[column])
    if isinstance(block, SymmetricMatrices):
        return _name_in_matrix(block, np.unravel_index(index, block.shape))
    raise ValueError(f"The entries of {block.table} have no names.")


def _name_in_matrix(block: SymmetricMatrices, entry: Sequence[np.intp]) -> str:
    """By the lower triangle, which is free."""
    matrix, above, below = int(entry[0]), *sorted(int(index) for index in entry[1:])
    per_matrix = block.n_free // len(block.rows)
    return block.name(matrix * per_matrix + below * (below + 1) // 2 + above)
