"""Attribute files of CRFsuite."""

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from labelworth.data.readers.crfsuite import UNSEEN_LABEL, WEIGHT
from labelworth.data.readers.raw_sequences import RawAttributes
from labelworth.data.writers.text_file import write_lines
from labelworth.errors import InvalidInputError


def write_crfsuite(path: str | os.PathLike[str], raw: RawAttributes) -> None:
    """Write tokens with their attributes; `read_crfsuite` and CRFsuite itself read them.

    Parameters
    ----------
    path : path
        Packed with gzip if it ends in ``.gz``.
    raw : RawAttributes
        A label that was not seen is written ``?``. Weights of one are left out.

    Raises
    ------
    InvalidInputError
        If something cannot be written so that it is read back as it was: an empty name, one with a tab or a line
        end, a candidate set, a label ``?`` or one that begins with ``@``.
    OutputError
        If the file cannot be written.
    """
    names = [_escaped(name, "attribute") for name in raw.names]
    labels = [_label(label) for label in raw.labels]
    write_lines(path, _lines(raw, names, labels))


def _lines(raw: RawAttributes, names: list[str], labels: list[str]) -> Iterator[str]:
    rows = raw.attributes
    starts, columns, values = rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()
    offsets = raw.offsets.tolist()
    for sequence, (first, end) in enumerate(pairwise(offsets)):
        if raw.weights is not None and raw.weights[sequence] != 1.0:
            yield f"{WEIGHT}:{float(raw.weights[sequence])!r}\n"
        for token in range(first, end):
            entries = range(starts[token], starts[token + 1])
            yield "\t".join([labels[token], *(_attribute(names[columns[e]], values[e]) for e in entries)]) + "\n"
        yield "\n"


def _attribute(name: str, value: float) -> str:
    return name if value == 1.0 else f"{name}:{value!r}"


def _label(label: Any) -> str:
    if label is None:
        return UNSEEN_LABEL
    if isinstance(label, list | tuple | set | frozenset):
        raise InvalidInputError(f"Attribute files cannot hold the candidate set {label!r}. Write JSON lines.")
    if label == UNSEEN_LABEL or str(label).startswith("@") or not str(label).strip():
        raise InvalidInputError(f"The label {label!r} would not be read as a label. Call it something else.")
    return _escaped(str(label), "label")


def _escaped(name: str, what: str) -> str:
    if not name or any(character in name for character in "\t\r\n"):
        raise InvalidInputError(
            f"Attribute files cannot hold the {what} {name!r}: it is empty, or has a tab or line end."
        )
    return name.replace("\\", "\\\\").replace(":", "\\:")
