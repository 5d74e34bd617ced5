"""Small random models that several test modules share."""

import numpy as np

from labelworth.data.lengths import LengthDistribution
from labelworth.models.classes.multinomial import MultinomialModel

ENUMERABLE = [
    (2, 2, {2: 1.0}),
    (2, 3, {2: 1.0}),
    (2, 5, {6: 1.0}),
    (3, 2, {6: 1.0}),
    (3, 4, {3: 0.5, 5: 0.5}),
    (4, 3, {4: 1.0}),
    (4, 5, {2: 0.3, 3: 0.6, 5: 0.1}),
]
"""Classes, words, lengths: small enough to sum over every sequence of words."""


def drawn_multinomial(n_classes: int, n_words: int, lengths: dict[int, float], seed: int = 0) -> MultinomialModel:
    """Class probabilities from Dirichlet(3), word probabilities from Dirichlet(1)."""
    rng = np.random.default_rng(seed)
    return MultinomialModel(
        tuple(f"class {code}" for code in range(n_classes)),
        rng.dirichlet(np.full(n_classes, 3.0)),
        rng.dirichlet(np.ones(n_words), size=n_classes),
        LengthDistribution.from_mapping(lengths),
    )
