"""Small pilots with known truth, drawn by NumPy alone."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.models.classes.multinomial import MultinomialModel

SHARES = (0.4, 0.6)
WORDS = ((0.4, 0.3, 0.15, 0.1, 0.05), (0.1, 0.1, 0.2, 0.25, 0.35))
LENGTH = 4


def true_model(words: Sequence[Sequence[float]] = WORDS, shares: Sequence[float] = SHARES) -> MultinomialModel:
    """What documents are drawn from."""
    classes = tuple("abc"[: len(shares)])
    return MultinomialModel(classes, np.array(shares), np.array(words), LengthDistribution.single(LENGTH))


def drawn_documents(n_documents: int, n_labeled: int, seed: int) -> Samples:
    """Documents of four words, the first ones labeled."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(len(SHARES), size=n_documents, p=SHARES)
    counts = np.array([rng.multinomial(LENGTH, WORDS[code]) for code in codes], dtype=np.float64)
    seen = np.where(np.arange(n_documents) < n_labeled, codes, -1)
    return Samples(sp.csr_array(counts), Evidence(seen, ("a", "b")))


def drawn_sequences(n_sequences: int, n_labeled: int, seed: int) -> Sequences:
    """Sequences of three or four tokens from a chain of two labels and three words, the first ones labeled whole."""
    rng = np.random.default_rng(seed)
    start, transition = np.array([0.6, 0.4]), np.array([[0.8, 0.2], [0.3, 0.7]])
    emission = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
    words, labels, lengths = [], [], rng.integers(3, 5, size=n_sequences)
    for length in lengths:
        label = rng.choice(2, p=start)
        for place in range(length):
            label = rng.choice(2, p=transition[label]) if place else label
            labels.append(label)
            words.append(rng.choice(3, p=emission[label]))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    seen = np.where(np.arange(len(labels)) < offsets[n_labeled], labels, -1)
    return Sequences(np.array(words), offsets, Evidence(seen, ("A", "B")), ("x", "y", "z"))
