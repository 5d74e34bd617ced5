"""A folder of shards: written shard by shard, opened as samples or sequences whose features stay where they are."""

import os
import shutil
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray
from labelworth.data.evidence import Evidence
from labelworth.data.files import atomic_write, atomic_writer, make_folder
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.data.shards.bounds import SHARD_WORK, shard_bounds
from labelworth.data.shards.features import Part, ShardedFeatures
from labelworth.data.shards.kept import KeptRunner
from labelworth.data.shards.manifest import (
    ARRAYS,
    FORMAT,
    MANIFEST,
    NAMES,
    UNFINISHED,
    Kind,
    Manifest,
    ShardEntry,
    read_mapped,
    read_names,
    require_digest,
    require_sizes,
    shard_digest,
    write_names,
)
from labelworth.data.text import Vocabulary
from labelworth.engines.runner import Runner, runner_of
from labelworth.errors import InvalidInputError, OutputError
from labelworth.progress import SILENT, Progress, tracking


@dataclass(frozen=True, eq=False)
class Shards:
    """A folder of shards.

    Examples
    --------
    >>> import tempfile
    >>> from labelworth.data.evidence import encode_labels
    >>> samples = Samples(sp.csr_array([[1.0, 0], [0, 2], [3, 1]]), encode_labels(["a", "b", None]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shards = Shards.write(folder, samples, stored_per_shard=2)
    ...     len(shards.manifest.shards), shards.data.n_samples, shards.data.counts.sum().item()
    (2, 3, 7.0)
    """

    folder: Path
    manifest: Manifest
    runner: Runner = field(default_factory=runner_of)

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        *,
        engine: Any = None,
        workers: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Open a folder that `labelworth shard` wrote.

        Parameters
        ----------
        engine : "threads", "processes" or a client of dask.distributed
            Who walks through the shards; threads unless given.
        workers : int, optional
            How many threads or processes; one per processor unless given.
        checkpoint : path, optional
            A folder in which finished passes are kept: the same work, begun again, goes on where it was stopped.

        Raises
        ------
        DataUnavailableError
            If the folder is not there, or was not finished.
        InvalidInputError
            If a shard is missing or not of its size; it is named. `verify` looks at every byte.
        """
        path = Path(folder).absolute()
        manifest = Manifest.read(path)
        require_sizes(path, manifest.shards)
        runner = runner_of(engine, workers)
        return cls(path, manifest, runner if checkpoint is None else KeptRunner(runner, Path(checkpoint)))

    @classmethod
    def write(
        cls,
        folder: str | os.PathLike[str],
        data: "Samples | Sequences",
        *,
        stored_per_shard: int = SHARD_WORK,
        reading: Mapping[str, Any] | None = None,
    ) -> Self:
        """Write data that lie in memory, in shards of about as many values."""
        writer = ShardWriter(Path(folder))
        for piece in _cut(data, stored_per_shard):
            writer.add(piece)
        writer.finish(data.evidence.classes, data.feature_names, reading or {})
        return cls.open(folder)

    @cached_property
    def feature_names(self) -> tuple[str, ...] | None:
        return read_names(self.folder, self.manifest.names_digest)

    @cached_property
    def data(self) -> "Samples | Sequences":
        """What the folder holds: labels in memory, features where they are."""
        manifest = self.manifest
        parts = tuple(
            Part(
                str(self.folder / entry.name),
                manifest.kind,
                manifest.n_features,
                entry.n_stored,
                entry.digest,
                entry.n_positions,
            )
            for entry in manifest.shards
        )
        features = ShardedFeatures(parts, manifest.kind, manifest.n_features, self.runner)
        evidence = self._evidence()
        if not manifest.holds_sequences:
            return Samples(features, evidence, feature_names=self.feature_names)
        begins = np.concatenate([[0], np.cumsum([entry.n_positions for entry in manifest.shards])])
        offsets = [
            read_mapped(self.folder / entry.name, "offsets")[1:].astype(np.int64) + begin
            for entry, begin in zip(manifest.shards, begins, strict=False)
        ]
        names = self.feature_names or ()
        return Sequences(features, np.concatenate([[0], *offsets]), evidence, names)

    @property
    def vocabulary(self) -> Vocabulary | None:
        """How texts are counted; None where the data were none, or their words were hashed."""
        reading = self.manifest.reading
        if "token_pattern" not in reading or "hash_bits" in reading:
            return None
        return Vocabulary.from_mapping({**reading, "words": list(self.feature_names or ())})

    def verify(self, progress: Progress = SILENT) -> None:
        """Look at every byte of every shard, and of the names of columns; the manifest was looked at when opened.

        Raises
        ------
        InvalidInputError
            If one is not what was written; it is named.
        """
        read_names(self.folder, self.manifest.names_digest)
        with tracking(progress, "Verifying shards", len(self.manifest.shards)) as task:
            for entry in self.manifest.shards:
                require_digest(self.folder, entry)
                task.advance()

    def _evidence(self) -> Evidence:
        codes, candidates, n_sets = [], [], 0
        for entry in self.manifest.shards:
            path = self.folder / entry.name
            own = np.array(read_mapped(path, "codes"))
            if len(own) != entry.n_positions:
                raise InvalidInputError(f"The shard {str(path)!r} is damaged: it has another number of labels.")
            if (path / "candidates.npy").is_file():
                sets = np.asarray(read_mapped(path, "candidates"), dtype=np.float64)
                own = own.astype(np.int64)
                own[own < -1] -= n_sets
                n_sets += len(sets)
                candidates.append(sets)
            codes.append(own)
        n_classes = len(self.manifest.classes)
        weights = np.concatenate(candidates) if candidates else np.empty((0, n_classes))
        return Evidence(np.concatenate(codes), self.manifest.classes, weights)


class ShardWriter:
    """Writes shards one by one, each whole or not at all; the manifest comes last."""

    def __init__(self, folder: Path) -> None:
        self.folder = begun(folder)
        # What stood there before goes; without its manifest nobody takes a mixture of both for whole.
        for name in (MANIFEST, NAMES):
            (self.folder / name).unlink(missing_ok=True)
        for own in list(self.folder.iterdir()):
            if own.is_dir() and own.name.isdecimal():
                shutil.rmtree(own)
        self._kind: Kind | None = None
        self._n_features = 0
        self._names: list[str] = []
        self._gathered: list[dict[str, AnyArray]] = []

    def add(self, data: "Samples | Sequences") -> None:
        """Write one more shard."""
        self.gather(data, 0)

    def gather(self, data: "Samples | Sequences", wanted: int) -> None:
        """Take up more rows, and write a shard once there are as many values as are wanted."""
        self._kind, arrays = _arrays(data)
        self._n_features = data.n_features
        self._gathered.append(arrays)
        if sum(held[ARRAYS[self._kind][-1]].size for held in self._gathered) >= wanted:
            self._write_gathered()

    def _write_gathered(self) -> None:
        name = f"{len(self._names):06d}"
        write_arrays(self.folder / name, _joined(self._gathered))
        self._names.append(name)
        self._gathered = []

    def finish(
        self,
        classes: tuple[Hashable, ...],
        names: Sequence[str] | None,
        reading: Mapping[str, Any],
        source: str = "",
    ) -> Manifest:
        """Write what all shards share; from then on the folder can be opened."""
        if self._kind is None:
            raise InvalidInputError("There are no rows to write.")
        if self._gathered:
            self._write_gathered()
        names_digest = None if names is None else write_names(self.folder, names)
        entries = tuple(_entry(self.folder, name, self._kind) for name in self._names)
        manifest = Manifest(self._kind, self._n_features, classes, entries, reading, source, names_digest)
        manifest.write(self.folder)
        (self.folder / UNFINISHED).unlink()
        return manifest


def begun(folder: Path) -> Path:
    """The folder, marked as one that is written; what stands in it by the names of ours is replaced.

    Raises
    ------
    OutputError
        If something else stands in it, which could be lost, or it cannot be written.
    """
    path = folder / MANIFEST
    # Others have a file of that name too.
    is_whole = path.is_file() and f'"{FORMAT}"' in path.read_text(encoding="utf-8", errors="replace")
    is_ours = is_whole or (folder / UNFINISHED).is_file()
    if folder.is_dir() and not is_ours and any(folder.iterdir()):
        raise OutputError(
            f"{str(folder)!r} holds something else than shards, which could be lost. Name a new folder, or an empty "
            "one."
        )
    atomic_write(make_folder(folder) / UNFINISHED, "")
    return folder


def write_arrays(folder: Path, arrays: Mapping[str, AnyArray]) -> None:
    """A folder of arrays, whole or not at all."""
    partial = folder.with_name(f".{folder.name}.partial")
    if partial.exists():
        shutil.rmtree(partial)  # Of a run that was stopped, perhaps with arrays that this one has not.
    make_folder(partial)
    for name, array in arrays.items():
        with atomic_writer(partial / f"{name}.npy") as stream:
            np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    if folder.exists():
        shutil.rmtree(folder)
    partial.rename(folder)


def narrow(numbers: AnyArray) -> AnyArray:
    """The same numbers in the smallest type that holds them all exactly."""
    if not numbers.size:
        return numbers.astype(np.uint8)
    if numbers.dtype.kind == "f" and (numbers != np.rint(numbers)).any():
        small = numbers.astype(np.float32)
        return small if (small == numbers).all() else numbers
    low, high = numbers.min(), numbers.max()
    if max(abs(low), abs(high)) > 2**53:
        return numbers
    # A signed type of n bits holds -1 - x for every x that it holds.
    return numbers.astype(np.min_scalar_type(min(int(low), -1 - int(high)) if low < 0 else int(high)))


def _arrays(data: "Samples | Sequences") -> tuple[Kind, dict[str, AnyArray]]:
    features: Any = data.features
    arrays: dict[str, AnyArray] = {"codes": narrow(data.evidence.codes)}
    if len(data.evidence.weights):
        arrays["candidates"] = data.evidence.weights
    if isinstance(data, Sequences):
        arrays["offsets"] = narrow(data.offsets)
    if isinstance(features, sp.csr_array):
        # Signs are lost to nobody: indices are never negative.
        indices = features.indices.astype(np.int32, copy=False)
        kind: Kind = "attributes" if isinstance(data, Sequences) else "counts"
        return kind, {
            **arrays,
            "indptr": narrow(features.indptr),
            "indices": indices,
            "values": narrow(features.data),
        }
    if isinstance(data, Sequences):
        return "words", {**arrays, "words": features.astype(np.int32)}
    return "vectors", {**arrays, "vectors": narrow(features)}


def _joined(pieces: Sequence[Mapping[str, AnyArray]]) -> Mapping[str, AnyArray]:
    """The arrays of several runs of rows as those of one."""
    if len(pieces) == 1:
        return pieces[0]
    n_sets = np.cumsum([0, *(len(piece.get("candidates", ())) for piece in pieces)])
    codes = [
        np.where(piece["codes"] < -1, piece["codes"].astype(np.int64) - before, piece["codes"])
        for piece, before in zip(pieces, n_sets, strict=False)
    ]
    joined = {"codes": narrow(np.concatenate(codes))}
    for name in ("candidates", "indices", "values", "words", "vectors"):
        held = [piece[name] for piece in pieces if name in piece]
        if held:
            joined[name] = np.concatenate(held)
    for name in ("indptr", "offsets"):
        if name in pieces[0]:
            ends = [piece[name].astype(np.int64) for piece in pieces]
            before = np.cumsum([0, *(own[-1] for own in ends)])
            later = [own[1:] + begin for own, begin in zip(ends, before, strict=False)]
            joined[name] = narrow(np.concatenate([[0], *later]))
    return joined


def _entry(folder: Path, name: str, kind: Kind) -> ShardEntry:
    path = folder / name
    codes, values = read_mapped(path, "codes"), read_mapped(path, ARRAYS[kind][-1])
    n_samples = len(codes)
    if (path / "offsets.npy").is_file():
        n_samples = len(read_mapped(path, "offsets")) - 1
    digest, n_bytes = shard_digest(path)
    return ShardEntry(name, n_samples, len(codes), int(values.size), n_bytes, digest)


def _cut(data: "Samples | Sequences", stored_per_shard: int) -> Iterator[Any]:
    """Runs of whole samples of about as many values each."""
    features: Any = data.features
    if isinstance(features, sp.csr_array):
        work: AnyArray = features.indptr
    else:
        work = np.arange(features.shape[0] + 1) * (features.shape[1] if features.ndim > 1 else 1)
    if isinstance(data, Sequences):
        work = work[data.offsets]
    for first, end in shard_bounds(work, stored_per_shard):
        yield data.take(np.arange(first, end))
