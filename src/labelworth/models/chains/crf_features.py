"""Which weights a CRF has: pairs of an attribute and a label, and pairs of neighboring labels."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from labelworth.arrays import BoolArray, FloatArray, IntArray, as_floats, require_finite, require_shape
from labelworth.data.sequences import Sequences
from labelworth.data.shards.passes import AsTheyAre, PassesOverShards, is_sharded
from labelworth.errors import InvalidInputError

Pairs = Literal["observed", "all"]
"""Weights for what the labels name somewhere, or for everything."""


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """The weights of a CRF, by what they stand for."""

    # (n_attributes + 1,) and (n_features,): CSR: the labels that each attribute has a weight with, ascending.
    starts: IntArray
    labels: IntArray
    transitions: BoolArray  # (K, K): The pairs of neighboring labels that have a weight.

    @property
    def n_attributes(self) -> int:
        """How many attributes there are."""
        return len(self.starts) - 1

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.transitions)

    @property
    def n_features(self) -> int:
        """How many pairs of an attribute and a label have a weight."""
        return len(self.labels)

    @property
    def n_weights(self) -> int:
        """How many weights there are in all but those of the start."""
        return self.n_features + int(self.transitions.sum())


def feature_set(sequences: Sequences, pairs: Pairs = "observed", *, min_count: int = 1) -> FeatureSet:
    """The weights that these sequences call for.

    "all" is every attribute beside every label, and every pair of labels. "observed" is, as in CRFsuite,

    - an attribute and a label if some token has the attribute, and its evidence *names* the label: a gold label, or
      one of a candidate set. A token of which nothing is known names nothing; else one unlabeled token would give
      all its attributes weights with all labels, of which it says next to nothing;
    - two labels if the evidence *allows* them at some neighboring tokens. A token of which nothing is known allows
      all labels, so that a policy that never labels two neighbors still has transitions to learn.

    Sequences of which nothing is known call for nothing. Fully labeled, both rules give what occurs. With `min_count`
    a pair has to be named at so many tokens, and two labels have to follow each other so often or be merely allowed.
    """
    if pairs not in get_args(Pairs):
        raise InvalidInputError(f"pairs must be one of {', '.join(get_args(Pairs))}. Got {pairs!r} instead.")
    n_labels = sequences.evidence.n_classes
    if pairs == "all":
        starts = n_labels * np.arange(sequences.n_features + 1, dtype=np.int64)
        labels = np.tile(np.arange(n_labels, dtype=np.int64), sequences.n_features)
        return FeatureSet(starts, labels, np.ones((n_labels, n_labels), dtype=bool))
    keys, counts = _counted_pairs(sequences)
    keys = keys[counts >= min_count]
    starts = np.searchsorted(keys, n_labels * np.arange(sequences.n_features + 1)).astype(np.int64)
    return FeatureSet(starts, keys % n_labels, _allowed_transitions(sequences, min_count))


def _counted_pairs(sequences: Sequences) -> tuple[IntArray, IntArray]:
    """attribute * K + label of every pair that some token has and names, ascending, and at how many tokens."""
    if not is_sharded(sequences):
        return np.unique(_named_pairs(sequences), return_counts=True)
    # How attributes are called plays no part here.
    layout = AsTheyAre(ShardPairs, tuple(map(str, range(sequences.n_features))))
    passes = PassesOverShards(layout, sequences, sequences.sequence_weights)
    found = list(passes.each("counted"))
    keys, position = np.unique(np.concatenate([own for own, _ in found]), return_inverse=True)
    counts = np.bincount(position, weights=np.concatenate([own for _, own in found]), minlength=len(keys))
    return keys, counts.astype(np.int64)


@dataclass(frozen=True, eq=False)
class ShardPairs:
    """Sequences of one shard."""

    sequences: Sequences
    weights: FloatArray

    def counted(self, parameters: None) -> tuple[IntArray, IntArray]:
        return np.unique(_named_pairs(self.sequences), return_counts=True)


def _named_pairs(sequences: Sequences) -> IntArray:
    """attribute * K + label of every pair that a token has and names, token by token."""
    evidence, attributes = sequences.evidence, sequences.attributes
    n_labels = evidence.n_classes
    token = np.repeat(np.arange(sequences.n_tokens), np.diff(attributes.indptr))
    columns = attributes.indices.astype(np.int64)
    gold = evidence.is_gold[token]
    keys = [columns[gold] * n_labels + evidence.codes[token[gold]]]
    ambiguous = np.flatnonzero(evidence.is_ambiguous[token])
    candidates = evidence.weights[-2 - evidence.codes[token[ambiguous]]] > 0
    position, label = np.nonzero(candidates)
    keys.append(columns[ambiguous[position]] * n_labels + label)
    return np.concatenate(keys)


def _allowed_transitions(sequences: Sequences, min_count: int) -> BoolArray:
    evidence, n_labels = sequences.evidence, sequences.evidence.n_classes
    follows = np.ones(sequences.n_tokens, dtype=bool)
    follows[sequences.offsets[:-1]] = False
    later = np.flatnonzero(follows & np.repeat(sequences.is_labeled, sequences.lengths))
    gold = evidence.is_gold[later] & evidence.is_gold[later - 1]
    pairs = evidence.codes[later[gold] - 1] * n_labels + evidence.codes[later[gold]]
    allowed: BoolArray = np.bincount(pairs, minlength=n_labels**2).reshape(n_labels, n_labels) >= min_count
    rest = later[~gold]
    if rest.size:
        before, after = (evidence.take(positions).dense() > 0 for positions in (rest - 1, rest))
        allowed |= before.T.astype(np.float64) @ after.astype(np.float64) > 0
    return allowed


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


def listed_positions(emission: sp.csc_array) -> IntArray:
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
