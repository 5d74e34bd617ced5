"""Pilots: which samples carry the labels that a plan is made from; `planning.next` draws and records them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import IntArray
from labelworth.data.digest import bytes_digest


@dataclass(frozen=True, eq=False)
class Pilot:
    """The samples with labels."""

    rows: IntArray  # (size,): Their indices in the data, rising.
    n_samples: int  # How many samples there are, with a label or without.

    @property
    def digest(self) -> str:
        """The SHA-256 of the rows, as ``sha256:...``: says in a word whether two plans had the same pilot."""
        return bytes_digest(np.ascontiguousarray(self.rows, dtype="<i8").tobytes())

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it; rows as ranges."""
        return {
            "size": len(self.rows),
            "n_samples": self.n_samples,
            "digest": self.digest,
            "rows": ranges(self.rows),
        }


def ranges(rows: IntArray) -> str:
    """Rising whole numbers in short: the ends of every run of neighbors.

    Examples
    --------
    >>> ranges(np.array([0, 1, 2, 5, 8, 9]))
    '0-2, 5, 8-9'
    """
    runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1) if len(rows) else []
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
