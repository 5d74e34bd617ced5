"""Pilots: the samples that are labeled first, drawn at random and recorded; and whether labels look so drawn."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import IntArray
from labelworth.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class Pilot:
    """Which samples are labeled first.

    Attributes
    ----------
    rows : integer array of shape (size,)
        Their places in the data, counted from 0, rising.
    n_pool : int
        How many samples they were drawn from.
    seed : int or None
        Of the draw; None: the labels were there already, and how they were chosen is not known.
    """

    rows: IntArray
    n_pool: int
    seed: int | None

    @property
    def digest(self) -> str:
        """The SHA-256 of the places, as ``sha256:...``: says which samples without listing them."""
        content = np.ascontiguousarray(self.rows, dtype="<i8").tobytes()
        return f"sha256:{hashlib.sha256(content).hexdigest()}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it; the places themselves where the pilot was drawn here."""
        return {
            "size": len(self.rows),
            "n_pool": self.n_pool,
            "seed": self.seed,
            "stratification": "none",
            "digest": self.digest,
            "rows": None if self.seed is None else self.rows.tolist(),
        }

    @classmethod
    def held(cls, labeled: "IntArray", n_samples: int) -> "Pilot":
        """Labels that were there already, at the places `labeled`."""
        return cls(np.asarray(labeled, dtype=np.int64), n_samples, None)


def draw_pilot(n_pool: int, size: int, seed: int) -> Pilot:
    """Draw a pilot at random, each set of `size` samples as probable as any other.

    Examples
    --------
    >>> draw_pilot(1000, 5, seed=0).rows.tolist()
    [269, 307, 510, 635, 847]
    """
    if not 1 <= size <= n_pool:
        raise InvalidInputError(
            f"A pilot must have at least one sample and no more than the pool, {n_pool}. Got {size}."
        )
    rows = np.random.default_rng(seed).choice(n_pool, size=size, replace=False)
    return Pilot(np.sort(rows), n_pool, seed)
