"""Expected counts of single sequences without what is known: plain arrays, nothing from the package."""

from itertools import pairwise

import numpy as np


def open_counts(
    start: np.ndarray,
    pairs: np.ndarray,
    at_tokens: np.ndarray,
    rows: np.ndarray,
    codes: np.ndarray,
    offsets: np.ndarray,
    n_rows: int,
) -> np.ndarray:
    """Rows of first labels, pairs and words, (n, K + K * K + n_rows * K), from all expected counts.

    Left out are first labels, pairs and words all of whose labels are known, and rows of nodes beyond `n_rows`.
    """
    counts, n_labels = [], start.shape[1]
    for sequence, (first, last) in enumerate(pairwise(offsets)):
        own_start, own_pairs, words = start[sequence].copy(), pairs[sequence].copy(), np.zeros((n_rows, n_labels))
        if codes[first] >= 0:
            own_start[:] = 0.0
        for token in range(first, last):
            if token > first and codes[token - 1] >= 0 and codes[token] >= 0:
                own_pairs[codes[token - 1], codes[token]] -= 1.0
            if codes[token] < 0 and rows[token] < n_rows:
                words[rows[token]] += at_tokens[token]
        counts.append(np.concatenate([own_start, own_pairs.ravel(), words.ravel()]))
    return np.array(counts)
