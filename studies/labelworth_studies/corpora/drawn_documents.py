"""Documents drawn from naive Bayes models whose classes overlap: labels follow from the words only in part."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from labelworth.data.counts import as_counts
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples

_EVENNESS = 2.0


@dataclass(frozen=True)
class World:
    """A known truth."""

    n_classes: int  # Classes of equal probability, the vocabulary, and the tokens of every document.
    n_words: int
    n_tokens: int
    spread: float  # Standard deviation of the logarithms by which words differ between classes.
    seed: int

    def draw(self, n_documents: int) -> Samples:
        """Documents with their classes; the same ones whenever it is called."""
        rng = np.random.default_rng([self.seed, 31])
        common = rng.dirichlet(np.full(self.n_words, _EVENNESS))
        weights = common * np.exp(self.spread * rng.standard_normal((self.n_classes, self.n_words)))
        words = weights / weights.sum(axis=1, keepdims=True)
        codes = rng.integers(self.n_classes, size=n_documents)
        counts = rng.multinomial(self.n_tokens, words[codes]).astype(np.float64)
        classes = tuple(f"class {index}" for index in range(self.n_classes))
        return Samples(as_counts(sp.csr_array(counts)), Evidence(codes, classes))
