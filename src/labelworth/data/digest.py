"""Digests that say which data a result came from: the same on every machine, whatever the index width."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray
from labelworth.data.readers.streams import on_disk
from labelworth.errors import DataUnavailableError

if TYPE_CHECKING:
    from labelworth.data.readers.raw import RawTexts
    from labelworth.data.rows import Rows
    from labelworth.data.sequences import Sequences


def data_digest(data: "Rows | Sequences") -> str:
    """The SHA-256 of features, lengths, evidence, weights and names, as ``sha256:...``.

    Equal data have equal digests; the order of rows counts, the width of stored indices does not.
    """
    digest = _Digest()
    features: Any = data.features
    if isinstance(features, sp.csr_array):
        digest.add("shape", list(features.shape))
        for name in ("data", "indices", "indptr"):
            digest.add_array(name, getattr(features, name))
    elif isinstance(features, np.ndarray) and features.dtype.kind in "fiub":
        digest.add_array("features", features)
    else:
        # Texts, frames, other sparse matrices: as joblib sees them.
        from joblib import hash as joblib_hash

        digest.add("features", joblib_hash(features, hash_name="sha1"))
    digest.add_array("lengths", data.lengths)
    evidence = data.evidence
    # The type is part of the name: the classes 1 and "1" are different.
    digest.add("classes", [[type(name).__name__, str(name)] for name in evidence.classes])
    digest.add_array("codes", evidence.codes)
    digest.add_array("candidate sets", evidence.weights)
    if evidence.judged is not None:
        digest.add_array("judged", evidence.judged)
    weights = getattr(data, "weights", None)
    digest.add_array("weights", np.ones(data.n_samples) if weights is None else weights)
    digest.add("feature names", getattr(data, "feature_names", None))
    return digest.text()


def arrays_digest(arrays: Mapping[str, AnyArray]) -> str:
    """The SHA-256 of named arrays, as ``sha256:...``; their order does not count."""
    digest = _Digest()
    for name in sorted(arrays):
        digest.add_array(name, arrays[name])
    return digest.text()


def bytes_digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def file_digest(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, or of a folder with all its files, as ``sha256:...``."""
    try:
        if Path(path).is_dir():
            digest = _Digest()
            for inner in sorted(inner for inner in Path(path).rglob("*") if inner.is_file()):
                digest.add(inner.relative_to(path).as_posix(), file_digest(inner))
            return digest.text()
        with on_disk(Path(path)).open("rb") as stream:
            return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
    except OSError as error:
        raise DataUnavailableError(f"Cannot read {str(path)!r}: {error.strerror or error}.") from error


def texts_digest(*corpora: "RawTexts") -> str:
    """The SHA-256 of texts and labels, as ``sha256:...``; where they were read from does not count."""
    digest = _Digest()
    for raw in corpora:
        for text, label in zip(raw.texts, raw.labels, strict=True):
            digest.add("row", [text, label])
    return digest.text()


class _Digest:
    """A SHA-256 of named parts, each preceded by its name and size so that no two sequences of parts look alike."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, name: str, value: Any) -> None:
        self._part(name, json.dumps(value).encode())

    def add_array(self, name: str, array: AnyArray) -> None:
        kind = "<f8" if array.dtype.kind == "f" else "<i8"
        plain = np.ascontiguousarray(array, dtype=kind)
        self._part(f"{name} {plain.shape} {kind}", plain.data)

    def text(self) -> str:
        return f"sha256:{self._hash.hexdigest()}"

    def _part(self, name: str, content: "bytes | memoryview") -> None:
        size = content.nbytes if isinstance(content, memoryview) else len(content)
        self._hash.update(f"{name}\n{size}\n".encode())
        self._hash.update(content)
