"""The svmlight format: ``<label> <index>:<value> ...``, one sample per line."""

from collections.abc import Hashable
from io import BytesIO
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from labelworth.data.guard import guarded, require_filled
from labelworth.data.readers.cells import NOT_NAMED, LabelCells
from labelworth.data.readers.raw import RawFeatures
from labelworth.data.readers.streams import read_bytes
from labelworth.errors import InvalidInputError

_LARGEST_INDEX = np.iinfo(np.int32).max - 1
_MOST_DIGITS = 20


def read_svmlight(
    path: Path,
    *,
    unlabeled: Hashable = NOT_NAMED,
    zero_based: bool | None = None,
    n_features: int | None = None,
) -> RawFeatures:
    """Read an svmlight (libsvm) file.

    Parameters
    ----------
    unlabeled : hashable
        The label of unlabeled rows. It has to be named where -1 occurs: -1 marks unlabeled rows by our
        convention, and is a class in many files of this format. None if -1 is a class.
    zero_based : bool, optional
        Whether columns are counted from 0. Found out when absent: from 0 if a column 0 occurs, else from 1. A file
        read for a model made from another one must name what was used there.
    n_features : int, optional
        The number of columns; the largest one in the file when absent.
    """
    from sklearn.datasets import load_svmlight_file

    content = read_bytes(path)
    # scikit-learn's parser is compiled and fast, and knows no line numbers: look for the line only when it fails.
    with guarded(path, "is not an svmlight file", "Lines must read: label index:value index:value ..."):
        try:
            features, targets = load_svmlight_file(BytesIO(content), dtype=np.float64, zero_based=True)
        except (ValueError, OverflowError) as error:
            problem = _first_bad_line(path, content)
            if problem is None:
                raise
            raise InvalidInputError(problem) from error
    if not targets.size:
        raise InvalidInputError(f"{path} holds no rows. Was it written completely?")
    counts_from_zero = bool((features.indices == 0).any()) if zero_based is None else zero_based
    cells = LabelCells(unlabeled)
    labels = tuple(cells.read(target, f"{path}, row {row}") for row, target in enumerate(targets.tolist(), start=1))
    columns = _columns(path, sp.csr_array(features), counts_from_zero, n_features)
    return RawFeatures(columns, labels, str(path), counts_from_zero)


def _columns(path: Path, features: sp.csr_array, zero_based: bool, n_features: int | None) -> sp.csr_array:
    """Move the columns to where they are counted from zero, and give the matrix its width."""
    first = 0 if zero_based else 1
    if not zero_based and (features.indices == 0).any():
        raise InvalidInputError(f"{path} has a column 0, so it counts from 0. Use zero_based=True.")
    width = max(int(features.indices.max(initial=0)) + 1 - first, 1)
    if n_features is not None and width > n_features:
        raise InvalidInputError(
            f"{path} has {width} columns where {n_features} are expected. Was it made with another vocabulary?"
        )
    require_filled((features.shape[0], width), features.nnz, path)
    parts = (features.data, features.indices - first, features.indptr)
    return sp.csr_array(parts, shape=(features.shape[0], n_features or width))


def _first_bad_line(path: Path, content: bytes) -> str | None:
    """Say which line breaks the format, and how; None if none is found."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        problem = _problem(line.split(b"#", 1)[0].split())
        if problem:
            return f"{path}, line {number}: {problem}. Lines must read: label index:value index:value ..."
    return None


def _problem(words: list[bytes]) -> str | None:
    if not words:
        return None
    if not _is_number(words[0]):
        return f"the label {_shown(words[0])} is not a number"
    last = -1
    for word in words[1:]:
        index, colon, value = word.partition(b":")
        if index == b"qid" and colon:
            continue
        if not colon or not index.isdigit() or not _is_number(value):
            return f"{_shown(word)} is not index:value"
        if len(index) > _MOST_DIGITS or int(index) > _LARGEST_INDEX:
            return f"index {_shown(index)} is too large"
        if int(index) <= last:
            return f"index {int(index)} comes after {last}; indices must rise"
        last = int(index)
    return None


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _shown(word: bytes) -> str:
    return repr(word[:40].decode("ascii", errors="replace"))
