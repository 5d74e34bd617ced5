"""What coordinates are called."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload


def entry_name(table: str, row: str, column: str) -> str:
    """Table, row and column, as in ``word_probabilities[ham, free]``."""
    where = ", ".join(part for part in (row, column) if part)
    return f"{table}[{where}]"


def arrow_name(table: str, row: str, column: str) -> str:
    """From where to where, as in ``transition B-NP -> I-NP``; a table of one row has no place to come from."""
    return f"{table} {row} -> {column}" if row else f"{table} {column}"


Naming = Callable[[str, str, str], str]
"""(table, row, column) -> what people call that entry."""


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
