"""The doors for features: anything array-like becomes clean sparse counts or dense vectors, or is refused."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, FloatArray, IntArray, require_between, require_finite
from labelworth.data.guard import require_sound
from labelworth.errors import InvalidInputError

_LARGEST_SMALL_INDEX = np.iinfo(np.int32).max


def as_counts(features: Any, *, name: str = "X") -> sp.csr_array:
    """Read word counts as a clean CSR array of doubles.

    Parameters
    ----------
    features : scipy sparse matrix or array, data frame, or anything array-like, of shape (n, n_features)
        Non-negative and finite. Whole numbers are not required: rescaled documents have none.
        Never changed, and never made dense; memory may be shared when it is already clean.

    Returns
    -------
    CSR array of shape (n, n_features)
        Sorted, without duplicates or stored zeros, with 32-bit indices where they fit.

    Raises
    ------
    InvalidInputError
        If it is not two-dimensional, not numbers, negative, NaN or infinite.

    Examples
    --------
    >>> as_counts([[0, 2], [1, 0]]).indices.tolist()
    [1, 0]
    """
    counts = _compressed(features, name) if sp.issparse(features) else sp.csr_array(_matrix(features, name))
    counts = _with_small_indices(counts)
    # Both steps below work in place on arrays that may be the caller's: copy before the first one.
    if not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
    if counts.nnz and not counts.data.all():
        counts = counts.copy()
        counts.eliminate_zeros()
    _require_counts(name, counts)
    return counts


def as_vectors(features: Any, *, name: str = "X") -> FloatArray:
    """Read dense vectors (embeddings, measurements) as a contiguous array of finite doubles, shape (n, n_features).

    Raises
    ------
    InvalidInputError
        If it is sparse, not two-dimensional, not numbers, NaN or infinite.
    """
    if sp.issparse(features):
        raise InvalidInputError(
            f"{name} must be dense vectors. Got a sparse matrix instead; "
            "use X.toarray() if it fits in memory, or a model of counts."
        )
    vectors = _matrix(features, name)
    require_finite(name, vectors)
    return vectors


def document_lengths(counts: sp.csr_array) -> FloatArray:
    """How many words each document has, shape (n,)."""
    return np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()


def rescale_documents(counts: sp.csr_array, length: float, *, only_longer: bool = False) -> sp.csr_array:
    r"""Give every document, or only every longer one, the same effective length.

    Row i becomes :math:`c_{iw} \cdot \text{length} / \sum_v c_{iv}`: the words keep their shares. The multinomial
    model takes the words of a document for independent, which overstates what long documents say; a fixed length
    (9 to 100) undoes much of that. Empty documents stay empty.

    Raises
    ------
    InvalidInputError
        If `length` is not positive and finite.

    Examples
    --------
    >>> rescale_documents(as_counts([[3, 1], [0, 0]]), 20).toarray().tolist()
    [[15.0, 5.0], [0.0, 0.0]]
    """
    require_between("length", length, 0.0, float(np.finfo(np.float64).max), open_low=True)
    row_sizes = np.diff(counts.indptr)
    # Divide first: the shares lie in [0, 1], so counts of any size neither overflow nor lose their ratio.
    own = np.repeat(document_lengths(counts), row_sizes)
    data = counts.data / own * (np.minimum(own, length) if only_longer else length)
    return sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


def inverse_document_weights(counts: sp.csr_array) -> FloatArray:
    """log(documents / documents with the word), shape (n_features,); a word of every document tells nothing.

    Examples
    --------
    >>> inverse_document_weights(as_counts([[1, 2], [1, 0]])).round(3).tolist()
    [0.0, 0.693]
    """
    return rarity(counts.shape[0], documents_with(counts))


def documents_with(counts: sp.csr_array) -> IntArray:
    """How many documents hold each word, shape (n_features,)."""
    return np.bincount(counts.indices, minlength=int(counts.shape[1]))


def rarity(n_documents: int, n_holding: IntArray) -> FloatArray:
    """log(documents / documents with the word); one that no document holds weighs nothing either way."""
    weights: FloatArray = np.log(n_documents / np.maximum(n_holding, 1))
    return weights


def _matrix(features: Any, name: str) -> FloatArray:
    """Read a dense matrix of doubles, without looking at the values."""
    try:
        array: AnyArray = np.asarray(features)
    except ValueError as error:
        raise InvalidInputError(f"{name} must have rows of equal length; {error}.") from error
    _require_matrix(name, array.shape)
    if array.dtype.kind not in "biufO":
        raise InvalidInputError(f"{name} must be numbers. Got {_kind(array)} instead; turn text into counts first.")
    try:
        with np.errstate(over="ignore"):  # what overflows becomes infinite, and is refused as such
            return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"{name} must be numbers; {error}.") from error


def _compressed(features: Any, name: str) -> sp.csr_array:
    """Read a sparse matrix as CSR of doubles, sharing memory where it can."""
    _require_matrix(name, features.shape)
    if features.dtype.kind not in "biuf":
        raise InvalidInputError(f"{name} must be numbers. Got {_kind(features)} instead.")
    require_sound(features, name=name)
    compressed = features.tocsr()
    with np.errstate(over="ignore"):
        data = np.asarray(compressed.data, dtype=np.float64)
    # Built anew from its parts: the flags "sorted" and "no duplicates" of the given matrix may be stale.
    return sp.csr_array((data, compressed.indices, compressed.indptr), shape=compressed.shape)


def _with_small_indices(counts: sp.csr_array) -> sp.csr_array:
    """Store the indices in 32 bits where they fit: half the memory to walk through."""
    small = max(counts.nnz, *counts.shape) <= _LARGEST_SMALL_INDEX
    if not small or counts.indices.dtype == counts.indptr.dtype == np.int32:
        return counts
    parts = (counts.data, counts.indices.astype(np.int32), counts.indptr.astype(np.int32))
    return sp.csr_array(parts, shape=counts.shape)


def _require_matrix(name: str, shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        cure = " Use X.reshape(1, -1) for a single sample." if len(shape) == 1 else ""
        raise InvalidInputError(
            f"{name} must have 2 dimensions, one row per sample. Got shape {shape} instead.{cure}"
        )
    if shape[1] == 0:
        raise InvalidInputError(f"{name} must have at least one column. Got shape {shape} instead.")


def _require_counts(name: str, counts: sp.csr_array) -> None:
    finite = np.isfinite(counts.data)
    if not finite.all():
        row, column = _row_and_column(counts, int(np.argmin(finite)))
        raise InvalidInputError(
            f"{name} must be finite. Got {counts.data[np.argmin(finite)]} at row {row}, column {column} "
            f"({int((~finite).sum())} such value(s), NaN or infinity); remove or impute them."
        )
    if counts.nnz and counts.data.min() < 0:
        row, column = _row_and_column(counts, int(np.argmin(counts.data)))
        raise InvalidInputError(
            f"Negative values in {name}: counts must be non-negative. Got {counts.data.min():g} at row {row}, "
            f"column {column}; for measurements that may be negative use a Gaussian model on dense vectors."
        )
    with np.errstate(over="ignore"):
        total = counts.data.sum()
    if not np.isfinite(total):
        raise InvalidInputError(f"The counts in {name} add up to more than a double can hold; divide them all.")


def _row_and_column(counts: sp.csr_array, position: int) -> tuple[int, int]:
    row = int(np.searchsorted(counts.indptr, position, side="right")) - 1
    return row, int(counts.indices[position])


def _kind(array: Any) -> str:
    return "complex numbers" if array.dtype.kind == "c" else f"values of type {array.dtype}"


def all_counts(total: int, n_bins: int) -> IntArray:
    """Every way of spreading `total` equal things over bins, one per row: bags of words, tallies of votes.

    Examples
    --------
    >>> all_counts(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    columns: list[IntArray] = []
    left = np.array([total])
    for _ in range(n_bins - 1):
        choices = left + 1
        parent = np.repeat(np.arange(len(left)), choices)
        first = np.cumsum(choices) - choices
        taken = np.arange(len(parent)) - first[parent]
        columns = [*(column[parent] for column in columns), taken]
        left = left[parent] - taken
    return np.stack([*columns, left], axis=1)
