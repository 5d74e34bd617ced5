"""Samples: features, what is known of their classes, and how much each one counts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, FloatArray
from labelworth.data.counts import as_counts, as_vectors
from labelworth.data.protocol import valid_weights
from labelworth.data.rows import Rows
from labelworth.data.shards.features import ShardedFeatures, in_memory
from labelworth.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class Samples(Rows):
    """What was observed.

    Features that are not yet a CSR array or a dense array of doubles go through the doors of `counts`.
    """

    # (n, n_features): Word counts of documents (sparse, sorted, without duplicates), or dense vectors; in memory, or
    # in shards.
    features: "sp.csr_array | FloatArray | ShardedFeatures"
    # (n,), optional: How much each sample counts in the likelihood; None means one each.
    weights: FloatArray | None = None
    feature_names: tuple[str, ...] | None = None  # What the columns stand for.

    def __post_init__(self) -> None:
        if not _is_clean(self.features):
            read = as_counts if sp.issparse(self.features) else as_vectors
            object.__setattr__(self, "features", read(self.features))
        super().__post_init__()
        if self.weights is not None:
            object.__setattr__(self, "weights", valid_weights("sample", self.weights, self.n_samples))
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise InvalidInputError(
                f"There must be one name per column. Got {self.n_features} columns, {len(self.feature_names)} names."
            )

    @property
    def n_features(self) -> int:
        return int(self.features.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the features are counts of documents."""
        return sp.issparse(self.features) or getattr(self.features, "is_sparse", False)

    @property
    def counts(self) -> sp.csr_array:
        """The features as a CSR array; an error if they are dense, or lie in shards and do not fit in memory."""
        features = in_memory(self.features)
        if not isinstance(features, sp.csr_array):
            raise InvalidInputError("This needs sparse counts; got dense vectors. Use scipy.sparse.csr_array(X).")
        return features

    @property
    def vectors(self) -> FloatArray:
        """The features as a dense array; an error if they are sparse, or lie in shards and do not fit in memory."""
        if self.is_sparse:
            raise InvalidInputError("This needs dense vectors; got sparse counts. Use X.toarray() if it fits.")
        return np.asarray(in_memory(self.features))

    def each(self, function: Callable[[Any, AnyArray], Any], beside: AnyArray) -> Iterator[Any]:
        """What a function says of runs of rows and what stands `beside` them; in memory there is one run."""
        if isinstance(self.features, ShardedFeatures):
            yield from self.features.each(function, beside)
        else:
            yield function(self.features, beside)

    def row_sums(self) -> FloatArray:
        """How many words every document has, wherever it lies, (n,)."""
        return np.concatenate(list(self.each(_row_sums, self.evidence.codes)))

    @property
    def sample_weights(self) -> FloatArray:
        """How much each sample counts, spelled out."""
        return np.ones(self.n_samples) if self.weights is None else self.weights

    def take(self, rows: AnyArray) -> "Samples":
        """Keep `rows` (indices or a mask), in that order."""
        weights = None if self.weights is None else self.weights[rows]
        answers = self.answers_at(self.positions_of(rows))
        return replace(
            self, features=self.features[rows], evidence=self.evidence.take(rows), weights=weights, answers=answers
        )

    def weighted(self, weights: FloatArray | None) -> "Samples":
        """The same samples, counting `weights` each."""
        return replace(self, weights=weights)

    def labeled_only(self) -> "Samples":
        """Keep the samples of whose class something is known."""
        return self.take(self.is_labeled)


def _row_sums(features: Any, beside: AnyArray) -> FloatArray:
    return np.asarray(features.sum(axis=1), dtype=np.float64).ravel()


def _is_clean(features: Any) -> bool:
    """Whether the features have the form the rest of the house works on (their values were checked at the door)."""
    if isinstance(features, ShardedFeatures):
        return features.kind in ("counts", "vectors")
    if isinstance(features, sp.csr_array):
        return features.ndim == 2 and features.dtype == np.float64
    return (
        isinstance(features, np.ndarray)
        and features.ndim == 2
        and features.dtype == np.float64
        and features.flags.c_contiguous
    )
