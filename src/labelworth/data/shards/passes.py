"""Passes over data, wherever it lies: what is laid out of every shard is asked the same, and the answers add up.

A *layout* knows how to lay out rows; what it makes of them has methods whose results are sums by name. In memory the
sums are asked for directly; over shards a runner asks every shard, and adds in pairs whose order the shards fix. EM,
L-BFGS, Lanczos and moments differ in the layout alone.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from threading import Lock
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from joblib import hash as digest_of

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.data.shards.features import Part, ShardedFeatures
from labelworth.engines.runner import Sums

DataT = TypeVar("DataT", Samples, Sequences)
LaidT = TypeVar("LaidT")
LaidT_co = TypeVar("LaidT_co", covariant=True)

_ROOM = 1 << 30
"""Bytes of passes that a process keeps laid out; the shards that find no room are laid out with every pass."""


class Layout(Protocol[LaidT_co]):
    """How rows are laid out for many passes; can be sent, and equal layouts have equal digests."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, which travel with no shard."""

    def prepare(self, data: Any, weights: FloatArray, /) -> LaidT_co:
        """The rows laid out: an object whose methods take parameters and return what adds up."""


def is_sharded(data: "Samples | Sequences") -> bool:
    return isinstance(data.features, ShardedFeatures)


@dataclass(frozen=True)
class AsTheyAre(Generic[LaidT]):
    """A layout of rows as they are read, for what is asked once or twice."""

    make: Callable[[Any, FloatArray], LaidT]  # Of rows and weights.
    feature_names: tuple[str, ...] | None = None

    def prepare(self, data: Any, weights: FloatArray, /) -> LaidT:
        return self.make(data, weights)


def total(
    layout: Layout[Any], data: "Samples | Sequences", weights: FloatArray, method: str, parameters: Any
) -> Sums:
    """What one pass adds up, wherever the data lies."""
    laid = laid_out(layout, data, weights)
    if isinstance(laid, PassesOverShards):
        return laid.total(method, parameters)
    sums: Sums = getattr(laid, method)(parameters)
    return sums


def laid_out(layout: Layout[LaidT], data: "Samples | Sequences", weights: FloatArray) -> "LaidT | PassesOverShards":
    """The data laid out, in memory or where its shards are."""
    return PassesOverShards(layout, data, weights) if is_sharded(data) else layout.prepare(data, weights)


@dataclass(frozen=True, eq=False)
class Piece:
    """One shard with what is known of its rows or tokens, in narrow types: it may travel."""

    part: Part
    codes: AnyArray
    candidates: FloatArray
    classes: tuple[Hashable, ...]
    weights: AnyArray  # (n,), or () where all count the same.
    offsets: IntArray | None  # Where sequences begin.

    def read(self, names: tuple[str, ...] | None, *, stays: bool = False) -> "tuple[Any, FloatArray]":
        """Samples or Sequences with the names of their columns, and their weights.

        Features are in memory, or stay where they are, for those who walk through them.
        """
        part = self.part
        features = ShardedFeatures((part,), part.kind, part.n_features) if stays else part.read()
        evidence = Evidence(self.codes.astype(np.int64), self.classes, self.candidates)
        if self.offsets is None:
            data: Any = Samples(features, evidence, feature_names=names)
        else:
            data = Sequences(features, self.offsets, evidence, names or ())
        return data, np.broadcast_to(self.weights, data.n_samples).astype(np.float64)


