"""A small corpus in the place of Reuters and 20 Newsgroups: documents of a known model whose classes overlap."""

import numpy as np

from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.models.classes.multinomial import MultinomialModel


def small_corpus(n_documents: int = 200, n_words: int = 12, n_classes: int = 3) -> Samples:
    """Documents of five words, with their classes."""
    rng = np.random.default_rng(11)
    words = rng.dirichlet(np.full(n_words, 1.5), n_classes) + 0.01
    words /= words.sum(axis=1, keepdims=True)
    shares = np.arange(n_classes, 0, -1.0)
    classes = tuple("abcdefgh"[:n_classes])
    model = MultinomialModel(classes, shares / shares.sum(), words, LengthDistribution.single(5))
    return model.sample(n_documents, rng)
