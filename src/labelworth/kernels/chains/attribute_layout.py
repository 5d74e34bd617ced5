"""How the attributes of tokens lie in memory for a training pass, cut into shards of whole sequences.

An attribute that goes with few labels is a short list of (label, weight); one that goes with many is a row over all
labels, which vector registers add at once. Every shard has its own copy of the weights it needs, rows first and
listed ones behind, and sums of the same form: threads never write to the same position, and sums of shards are
added in their order, whoever made them.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.kernels.rows.tables import padded_width

SHARD_TOKENS = 1 << 15
"""About how many tokens a shard holds."""

ROW_LABELS = 4
"""From how many labels on an attribute is a row."""


class AttributeLayout(NamedTuple):
    """The attributes of all tokens, and where their weights lie."""

    width: int  # Columns of a row, `padded_width` of the labels.
    shards: IntArray  # (n_shards + 1,): The sequences at which shards begin, and their end.
    buffers: IntArray  # (n_shards + 1,): Where the weights of each shard begin in a flat buffer.
    lists: IntArray  # (n_shards,): Where the listed weights of each shard begin in that buffer, behind its rows.
    row_starts: IntArray  # CSR: the rows of every token, numbered within the shard.
    row_index: AnyArray
    row_values: AnyArray
    list_starts: IntArray  # CSR: the listed weights of every token, numbered within the shard, and their labels.
    list_index: AnyArray
    list_labels: AnyArray
    list_values: AnyArray
    feature_starts: IntArray  # (n_shards + 1,): Where the features of each shard begin in the next two.
    features: AnyArray  # The features that occur in a shard, ascending, and where their weights lie in the buffer.
    positions: IntArray


class _Shard(NamedTuple):
    """One shard before all are put behind each other."""

    row_counts: IntArray
    row_index: IntArray
    row_values: AnyArray
    list_counts: IntArray
    list_index: IntArray
    list_labels: IntArray
    list_values: AnyArray
    features: IntArray
    positions: IntArray
    n_rows: int
    n_listed: int


def make_layout(
    attributes: sp.csr_array, offsets: IntArray, feature_starts: IntArray, feature_labels: IntArray, n_labels: int
) -> AttributeLayout:
    """Lay out the attributes of tokens.

    Parameters
    ----------
    attributes : CSR array of shape (n_tokens, n_attributes)
    offsets : integer array of shape (n_sequences + 1,)
    feature_starts, feature_labels : integer arrays
        CSR: the labels that each attribute goes with; features are numbered in this order.
    n_labels : int
    """
    shards = shard_bounds(offsets, SHARD_TOKENS)
    single = bool((attributes.data.astype(np.float32) == attributes.data).all())
    values = attributes.data.astype(np.float32 if single else np.float64)
    parts = [
        _one_shard(attributes, values, offsets[first], offsets[last], feature_starts, feature_labels, n_labels)
        for first, last in pairwise(shards.tolist())
    ]
    width = padded_width(n_labels)
    sizes = np.array([part.n_rows * width + -(-part.n_listed // 8) * 8 for part in parts], dtype=np.int64)
    buffers = _starts(sizes)
    lists = buffers[:-1] + np.array([part.n_rows * width for part in parts], dtype=np.int64)
    return AttributeLayout(
        width,
        shards,
        buffers,
        lists,
        _starts(np.concatenate([part.row_counts for part in parts])),
        np.concatenate([part.row_index for part in parts]).astype(np.int32),
        np.concatenate([part.row_values for part in parts]),
        _starts(np.concatenate([part.list_counts for part in parts])),
        np.concatenate([part.list_index for part in parts]).astype(np.int32),
        np.concatenate([part.list_labels for part in parts]).astype(np.int32),
        np.concatenate([part.list_values for part in parts]),
        _starts(np.array([len(part.features) for part in parts], dtype=np.int64)),
        np.concatenate([part.features for part in parts]).astype(np.int32),
        np.concatenate([part.positions + start for part, start in zip(parts, buffers[:-1], strict=True)]),
    )


def shard_bounds(offsets: IntArray, size: int) -> IntArray:
    """Cut sequences into shards of about `size` tokens, all of one size but for whole sequences."""
    n_shards = max(1, round(int(offsets[-1]) / size))
    targets = np.linspace(0, int(offsets[-1]), n_shards + 1)[1:-1]
    return np.unique(np.concatenate([[0], np.searchsorted(offsets, targets), [len(offsets) - 1]])).astype(np.int64)


def _one_shard(
    attributes: sp.csr_array,
    values: AnyArray,
    first: int,
    last: int,
    feature_starts: IntArray,
    feature_labels: IntArray,
    n_labels: int,
) -> _Shard:
    inside = slice(int(attributes.indptr[first]), int(attributes.indptr[last]))
    attribute = attributes.indices[inside].astype(np.int64)
    token = np.repeat(np.arange(last - first), np.diff(attributes.indptr[first : last + 1]))
    n_labels_of = np.diff(feature_starts)[attribute]
    is_row, is_listed = n_labels_of >= ROW_LABELS, (n_labels_of > 0) & (n_labels_of < ROW_LABELS)

    row_attributes, row_index = np.unique(attribute[is_row], return_inverse=True)
    row_features, row_owner = _features_of(row_attributes, feature_starts)
    width = padded_width(n_labels)
    row_positions = row_owner * width + feature_labels[row_features]

    listed, owner = _features_of(attribute[is_listed], feature_starts)
    list_features, list_index = np.unique(listed, return_inverse=True)
    list_positions = len(row_attributes) * width + np.arange(len(list_features))
    features = np.concatenate([row_features, list_features])
    order = np.argsort(features)
    positions = np.concatenate([row_positions, list_positions])
    return _Shard(
        np.bincount(token[is_row], minlength=last - first),
        row_index,
        values[inside][is_row],
        np.bincount(token[is_listed][owner], minlength=last - first),
        list_index,
        feature_labels[listed],
        values[inside][is_listed][owner],
        features[order],
        positions[order],
        len(row_attributes),
        len(list_features),
    )


def _features_of(attributes: IntArray, feature_starts: IntArray) -> tuple[IntArray, IntArray]:
    """All features of each attribute in turn, and the position of the attribute that each belongs to."""
    counts = feature_starts[attributes + 1] - feature_starts[attributes]
    owner = np.repeat(np.arange(len(attributes)), counts)
    ends = np.cumsum(counts)
    return feature_starts[attributes][owner] + np.arange(len(owner)) - (ends - counts)[owner], owner


def _starts(counts: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def observed_features(
    attributes: sp.csr_array, labels: IntArray, token_weights: FloatArray, starts: IntArray, feature_labels: IntArray
) -> FloatArray:
    """How often every feature occurs at tokens whose label is known (not negative), weighted, (n_features,)."""
    n_labels = int(feature_labels.max(initial=0)) + 1
    token = np.repeat(np.arange(attributes.shape[0]), np.diff(attributes.indptr))
    known = (labels >= 0)[token]
    token, attribute = token[known], attributes.indices[known].astype(np.int64)
    keys = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * n_labels + feature_labels
    wanted = attribute * n_labels + labels[token]
    in_range = labels[token] < n_labels
    position = np.searchsorted(keys, wanted)
    is_feature = in_range & (position < len(keys))
    is_feature[is_feature] = keys[position[is_feature]] == wanted[is_feature]
    amounts = (attributes.data[known] * token_weights[token])[is_feature]
    return np.bincount(position[is_feature], weights=amounts, minlength=len(keys)).astype(np.float64, copy=False)
