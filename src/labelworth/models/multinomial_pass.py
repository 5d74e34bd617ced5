"""The E-step of the multinomial model over sparse counts: arrays in, arrays out."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, IntArray
from labelworth.engines.shards import map_shards, shard_bounds
from labelworth.models.responsibilities import normalize, restrict_to_evidence


class CountsExpectation(NamedTuple):
    """Expected counts under a model, and the log-likelihood.

    Attributes
    ----------
    class_weights : array of shape (K,)
        Sum of row weight times responsibility.
    word_counts : array of shape (K, V)
        The same with the counts of every word.
    log_likelihood : float
        Sum of row weight times log p(evidence, x).
    """

    class_weights: FloatArray
    word_counts: FloatArray
    log_likelihood: float


class CountsPass:
    """Documents with their evidence, laid out once for many passes.

    Parameters
    ----------
    counts : CSR array of shape (n, V)
        Clean: sorted, without duplicates or stored zeros.
    codes : integer array of shape (n,)
        As in `labelworth.data.evidence.Evidence`.
    candidate_weights : array of shape (n_ambiguous, K)
        The weights of the ambiguous rows.
    row_weights : array of shape (n,)
        How much each row counts.
    n_workers : int
        Threads; the result does not depend on it.
    """

    def __init__(
        self,
        counts: sp.csr_array,
        codes: IntArray,
        candidate_weights: FloatArray,
        row_weights: FloatArray,
        n_workers: int = 1,
    ) -> None:
        self._counts = counts
        self._codes = codes
        self._candidate_weights = candidate_weights
        self._row_weights = row_weights
        self._n_workers = n_workers
        self._bounds = shard_bounds(counts.indptr)

    def expectation(self, log_class: FloatArray, log_word: FloatArray) -> CountsExpectation:
        """Expected counts under log class probabilities (K,) and log word probabilities (K, V)."""
        log_word_by_column = np.ascontiguousarray(log_word.T)

        def run(first: int, stop: int) -> CountsExpectation:
            return self._shard(slice(first, stop), log_class, log_word_by_column)

        class_weights, word_counts, log_likelihood = np.zeros(len(log_class)), np.zeros(log_word.shape), 0.0
        for part in map_shards(run, self._bounds, self._n_workers):
            class_weights += part.class_weights
            word_counts += part.word_counts
            log_likelihood += part.log_likelihood
        return CountsExpectation(class_weights, word_counts, log_likelihood)

    def _shard(self, rows: slice, log_class: FloatArray, log_word_by_column: FloatArray) -> CountsExpectation:
        counts, weights = self._counts[rows], self._row_weights[rows]
        log_joint = np.asarray(counts @ log_word_by_column)
        log_joint += log_class
        restrict_to_evidence(log_joint, self._codes[rows], self._candidate_weights)
        log_evidence = normalize(log_joint)
        log_joint *= weights[:, None]
        word_counts = np.ascontiguousarray((counts.T @ log_joint).T)
        return CountsExpectation(log_joint.sum(axis=0), word_counts, float(weights @ log_evidence))
