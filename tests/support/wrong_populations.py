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


def crossing_topics(rng: np.random.Generator, n_rows: int) -> Samples:
    """Documents of a few words that tell the class, and many that tell a topic which has nothing to do with it."""
    codes, topics = rng.integers(2, size=n_rows), rng.integers(2, size=n_rows)
    telling = np.array([[0.8, 0.2], [0.2, 0.8]])
    topical = np.array([[0.3, 0.3, 0.3, 0.04, 0.03, 0.03], [0.04, 0.03, 0.03, 0.3, 0.3, 0.3]])
    counts = [
        np.concatenate([rng.multinomial(5, telling[code]), rng.multinomial(20, topical[topic])])
        for code, topic in zip(codes, topics, strict=True)
    ]
    return labeled_counts(np.array(counts), codes)


def separate_clusters(rng: np.random.Generator, n_rows: int, *, n_features: int = 10, gap: float = 0.8) -> Samples:
    """Vectors in two round clusters, which are the classes."""
    codes = rng.integers(2, size=n_rows)
    vectors = rng.standard_normal((n_rows, n_features)) + gap * codes[:, None]
    return Samples(vectors, Evidence(codes.astype(np.int64), CLASSES))


def with_labels(samples: Samples, n_labels: int) -> Samples:
    """Keep the labels of the first rows."""
    return samples.hide(np.arange(n_labels, samples.n_samples))
