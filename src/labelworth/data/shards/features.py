"""Features that lie in shards: which files, and which of their rows. Nothing is read before it is needed."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, IntArray
from labelworth.data.counts import as_vectors
from labelworth.data.guard import guarded, require_sound
from labelworth.data.shards.bounds import shard_bounds
from labelworth.data.shards.manifest import ARRAYS, SPARSE, Kind, forget, read_mapped, require_intact
from labelworth.engines.runner import Runner, Threads
from labelworth.errors import InvalidInputError

_BYTES_PER_STORED = 12
_SHARE_OF_MEMORY = 0.25
_WINDOW = 1 << 18
"""Stored values of a window: they stay in a core's cache, and hide what is done once for each."""

Change = Callable[[Any], Any]
"""Features of some rows -> what a model takes of them; can be sent."""


class Stored(NamedTuple):
    """Some rows of a shard as they lie in its files, which nobody has looked at."""

    first: int  # Of the rows.
    starts: IntArray  # Of every row, and where the last one ends.
    columns: AnyArray
    values: AnyArray


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of one shard."""

    folder: str
    kind: Kind
    n_features: int
    n_stored: int  # Of the whole shard.
    digest: str
    n_rows: int  # That are meant.
    rows: IntArray | None = None  # Which, ascending; None: all.
    share: float = 1.0  # Of all rows of the shard.
    change: Change | None = None

    def read(self) -> Any:
        """The features: a CSR array or vectors of doubles, or codes of words."""
        if self.kind in SPARSE:
            read = list(self.windows())
            return sp.csr_array(sp.vstack(read, format="csr")) if len(read) != 1 else read[0]
        require_intact(Path(self.folder), self.digest)
        (array,) = (read_mapped(Path(self.folder), name) for name in ARRAYS[self.kind])
        self._require_rows(len(array))
        chosen = array if self.rows is None else array[self.rows]
        features = chosen.astype(np.int64) if self.kind == "words" else as_vectors(chosen)
        return features if self.change is None else self.change(features)

    def windows(self) -> Iterator[Any]:
        """The same features, some rows after the other, where they are sparse: little is in memory at once."""
        if self.kind not in SPARSE:
            yield self.read()
            return
        for stored in self.stored():
            window = self.window(stored)
            if window is not None:
                yield window

    def stored(self) -> Iterator[Stored]:
        """What lies in a shard of sparse features, some rows after the other, read by whoever looks at it."""
        require_intact(Path(self.folder), self.digest)
        indptr, indices, values = (read_mapped(Path(self.folder), name) for name in ARRAYS[self.kind])
        if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(indices) or len(indices) != len(values):
            raise InvalidInputError(f"The shard {self.folder!r} is damaged: its arrays do not fit together.")
        self._require_rows(len(indptr) - 1)
        for first, end in shard_bounds(indptr, _WINDOW):
            ends = indptr[first : end + 1].astype(np.int64)
            held = slice(int(ends[0]), int(ends[-1]))
            yield Stored(first, ends - ends[0], indices[held], values[held])
            for array in (indices, values):
                forget(array)

    def window(self, stored: Stored) -> Any:
        """Those of its rows that are meant, as they are asked for; None where none are."""
        end, chosen = stored.first + len(stored.starts) - 1, None
        if self.rows is not None:
            chosen = self.rows[slice(*np.searchsorted(self.rows, [stored.first, end]))] - stored.first
            if not len(chosen):
                return None
        parts = (stored.values.astype(np.float64), np.array(stored.columns), stored.starts.astype(np.int32))
        with guarded(f"The shard {self.folder!r}", "is damaged: its arrays do not fit together", ""):
            window = sp.csr_array(parts, shape=(end - stored.first, self.n_features))
        require_sound(window, name=f"The shard {self.folder!r}")
        if chosen is not None:
            window = window[chosen]
        return window if self.change is None else self.change(window)

    def _require_rows(self, n_rows: int) -> None:
        """That the shard has the rows that are meant."""
        if n_rows <= self.rows[-1] if self.rows is not None else n_rows != self.n_rows:
            raise InvalidInputError(f"The shard {self.folder!r} is damaged: it does not hold the rows it should.")

    def narrowed(self, rows: IntArray) -> "Part":
        """These of the rows, counted among those that are meant."""
        chosen = rows if self.rows is None else self.rows[rows]
        return replace(self, rows=chosen, n_rows=len(chosen), share=self.share * len(chosen) / self.n_rows)


@dataclass(frozen=True, eq=False)
class ShardedFeatures:
    """Features of rows or tokens that lie in shards, in their order: for a matrix, or for codes of words."""

    parts: tuple[Part, ...]
    kind: Kind
    n_features: int
    runner: Runner = field(default_factory=Threads)  # Who walks through them.

    def __getstate__(self) -> dict[str, Any]:
        # Who walks here may hold a connection, and stays; whoever is sent them is one of many, and walks alone.
        return {**vars(self), "runner": Threads(1)}

    @property
    def shape(self) -> tuple[int, ...]:
        n_rows = sum(part.n_rows for part in self.parts)
        return (n_rows,) if self.kind == "words" else (n_rows, self.n_features)

    @property
    def is_sparse(self) -> bool:
        return self.kind in SPARSE

    @property
    def bounds(self) -> IntArray:
        """Where the rows of every part begin, and where the last ones end."""
        return np.concatenate([[0], np.cumsum([part.n_rows for part in self.parts])]).astype(np.int64)

    def __getitem__(self, rows: Any) -> Any:
        """Rows in rising order stay where they are; in any other order they are read."""
        chosen: IntArray = np.arange(self.shape[0])[rows]
        if not (np.diff(chosen) > 0).all():
            ascending, position = np.unique(chosen, return_inverse=True)
            return self[ascending].whole()[position]
        cuts = np.searchsorted(chosen, self.bounds)
        parts = [
            part.narrowed(chosen[first:end] - begin) if end - first < part.n_rows else part
            for part, begin, first, end in zip(self.parts, self.bounds, cuts, cuts[1:], strict=False)
            if end > first
        ]
        return replace(self, parts=tuple(parts))

    def changed(self, change: Change) -> "ShardedFeatures":
        """The same rows, as a model takes them; of rows that were changed already the change of both."""

        def both(first: Change | None) -> Change:
            return change if first is None else partial(_both, first, change)

        return replace(self, parts=tuple(replace(part, change=both(part.change)) for part in self.parts))

    def whole(self) -> Any:
        """All of them in memory, where that has room for them.

        Raises
        ------
        InvalidInputError
            If it has not.
        """
        n_bytes = _BYTES_PER_STORED * sum(part.n_stored * part.share for part in self.parts)
        room = _SHARE_OF_MEMORY * _memory()
        if n_bytes > room:
            raise InvalidInputError(
                f"This needs all {self.shape[0]:,} rows in memory, about {n_bytes / 2**30:.1f} GB; it may take "
                f"{room / 2**30:.1f} GB here. Fits, predictions and plans walk through shards; for all else take "
                "some of the rows, data.take(rows)."
            )
        read = [part.read() for part in self.parts]
        if not read:
            nothing = np.empty(self.shape, dtype=np.int64 if self.kind == "words" else np.float64)
            return sp.csr_array(nothing) if self.is_sparse else nothing
        return sp.csr_array(sp.vstack(read, format="csr")) if self.is_sparse else np.concatenate(read)

    def each(self, function: Callable[[Any, AnyArray], Any], beside: AnyArray) -> Iterator[Any]:
        """What a function says of one run of rows after the other and of what stands `beside` them, a row per row."""
        bounds = self.bounds
        items = [(part, beside[first:end]) for part, first, end in zip(self.parts, bounds, bounds[1:], strict=False)]
        for said in self.runner.map(_of_part, function, items):
            yield from said


def _of_part(function: Callable[[Any, AnyArray], Any], item: tuple[Part, AnyArray]) -> list[Any]:
    part, beside = item
    said, first = [], 0
    for window in part.windows():
        end = first + window.shape[0]
        said.append(function(window, beside[first:end]))
        first = end
    return said


def _both(first: Change, second: Change, features: Any) -> Any:
    return second(first(features))


def _memory() -> float:
    """Of the machine, in bytes; what a container allows is not looked at."""
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def in_memory(features: Any) -> Any:
    """The features themselves; those in shards are read, where memory has room for them."""
    return features.whole() if isinstance(features, ShardedFeatures) else features
