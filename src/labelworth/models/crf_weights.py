"""The weights of a CRF as they are stored: attribute by attribute, those that are parameters and no others."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from labelworth.arrays import BoolArray, FloatArray, IntArray, as_floats, require_finite, require_shape
from labelworth.errors import InvalidInputError


def as_listed(emission: "ArrayLike | sp.csc_array", n_labels: int) -> sp.csc_array:
    """CSC of shape (K, n_features), sorted; every entry of a dense array is stored, zeros too."""
    if isinstance(emission, sp.sparray):
        listed = sp.csc_array(emission)
        listed.sum_duplicates()
    else:
        dense = as_floats("emission weights", emission, ndim=2)
        n_rows, n_columns = dense.shape
        rows = np.tile(np.arange(n_rows), n_columns)
        listed = sp.csc_array((dense.T.ravel(), rows, n_rows * np.arange(n_columns + 1)), dense.shape)
    listed.data = np.ascontiguousarray(listed.data, dtype=np.float64)
    require_finite("emission weights", listed.data)
    if listed.shape[0] != n_labels or listed.shape[1] < 1:
        raise InvalidInputError(
            f"emission weights need a row for each of the {n_labels} labels and at least one column. "
            f"Got shape {listed.shape}."
        )
    return listed


def as_support(support: "BoolArray | None", transition: FloatArray) -> "BoolArray | None":
    """Which transitions are parameters; None if all are. The others must be zero."""
    if support is None:
        return None
    support = np.asarray(support, dtype=bool)
    require_shape("transition support", support, transition.shape)
    if transition[~support].any():
        raise InvalidInputError("Transitions that are no parameters must be zero.")
    return None if support.all() else support


def listed_places(emission: sp.csc_array) -> IntArray:
    """Where the stored entries lie in the dense table, row by row, ascending."""
    columns = np.repeat(np.arange(emission.shape[1], dtype=np.int64), np.diff(emission.indptr))
    return np.sort(emission.indices.astype(np.int64) * emission.shape[1] + columns)


def restored_emission(pattern: sp.csc_array, table: FloatArray) -> sp.csc_array:
    """A dense table in the pattern of stored entries; an error if it has weights elsewhere."""
    require_shape("emission weights", table, pattern.shape)
    columns = np.repeat(np.arange(pattern.shape[1]), np.diff(pattern.indptr))
    kept = sp.csc_array((table[pattern.indices, columns], pattern.indices, pattern.indptr), pattern.shape)
    if np.count_nonzero(table) > np.count_nonzero(kept.data):
        raise InvalidInputError("Emission weights that are no parameters must be zero.")
    return kept


def sums_by_sequence(attributes: sp.csr_array, offsets: IntArray, at_tokens: FloatArray) -> FloatArray:
    """Attributes times what is expected of the labels, summed over every sequence, (n_sequences, K, n_attributes)."""
    n_tokens, n_sequences = len(at_tokens), len(offsets) - 1
    members = sp.csr_array((np.ones(n_tokens), np.arange(n_tokens), offsets), (n_sequences, n_tokens))
    sums = np.empty((n_sequences, at_tokens.shape[1], attributes.shape[1]))
    token = np.repeat(np.arange(n_tokens), np.diff(attributes.indptr))
    for label in range(at_tokens.shape[1]):
        scaled = sp.csr_array(
            (attributes.data * at_tokens[token, label], attributes.indices, attributes.indptr), attributes.shape
        )
        sums[:, label] = (members @ scaled).toarray()
    return sums