def pieces_of(data: "Samples | Sequences", weights: FloatArray) -> Iterator[Piece]:
    """The shards of some data, each with its part of evidence and weights."""
    features = data.features
    if not isinstance(features, ShardedFeatures):
        raise TypeError("The features lie in memory.")
    offsets = data.offsets if isinstance(data, Sequences) else None
    bounds = features.bounds
    for part, first, end in zip(features.parts, bounds, bounds[1:], strict=False):
        evidence = data.evidence.take(np.arange(first, end))
        own = weights[first:end]
        within = None
        if offsets is not None:
            begin, stop = np.searchsorted(offsets, [first, end])
            within, own = offsets[begin : stop + 1] - first, weights[begin:stop]
        is_even = bool((own == own[0]).all())
        yield Piece(
            part,
            evidence.codes.astype(np.min_scalar_type(-1 - int(np.abs(evidence.codes).max()))),
            evidence.weights,
            evidence.classes,
            own[0] if is_even else own,
            within,
        )


@dataclass(frozen=True, eq=False)
class Step:
    """What all pieces share: what is asked of their layouts, with which parameters, and how they are known."""

    layout: Any
    method: str
    parameters: Any
    name: str  # Of the layout over these shards.

    def __getstate__(self) -> dict[str, Any]:
        return {name: _bare(value) for name, value in vars(self).items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, _whole(value))


class _Bare(NamedTuple):
    """A frozen value without what it has computed of itself, which need not travel and must not tell in digests."""

    kind: type
    state: dict[str, Any]


def _bare(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _Bare(type(value), {entry.name: _bare(getattr(value, entry.name)) for entry in fields(value)})
    return tuple(map(_bare, value)) if type(value) is tuple else value


def _whole(value: Any) -> Any:
    if isinstance(value, _Bare):
        whole: Any = object.__new__(value.kind)
        for name, part in value.state.items():
            object.__setattr__(whole, name, _whole(part))
        return whole
    return tuple(map(_whole, value)) if type(value) is tuple else value


class PassesOverShards:
    """Shards, to be laid out by one layout wherever work is done."""

    def __init__(self, layout: Layout[Any], data: "Samples | Sequences", weights: FloatArray) -> None:
        features = data.features
        if not isinstance(features, ShardedFeatures):
            raise TypeError("The features lie in memory.")
        self._runner = features.runner
        self._layout = layout
        self._pieces: Sequence[Piece] = tuple(pieces_of(data, weights))
        self._name = str(digest_of((_bare(layout), self._pieces)))

    def total(self, method: str, parameters: Any = None) -> Sums:
        """What a method says of all shards, added in pairs."""
        return self._runner.total(asked_of_shard, self._step(method, parameters), self._pieces)

    def each(self, method: str, parameters: Any = None) -> Iterator[Any]:
        """What it says of every shard, in their order."""
        return self._runner.map(asked_of_shard, self._step(method, parameters), self._pieces)

    def _step(self, method: str, parameters: Any) -> Step:
        return Step(self._layout, method, parameters, self._name)


def asked_of_shard(step: Step, piece: Piece) -> Any:
    """What one shard says."""
    return getattr(_kept_or_new(step, piece), step.method)(step.parameters)


_KEPT: dict[tuple[str, str], Any] = {}
_KEPT_BYTES = {"all": 0}
_LOCK = Lock()


def _kept_or_new(step: Step, piece: Piece) -> Any:
    """A shard laid out: as it was before, or anew."""
    key = (step.name, piece.part.folder)
    with _LOCK:
        if key in _KEPT:
            return _KEPT[key]
    data, weights = piece.read(step.layout.feature_names, stays=getattr(step.layout, "walks", False))
    laid_out = step.layout.prepare(data, weights)
    n_bytes = _n_bytes(laid_out)
    with _LOCK:
        if any(name != step.name for name, _ in _KEPT):
            _KEPT.clear()
            _KEPT_BYTES["all"] = 0
        if _KEPT_BYTES["all"] + n_bytes <= _ROOM:
            _KEPT[key] = laid_out
            _KEPT_BYTES["all"] += n_bytes
    return laid_out


def _n_bytes(value: Any) -> int:
    """Of all arrays within."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    parts = value if isinstance(value, tuple | list) else vars(value).values() if hasattr(value, "__dict__") else ()
    return sum(map(_n_bytes, parts))
