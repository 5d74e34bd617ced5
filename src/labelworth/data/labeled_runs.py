"""The parts of sequences of which something is known: runs of labeled tokens."""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.sequences import Sequences


class LabeledRuns(NamedTuple):
    """Every run of tokens of whose labels something is known, as a sequence of its own."""

    sequences: Sequences  # The runs, without weights.
    owners: IntArray  # (n_runs,): The sequence that each run is a part of.
    is_first: BoolArray  # (n_runs,): Whether it begins with the first token of that sequence.

    def weighted(self, weights: FloatArray) -> "LabeledRuns":
        """Drop the runs whose sequences weigh nothing, and give the others the weights of their sequences."""
        kept = np.flatnonzero(weights[self.owners] > 0)
        runs = self.sequences.take(kept)
        owners = self.owners[kept]
        return LabeledRuns(
            Sequences(runs.features, runs.offsets, runs.evidence, runs.feature_names, weights[owners]),
            owners,
            self.is_first[kept],
        )


def labeled_runs(sequences: Sequences) -> LabeledRuns | None:
    """Cut out all runs of labeled tokens; None if nothing is known of any label."""
    known = ~sequences.evidence.is_unlabeled
    if not known.any():
        return None
    begins = np.zeros(sequences.n_tokens, dtype=bool)
    begins[sequences.offsets[:-1]] = True
    tokens = np.flatnonzero(known)
    after_unknown = np.concatenate([[True], ~known[:-1]])
    run_begins = (begins | after_unknown)[tokens]
    starts = np.flatnonzero(run_begins)
    evidence = sequences.evidence.take(tokens)
    runs = Sequences(sequences.features[tokens], np.append(starts, len(tokens)), evidence, sequences.feature_names)
    owner = np.searchsorted(sequences.offsets, tokens[starts], side="right") - 1
    return LabeledRuns(runs, owner, begins[tokens[starts]])
