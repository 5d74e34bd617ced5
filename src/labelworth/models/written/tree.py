"""Parameters as any tree of arrays: what its leaves are called, which values they may take, tables and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, get_args

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.models.blocks import Block, FreeTable, SimplexRows, entry_name
from labelworth.models.coordinates import Coordinates

Constraint = Literal["free", "positive", "simplex"]
"""Any number; above zero; probabilities along the last axis."""

Structure = tuple[Any, ...] | None
"""(type, entries) of a dict, list or tuple; the entries of a dict are (key, structure). None stands for an array."""

_CONSTRAINTS: dict[str, Constraint] = {name: name for name in get_args(Constraint)}
_WHOLE = "parameters"
_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Leaf:
    """One array of the tree."""

    name: str  # Its path: "means", "noise.scale", "components[0]".
    shape: tuple[int, ...]
    constraint: Constraint = "free"

    @property
    def table_shape(self) -> tuple[int, int]:
        """As a table: the last axis across, all others down."""
        if not self.shape:
            return 1, 1
        return int(np.prod(self.shape[:-1])), self.shape[-1]

    def block(self) -> Block:
        """The leaf as a named table, entries called as in ``means[1, 0]``."""
        rows = [", ".join(map(str, index)) for index in product(*map(range, self.shape[:-1]))]
        columns = [str(column) for column in range(self.shape[-1])] if self.shape else [""]
        if self.constraint == "simplex":
            return SimplexRows(self.name, rows, columns, _entry_name)
        return FreeTable(self.name, rows, columns, _entry_name, 0.0 if self.constraint == "positive" else -np.inf)

    def entry(self, index: int) -> str:
        """What an entry is called, counted row by row."""
        block = self.block()
        row, column = divmod(index, len(block.columns))
        return block.naming(self.name, block.rows[row], block.columns[column])

    def require(self, values: FloatArray, source: str) -> None:
        """Refuse values that the constraint rules out."""
        if values.shape != self.shape:
            raise InvalidInputError(f"{self.name} must have shape {self.shape}. {source} gave {values.shape}.")
        if not np.isfinite(values).all():
            raise InvalidInputError(f"{self.name} must be finite numbers. {source} gave {values.ravel()[:6]}.")
        if self.constraint != "free" and not (values > 0).all():
            raise InvalidInputError(
                f"{self.name} must be positive ({self.constraint}). {source} gave {values.min():g}."
            )
        if self.constraint == "simplex":
            sums = values.sum(axis=-1)
            worst = float(sums.ravel()[np.argmax(np.abs(sums - 1).ravel())])
            if abs(worst - 1) > _SUM_TOLERANCE:
                raise InvalidInputError(f"{self.name} must sum to 1 along the last axis. {source} gave {worst:.10g}.")


@dataclass(frozen=True)
class ParameterTree:
    """The form of a tree of parameters; hashable, so that what is compiled for it is compiled once."""

    structure: Structure
    leaves: tuple[Leaf, ...]

    @classmethod
    def of(cls, parameters: Any, constraints: Mapping[str, str] | None = None) -> "ParameterTree":
        """Read the form off a tree; `constraints` by the names of leaves, free where nothing is said.

        Raises
        ------
        InvalidInputError
            If there is something else than dicts, lists, tuples and arrays of numbers in it.
        """
        structure, arrays = _read(parameters, _WHOLE, is_root=True)
        if not arrays:
            raise InvalidInputError("There are no parameters: give at least one array.")
        given = dict(constraints or {})
        leaves = []
        for name, array in arrays:
            wanted = given.pop(name, "free")
            if wanted not in list(_CONSTRAINTS):  # a list compares, a dict would hash
                raise InvalidInputError(
                    f"A constraint is one of {', '.join(_CONSTRAINTS)}. Got {wanted!r} for {name!r}."
                )
            constraint = _CONSTRAINTS[wanted]
            if constraint == "simplex" and (not array.shape or array.shape[-1] < 2):
                raise InvalidInputError(
                    f"Probabilities need at least two entries along the last axis. {name!r} has shape {array.shape}."
                )
            leaves.append(Leaf(name, array.shape, constraint))
        if given:
            names = ", ".join(repr(leaf.name) for leaf in leaves)
            raise InvalidInputError(
                f"There is a constraint on {next(iter(given))!r}, but the parameters are {names}."
            )
        return cls(structure, tuple(leaves))

    def flattened(self, parameters: Any, source: str) -> tuple[FloatArray, ...]:
        """The arrays of a tree of this form, checked.

        Parameters
        ----------
        source : str
            Who gave them, for messages.

        Raises
        ------
        InvalidInputError
            If it has another form, or a value that its constraint rules out.
        """
        structure, arrays = _read(parameters, _WHOLE, is_root=True)
        if structure != self.structure:
            expected = ", ".join(leaf.name for leaf in self.leaves)
            given = ", ".join(name for name, _ in arrays)
            raise InvalidInputError(f"Parameters must be the tree of {expected}. {source} gave that of {given}.")
        for leaf, (_, array) in zip(self.leaves, arrays, strict=True):
            leaf.require(array, source)
        return tuple(array for _, array in arrays)

    def built(self, arrays: Sequence[Any]) -> Any:
        """The tree of these arrays, of whatever library."""
        return _build(self.structure, iter(arrays))

    def coordinates(self) -> Coordinates:
        return Coordinates(tuple(leaf.block() for leaf in self.leaves))

    def tables(self, arrays: Sequence[FloatArray]) -> dict[str, FloatArray]:
        """Every leaf as a table of two axes."""
        return {leaf.name: array.reshape(leaf.table_shape) for leaf, array in zip(self.leaves, arrays, strict=True)}

    def from_tables(self, tables: Mapping[str, FloatArray]) -> tuple[FloatArray, ...]:
        """Back again, checked."""
        arrays = tuple(np.asarray(tables[leaf.name], dtype=np.float64).reshape(leaf.shape) for leaf in self.leaves)
        for leaf, array in zip(self.leaves, arrays, strict=True):
            leaf.require(array, "A step")
        return arrays


def _entry_name(table: str, row: str, column: str) -> str:
    return entry_name(table, row, column) if row or column else table


def _read(node: Any, name: str, *, is_root: bool = False) -> tuple[Structure, list[tuple[str, FloatArray]]]:
    """The structure below a node and its arrays with their names, in order."""
    if type(node) is dict:
        entries, arrays = [], []
        for key in node:
            if not isinstance(key, str) or not key:
                raise InvalidInputError(f"Parameters have names that are strings. Got {key!r} in {name}.")
        # By name: a dict written in another order is the same tree.
        for key in sorted(node):
            structure, below = _read(node[key], key if is_root else f"{name}.{key}")
            entries.append((key, structure))
            arrays += below
        return (dict, tuple(entries)), arrays
    if type(node) in (list, tuple) and not _is_numbers(node):
        parts = [_read(child, f"{name}[{index}]") for index, child in enumerate(node)]
        return (type(node), tuple(part for part, _ in parts)), [array for _, below in parts for array in below]
    return None, [(name, _array(node, name))]


def _is_numbers(node: Any) -> bool:
    """Whether this is an array spelled out: lists of plain numbers, of any depth."""
    return isinstance(node, int | float) or (type(node) is list and bool(node) and all(map(_is_numbers, node)))


def _array(node: Any, name: str) -> FloatArray:
    try:
        array = np.asarray(node)
    except Exception as error:  # whatever a foreign object raises when asked for its numbers
        raise _not_a_leaf(node, name) from error
    if array.dtype.kind not in "biuf":
        raise _not_a_leaf(node, name)
    if not array.size:
        raise InvalidInputError(f"{name} is an empty array; leave it out.")
    return np.array(array, dtype=np.float64)


def _not_a_leaf(node: Any, name: str) -> InvalidInputError:
    return InvalidInputError(
        f"Parameters are a tree of dicts, lists and tuples with arrays of numbers in it. Got {type(node).__name__} "
        f"at {name}."
    )


def _build(structure: Structure, arrays: Any) -> Any:
    if structure is None:
        return next(arrays)
    kind, entries = structure
    if kind is dict:
        return {key: _build(child, arrays) for key, child in entries}
    return kind(_build(child, arrays) for child in entries)
