"""Populations no naive Bayes model describes: bursty words, and clusters that are not the classes."""

import numpy as np
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples

CLASSES = ("ham", "spam")


def bursty_documents(
    rng: np.random.Generator, n_rows: int, *, n_words: int = 8, length: int = 12, burstiness: float = 10.0
) -> Samples:
    """Two classes; every document has word probabilities of its own, drawn around those of its class."""
    codes = rng.integers(2, size=n_rows)
    classes = rng.dirichlet(np.full(n_words, 3.0), size=2)
    counts = np.stack([rng.multinomial(length, rng.dirichlet(burstiness * classes[code])) for code in codes])
    return labeled_counts(counts, codes)


def labeled_counts(counts: np.ndarray, codes: np.ndarray) -> Samples:
    return Samples(sp.csr_array(counts.astype(float)), Evidence(codes.astype(np.int64), CLASSES))


def crossing_clusters(rng: np.random.Generator, n_rows: int, *, gap: float = 2.0, cluster_gap: float = 8.0) -> Samples:
    """Vectors whose first entry tells the class, weakly, and whose second forms two far clusters that do not."""
    codes = rng.integers(2, size=n_rows)
    clusters = rng.integers(2, size=n_rows)
    vectors = rng.standard_normal((n_rows, 2))
    vectors[:, 0] += gap * codes
    vectors[:, 1] += cluster_gap * clusters
    return Samples(vectors, Evidence(codes.astype(np.int64), CLASSES))


def separate_clusters(rng: np.random.Generator, n_rows: int, *, n_features: int = 6, gap: float = 1.2) -> Samples:
    """Vectors in two round clusters, which are the classes."""
    codes = rng.integers(2, size=n_rows)
    vectors = rng.standard_normal((n_rows, n_features)) + gap * codes[:, None]
    return Samples(vectors, Evidence(codes.astype(np.int64), CLASSES))


def with_labels(samples: Samples, n_labels: int) -> Samples:
    """Keep the labels of the first rows."""
    return samples.hide(np.arange(n_labels, samples.n_samples))
