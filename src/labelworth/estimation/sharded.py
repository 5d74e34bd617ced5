"""Passes over data that lie in shards: the family's own pass over every shard, and their sums."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from joblib import hash as digest_of

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.data.shards.features import Part, ShardedFeatures
from labelworth.engines.runner import Sums
from labelworth.models.protocol import EMFamily, Expectation, ParametersT, Pass

DataT = TypeVar("DataT", Samples, Sequences)

_LOG_LIKELIHOOD = "log likelihood"
_ROOM = 1 << 30
"""Bytes of passes that a process keeps laid out; the shards that find no room are laid out with every pass."""


def prepared(family: EMFamily[ParametersT, DataT], data: DataT, weights: FloatArray) -> Pass[ParametersT]:
    """The data laid out for passes, wherever it lies; `weights` (n,) is how much each row or sequence counts."""
    if isinstance(data.features, ShardedFeatures):
        return PassOverShards(family, data, weights)
    return family.prepare(data, weights)


@dataclass(frozen=True, eq=False)
class Piece:
    """One shard with what is known of its rows or tokens, in narrow types: it may travel."""

    part: Part
    codes: AnyArray
    candidates: FloatArray
    classes: tuple[Hashable, ...]
    weights: AnyArray  # (n,), or () where all count the same.
    offsets: IntArray | None  # Where sequences begin.

    def read(self, names: tuple[str, ...] | None) -> "tuple[Any, FloatArray]":
        """Samples or Sequences in memory, with the names of their columns, and their weights."""
        features = self.part.read()
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
    """What all pieces share: a family, a model, and by which name their layouts are known."""

    family: Any
    model: Any
    layout: str

    def __getstate__(self) -> dict[str, Any]:
        """Without what the model has computed of itself."""
        bare = {entry.name: getattr(self.model, entry.name) for entry in fields(self.model)}
        return {"family": self.family, "model": (type(self.model), bare), "layout": self.layout}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kind, bare = state["model"]
        model = kind.__new__(kind)
        model.__dict__.update(bare)
        for name, value in {**state, "model": model}.items():
            object.__setattr__(self, name, value)


class PassOverShards:
    """Data that lie in shards, for passes by one family; see `labelworth.models.protocol.Pass`."""

    def __init__(self, family: Any, data: "Samples | Sequences", weights: FloatArray) -> None:
        features = data.features
        if not isinstance(features, ShardedFeatures):
            raise TypeError("The features lie in memory.")
        self._runner = features.runner
        self._family = family
        self._pieces = tuple(pieces_of(data, weights))
        self._layout = str(digest_of((self._family, self._pieces)))

    def expectation(self, model: Any) -> Expectation:
        """One pass: what all shards say, added in pairs."""
        step = Step(self._family, model, self._layout)
        sums = dict(self._runner.total(expectation_of_shard, step, self._pieces))
        log_likelihood = float(sums.pop(_LOG_LIKELIHOOD))
        return Expectation(sums, log_likelihood)


def expectation_of_shard(step: Step, piece: Piece) -> Sums:
    """What one shard says of a model."""
    expectation = _laid_out(step, piece).expectation(step.model)
    return {**expectation.statistics, _LOG_LIKELIHOOD: np.asarray(expectation.log_likelihood)}


_KEPT: dict[tuple[str, str], Any] = {}
_KEPT_BYTES = {"all": 0}
_LOCK = Lock()


def _laid_out(step: Step, piece: Piece) -> Any:
    """The pass over a shard: as it was laid out before, or anew."""
    key = (step.layout, piece.part.folder)
    with _LOCK:
        if key in _KEPT:
            return _KEPT[key]
    data, weights = piece.read(step.family.feature_names)
    laid_out = step.family.prepare(data, weights)
    n_bytes = _n_bytes(laid_out)
    with _LOCK:
        if any(layout != step.layout for layout, _ in _KEPT):
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
