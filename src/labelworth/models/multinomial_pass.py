"""The E-step of the multinomial model over sparse counts: arrays in, arrays out."""

from threading import Lock
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.documents import block_documents
from labelworth.kernels.evidence import Evidence, sum_known
from labelworth.kernels.expectation import expectation, make_workspace


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

    The rows whose class was seen add the same counts to every pass: they are summed once, here.

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
    n_workers : int, optional
        Threads, all when None; the result does not depend on it.
    """

    def __init__(
        self,
        counts: sp.csr_array,
        codes: IntArray,
        candidate_weights: FloatArray,
        row_weights: FloatArray,
        n_workers: int | None = None,
    ) -> None:
        n_words, n_classes = counts.shape[1], candidate_weights.shape[1]
        counted = row_weights != 0
        open_rows = np.flatnonzero(counted & (codes < 0))
        self._evidence = Evidence(
            np.ascontiguousarray(codes, dtype=np.int64),
            np.ascontiguousarray(candidate_weights, dtype=np.float64),
            np.ascontiguousarray(row_weights, dtype=np.float64),
        )
        self._documents = block_documents(counts.indptr, counts.indices, counts.data, n_words, n_classes, open_rows)
        self._known = sum_known(self._documents, self._evidence, np.flatnonzero(counted & (codes >= 0)), n_classes)
        self._workspace = make_workspace(self._documents, n_classes)
        self._in_use = Lock()
        self._n_workers = n_workers

    def expectation(self, log_class: FloatArray, word_probabilities: FloatArray) -> CountsExpectation:
        """Expected counts under log class probabilities (K,) and word probabilities (K, V)."""
        with self._in_use:
            return CountsExpectation(
                *expectation(
                    self._documents,
                    self._workspace,
                    self._evidence,
                    self._known,
                    np.ascontiguousarray(log_class),
                    np.ascontiguousarray(word_probabilities),
                    self._n_workers,
                )
            )
