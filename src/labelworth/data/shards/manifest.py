"""What a folder of shards says of itself: rows, stored values and digests of every shard, classes and names.

A folder holds `manifest.json`, written last, with a digest of itself; `names.txt`, a name of a column per line; and a
folder per shard with arrays of NumPy: ``codes`` of labels (``candidates`` where there are sets), and features.

    counts       indptr, indices, values (narrow types), of documents
    vectors      vectors
    words        offsets, words, of sequences
    attributes   offsets, indptr, indices, values
"""

import hashlib
import json
import mmap
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np

from labelworth.arrays import AnyArray
from labelworth.data.digest import bytes_digest
from labelworth.data.files import atomic_write, make_folder
from labelworth.data.guard import guarded
from labelworth.data.readers.json_files import read_json
from labelworth.errors import DataUnavailableError, InvalidInputError

FORMAT, VERSION = "labelworth-shards", 2
MANIFEST, NAMES = "manifest.json", "names.txt"
UNFINISHED = ".unfinished"
"""Marks a folder that is being written, until its manifest is there."""
Kind = Literal["counts", "vectors", "words", "attributes"]
ARRAYS: Mapping[Kind, tuple[str, ...]] = {
    "counts": ("indptr", "indices", "values"),
    "vectors": ("vectors",),
    "words": ("words",),
    "attributes": ("indptr", "indices", "values"),
}
"""The arrays of the features."""
SPARSE: tuple[Kind, ...] = ("counts", "attributes")
_SEQUENCES: tuple[Kind, ...] = ("words", "attributes")
_CURE = "Copy the shard again, or make the folder again with `labelworth shard`."


@dataclass(frozen=True)
class ShardEntry:
    """One shard."""

    name: str  # Of its folder.
    n_samples: int  # Documents, or sequences.
    n_positions: int  # Labels there could be: documents, or tokens.
    n_stored: int  # Values.
    n_bytes: int  # Of all its files.
    digest: str  # SHA-256 of all its files.


