"""Samples: features, what is known of their classes, and how much each one counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, FloatArray
from labelworth.data.evidence import Evidence
from labelworth.errors import InvalidInputError


@dataclass(frozen=True)
class Samples:
    """What was observed.

    Attributes
    ----------
    features : CSR array or dense array of shape (n, n_features)
        Word counts of documents (sparse, sorted, without duplicates), or dense vectors.
    evidence : Evidence
        What is known of each sample's class.
    weights : array of shape (n,), optional
        How much each sample counts in the likelihood; None means one each.
    feature_names : tuple of str, optional
        What the columns stand for.
    """

    features: "sp.csr_array | FloatArray"
    evidence: Evidence
    weights: FloatArray | None = None
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.features.shape[0] != self.evidence.n_samples:
            raise InvalidInputError(
                f"There must be one label entry per sample. Got {self.features.shape[0]} samples "
                f"and {self.evidence.n_samples} label entries."
            )
        if self.weights is not None and self.weights.shape != (self.n_samples,):
            raise InvalidInputError(
                f"There must be one weight per sample. Got {self.n_samples} samples and weights of shape "
                f"{self.weights.shape}."
            )
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise InvalidInputError(
                f"There must be one name per column. Got {self.n_features} columns, {len(self.feature_names)} names."
            )

    @property
    def n_samples(self) -> int:
        """How many samples."""
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        """How many columns."""
        return int(self.features.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the features are counts of documents."""
        return sp.issparse(self.features)

    @property
    def counts(self) -> sp.csr_array:
        """The features as a CSR array; an error if they are dense."""
        if not isinstance(self.features, sp.csr_array):
            raise InvalidInputError("This needs sparse counts; got dense vectors. Use scipy.sparse.csr_array(X).")
        return self.features

    @property
    def vectors(self) -> FloatArray:
        """The features as a dense array; an error if they are sparse."""
        if sp.issparse(self.features):
            raise InvalidInputError("This needs dense vectors; got sparse counts. Use X.toarray() if it fits.")
        return np.asarray(self.features)

    @property
    def sample_weights(self) -> FloatArray:
        """How much each sample counts, spelled out."""
        return np.ones(self.n_samples) if self.weights is None else self.weights

    def take(self, rows: AnyArray) -> "Samples":
        """Keep `rows` (indices or a mask), in that order."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, features=self.features[rows], evidence=self.evidence.take(rows), weights=weights)

    def hide(self, rows: AnyArray | None = None) -> "Samples":
        """Forget the labels of `rows`; of everything when None."""
        return replace(self, evidence=self.evidence.hidden(rows))

    def weighted(self, weights: FloatArray | None) -> "Samples":
        """The same samples, counting `weights` each."""
        return replace(self, weights=weights)

    def labeled_only(self) -> "Samples":
        """Keep the samples of whose class something is known."""
        return self.take(~self.evidence.is_unlabeled)

    @classmethod
    def concatenate(cls, parts: Sequence["Samples"]) -> "Samples":
        """Put samples behind each other."""
        first = parts[0]
        if first.is_sparse:
            features: sp.csr_array | FloatArray = sp.csr_array(sp.vstack([part.counts for part in parts]))
        else:
            features = np.concatenate([part.vectors for part in parts])
        weighted = any(part.weights is not None for part in parts)
        return cls(
            features,
            Evidence.concatenate([part.evidence for part in parts]),
            np.concatenate([part.sample_weights for part in parts]) if weighted else None,
            first.feature_names,
        )
