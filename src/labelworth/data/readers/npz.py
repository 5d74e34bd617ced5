"""NumPy archives: a sparse matrix from scipy, or an array, with labels inside or beside it."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from labelworth.arrays import UNLABELED, AnyArray
from labelworth.data.guard import guarded, read_archive, read_array, read_sparse
from labelworth.data.readers.cells import NOT_NAMED, LabelCells, what_minus_one_means
from labelworth.data.readers.raw import RawFeatures
from labelworth.data.readers.streams import read_bytes, read_lines
from labelworth.errors import InvalidInputError

_FEATURES = ("X", "features")
_LABELS = ("y", "labels")
_PROBLEM = "is damaged or holds more than plain arrays"
_CURE = "Write it again with numpy.savez or scipy.sparse.save_npz, without arrays of objects."


def read_npz(
    path: Path, *, labels: Path | None = None, unlabeled: Hashable = NOT_NAMED, encoding: str = "utf-8"
) -> RawFeatures:
    """Read a matrix written by ``scipy.sparse.save_npz``, or an array ``X`` (or ``features``) of an archive.

    Nothing in the file is run: pickled objects are refused.

    Parameters
    ----------
    labels : path, optional
        A text file with one label per line (an empty line: unlabeled) or an ``.npy`` array. Without it, labels
        are the array ``y`` (or ``labels``) of the archive; if there is none, all rows are unlabeled.
    unlabeled : hashable
        The label of unlabeled rows. In arrays -1 unless named otherwise, as everywhere in arrays; where only
        one other label occurs, -1 may as well be a class, so it has to be named.
    """
    features, inside = _archive(path)
    if labels is not None:
        cells = read_labels(labels, unlabeled=unlabeled, encoding=encoding)
    elif inside is not None:
        cells = _array_labels(inside, unlabeled, f"{path}")
    else:
        cells = (None,) * int(features.shape[0])
    return RawFeatures(features, cells, str(path))


def read_labels(path: Path, *, unlabeled: Hashable = NOT_NAMED, encoding: str = "utf-8") -> tuple[Any, ...]:
    """Read labels from an ``.npy`` array, or from a text file with one label per line."""
    if path.suffix == ".npy":
        with guarded(path, _PROBLEM, _CURE):
            return _array_labels(read_array(read_bytes(path)), unlabeled, str(path))
    cells = LabelCells(unlabeled)
    return tuple(
        cells.read_written(line.removesuffix("\n").removesuffix("\r"), f"{path}, line {number}")
        for number, line in enumerate(read_lines(path, encoding), start=1)
    )


def _archive(path: Path) -> tuple["sp.csr_array | AnyArray", AnyArray | None]:
    """The features, and the labels if there are any."""
    content = read_bytes(path)
    with guarded(path, _PROBLEM, _CURE):
        members = read_archive(content, path)
        arrays = {name.removesuffix(".npy"): read_array(member) for name, member in members.items()}
        labels = next((arrays[name] for name in _LABELS if name in arrays), None)
        dense = next((arrays[name] for name in _FEATURES if name in arrays), None)
        if dense is None and "format" in arrays:
            return read_sparse(arrays, path), labels
    if dense is None:
        listed = ", ".join(arrays) or "nothing"
        raise InvalidInputError(
            f"{path} holds {listed:.200}, but no array X (or features). Write it with numpy.savez(path, X=X, y=y) "
            "or scipy.sparse.save_npz(path, X)."
        )
    if dense.ndim != 2:
        raise InvalidInputError(f"{path}: X must have 2 dimensions, one row per sample. Got shape {dense.shape}.")
    return dense, labels


def _array_labels(array: AnyArray, unlabeled: Hashable, source: str) -> tuple[Any, ...]:
    if array.ndim != 1 or array.dtype.kind not in "biufU":
        raise InvalidInputError(
            f"{source}: labels must be numbers or text in one dimension. Got shape {array.shape} of {array.dtype}."
        )
    with guarded(source, _PROBLEM, _CURE):  # texts may hold what is not a character
        values: list[Any] = array.tolist()
    if unlabeled is NOT_NAMED:
        if UNLABELED in values and len(set(values)) == 2:
            raise InvalidInputError(what_minus_one_means(source))
        unlabeled = UNLABELED
    cells = LabelCells(unlabeled)
    return tuple(cells.read(value, f"{source}, row {row}") for row, value in enumerate(values, start=1))
