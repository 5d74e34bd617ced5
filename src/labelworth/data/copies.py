"""Rows that are the same: a copy of a row that was learned from is no test."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import IntArray
from labelworth.data.protocol import Data

_FEWEST_WORDS = 5
"""Rows of fewer words are alike by chance, and will be in use."""


def first_copies(data: Data, rows: IntArray) -> IntArray:
    """Which of these rows is the first that each is a copy of; one that is nobody's copy is its own, (n_rows,).

    Texts, and counts of words, are looked at where they have five words or more, vectors where some number is not
    whole: what is poorer repeats by chance. Nothing is known of copies among other data.
    """
    features = getattr(data, "features", None)
    firsts: dict[Any, int] = {}
    return np.array(
        [
            index if (key := _key(features, int(row))) is None else firsts.setdefault(key, index)
            for index, row in enumerate(rows)
        ],
        dtype=np.int64,
    )


def _key(features: Any, row: int) -> Any:
    """What only copies share; None: it cannot be told."""
    if isinstance(features, sp.csr_array | sp.csr_matrix):
        part = slice(features.indptr[row], features.indptr[row + 1])
        words, counts = features.indices[part], features.data[part]
        return (words.tobytes(), counts.tobytes()) if len(words) >= _FEWEST_WORDS else None
    if isinstance(features, np.ndarray) and features.ndim == 2 and features.dtype.kind == "f":
        vector = features[row]
        return vector.tobytes() if (vector != np.rint(vector)).any() else None
    if isinstance(features, list | np.ndarray) and isinstance(features[row], str):
        words = features[row].split()
        return tuple(words) if len(words) >= _FEWEST_WORDS else None
    return None