@dataclass(frozen=True)
class Manifest:
    """All shards of a folder."""

    kind: Kind
    n_features: int
    classes: tuple[Hashable, ...]
    shards: tuple[ShardEntry, ...]
    reading: Mapping[str, Any]  # How features were made of text, as JSON knows it.
    source: str = ""  # Where the data came from, in words.
    names_digest: str | None = None  # SHA-256 of the names of the columns; None: they have none.

    @property
    def holds_sequences(self) -> bool:
        return self.kind in _SEQUENCES

    @property
    def n_samples(self) -> int:
        return sum(entry.n_samples for entry in self.shards)

    @property
    def n_stored(self) -> int:
        return sum(entry.n_stored for entry in self.shards)

    @property
    def n_bytes(self) -> int:
        return sum(entry.n_bytes for entry in self.shards)

    @property
    def digest(self) -> str:
        """Of all there is; the same data in the same cut have the same."""
        return f"sha256:{hashlib.sha256(self._text().encode()).hexdigest()}"

    def write(self, folder: Path) -> None:
        atomic_write(folder / MANIFEST, self._text(digest=self.digest))

    def _text(self, **more: str) -> str:
        head = {"format": FORMAT, "version": VERSION}
        return json.dumps({**head, **asdict(self), **more}, indent=1, sort_keys=True) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read it back, checking everything.

        Raises
        ------
        DataUnavailableError
            If the folder has none: it was never finished, or is none of shards.
        InvalidInputError
            If it is damaged.
        """
        path = folder / MANIFEST
        if not path.is_file():
            raise DataUnavailableError(
                f"{str(folder)!r} is no folder of shards, or was not finished: it has no {MANIFEST}. Run `labelworth "
                "shard` (again): it goes on where it was stopped."
            )
        given = read_json(path, "manifest of shards")
        with guarded(path, "is not a manifest of shards", _CURE):
            if given["format"] == FORMAT and given["version"] == 1:
                raise ValueError("it is of version 1, which held no digests of names and of itself")
            if given["format"] != FORMAT or given["version"] != VERSION or given["kind"] not in get_args(Kind):
                raise ValueError(f"it is of another format or version than {FORMAT} {VERSION}")
            entries = tuple(ShardEntry(**entry) for entry in given["shards"])
            if any(not entry.name.isdecimal() or entry.n_samples < 1 for entry in entries) or not entries:
                raise ValueError("a shard is not called by its number, or has no rows")
            parts = (given[name] for name in ("n_features", "classes", "reading", "source", "names_digest", "digest"))
            n_features, classes, reading, source, names_digest, digest = parts
            manifest = cls(given["kind"], n_features, tuple(classes), entries, reading, source, names_digest)
            if manifest.digest != digest:
                raise ValueError("it was changed after it was written")
            return manifest


def is_folder_of_shards(path: Path) -> bool:
    return (path / MANIFEST).is_file()


def refuse_shards(path: Path) -> None:
    """Of those who need texts.

    Raises
    ------
    InvalidInputError
        If the path is a folder of shards.
    """
    if is_folder_of_shards(path):
        raise InvalidInputError(
            f"{path} is a folder of shards, which hold counts and no texts. Give the file that they were made of; as "
            "a table, shards are written by `labelworth shard FOLDER --to-parquet OUT`."
        )


def shard_digest(folder: Path) -> tuple[str, int]:
    """The SHA-256 of all files of a shard, in order of their names, and how many bytes they are."""
    digest, n_bytes = hashlib.sha256(), 0
    for path in sorted(folder.glob("*.npy")):
        with path.open("rb") as stream:
            digest.update(path.name.encode() + hashlib.file_digest(stream, "sha256").digest())
        n_bytes += path.stat().st_size
    return f"sha256:{digest.hexdigest()}", n_bytes


def read_mapped(folder: Path, name: str) -> AnyArray:
    """An array of a shard, of which nothing is read before it is used."""
    path = folder / f"{name}.npy"
    with guarded(f"The shard {str(folder)!r}", f"is damaged: {name} cannot be read", _CURE):
        array: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
        if array.dtype.kind not in "iuf":
            raise ValueError(f"values of type {array.dtype} are no numbers")
        return array


def forget(mapped: AnyArray) -> None:
    """Count what was read of an array by `read_mapped` as memory no more; where it is asked for again it is there."""
    file: Any = mapped.base
    if isinstance(file, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        file.madvise(mmap.MADV_DONTNEED)


def require_sizes(folder: Path, entries: Sequence[ShardEntry]) -> None:
    """Refuse shards that are missing or not of their size: what can be told without reading them."""
    for entry in entries:
        path = folder / entry.name
        n_bytes = sum(file.stat().st_size for file in path.glob("*.npy")) if path.is_dir() else None
        if n_bytes != entry.n_bytes:
            held = (
                "is missing" if n_bytes is None else f"holds {n_bytes:,} bytes where {entry.n_bytes:,} were written"
            )
            raise InvalidInputError(f"The shard {str(path)!r} {held}. {_CURE}")


def require_digest(folder: Path, entry: ShardEntry) -> None:
    """Refuse a shard that is not what was written, by its content."""
    if shard_digest(folder / entry.name)[0] != entry.digest:
        raise InvalidInputError(_changed(folder / entry.name))


_INTACT: set[tuple[object, ...]] = set()
"""Shards whose bytes this process has looked at, with their digests, sizes and times of change."""


def require_intact(folder: Path, digest: str) -> None:
    """Refuse a shard that is not what was written; every byte is looked at once, and again where a file changed.

    Raises
    ------
    InvalidInputError
        It names the shard.
    """
    states = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.glob("*.npy"))]
    if not states:
        raise InvalidInputError(
            f"The shard {str(folder)!r} is not there. Whoever reads it, also a worker of a cluster, must see "
            "the folder under that path."
        )
    key = (str(folder), digest, *states)
    if key not in _INTACT:
        if shard_digest(folder)[0] != digest:
            raise InvalidInputError(_changed(folder))
        _INTACT.add(key)


def _changed(folder: Path) -> str:
    return f"The shard {str(folder)!r} is damaged: it was changed after it was written. {_CURE}"


def write_names(folder: Path, names: Sequence[str]) -> str:
    """A name per line, in JSON's writing, as names may hold anything; their digest."""
    make_folder(folder)
    content = "".join(f"{json.dumps(name, ensure_ascii=False)}\n" for name in names).encode()
    atomic_write(folder / NAMES, content)
    return bytes_digest(content)


def read_names(folder: Path, digest: str | None) -> tuple[str, ...] | None:
    """The names of the columns, which must be those that were written; None where there are none."""
    if digest is None:
        return None
    path = folder / NAMES
    with guarded(path, "does not hold the names of the columns", _CURE):
        content = path.read_bytes()
        if bytes_digest(content) != digest:
            raise ValueError("it was changed after it was written")
        return tuple(json.loads(line) for line in content.decode().split("\n")[:-1])
