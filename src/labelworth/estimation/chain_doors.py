"""What a fit to sequences checks before it begins."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chain_runs import unlabeled_sequences


def counting_sequences(sequences: Sequences, unlabeled_weight: float) -> tuple[Sequences, FloatArray]:
    """The sequences that count, and how much."""
    if not sequences.n_sequences:
        raise InvalidInputError("There are no sequences. Give at least one.")
    weights = sequences.sequence_weights
    weights = np.where(unlabeled_sequences(sequences), unlabeled_weight * weights, weights)
    counting = weights > 0
    if not counting.any():
        cure = (
            "give some labels, or an unlabeled_weight above 0"
            if unlabeled_weight == 0
            else "give a positive weight to some sequences"
        )
        raise InvalidInputError(f"No sequence counts, so there is nothing to learn from: {cure}.")
    if counting.all():
        return sequences, weights
    return sequences.take(counting), weights[counting]
