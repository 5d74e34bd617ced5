"""Where fits of chains begin: what the labels say, with a few random tokens where they say nothing."""

from collections.abc import Iterator

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.estimation.starts import seeded


def seeded_sequences(
    sequences: Sequences, weights: FloatArray, n_starts: int, rng: np.random.Generator
) -> Iterator[tuple[Sequences, FloatArray]]:
    """What each of the supervised starting models is made of: sequences, and how much each of them counts.

    The first takes the weights as they are, the others have random ones. Labels no evidence speaks of are seeded with
    a few random tokens, since no fit would ever tell apart two labels that begin alike.
    """
    for attempt in range(n_starts):
        begun = sequences.with_evidence(seeded(sequences.evidence, rng))
        yield begun, weights * rng.exponential(size=len(weights)) if attempt else weights
