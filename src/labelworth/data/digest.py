"""Digests that say which samples a result came from: the same on every machine, whatever the index width."""

import hashlib
import json
from typing import Any

import numpy as np

from labelworth.arrays import AnyArray
from labelworth.data.readers.raw import RawTexts
from labelworth.data.samples import Samples


def samples_digest(samples: Samples) -> str:
    """The SHA-256 of features, evidence, weights and names, as ``sha256:...``.

    Equal samples have equal digests; the order of rows counts, the width of stored indices does not.
    """
    digest = _Digest()
    if samples.is_sparse:
        counts = samples.counts
        digest.add("shape", list(counts.shape))
        digest.add_array("data", counts.data)
        digest.add_array("indices", counts.indices)
        digest.add_array("indptr", counts.indptr)
    else:
        digest.add_array("vectors", samples.vectors)
    evidence = samples.evidence
    # The type is part of the name: the classes 1 and "1" are different.
    digest.add("classes", [[type(name).__name__, str(name)] for name in evidence.classes])
    digest.add_array("codes", evidence.codes)
    digest.add_array("candidate sets", evidence.weights)
    digest.add_array("weights", samples.sample_weights)
    digest.add("feature names", samples.feature_names)
    return digest.text()


def texts_digest(*corpora: RawTexts) -> str:
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
