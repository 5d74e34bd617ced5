"""Sequences: flat tokens, where each sequence begins, and what is known of every token's label."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.data.protocol import valid_weights
from labelworth.data.shards.features import ShardedFeatures, in_memory
from labelworth.errors import InvalidInputError

NO_WORD = -1
"""The code of a token whose word the vocabulary does not have."""


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of tokens, behind each other.

    Attributes
    ----------
    features : integer array of shape (n_tokens,) or CSR array of shape (n_tokens, n_features)
        The word of every token, `NO_WORD` where it is none of the vocabulary; or the weights of its attributes. They
        may lie in shards.
    offsets : integer array of shape (n_sequences + 1,)
        Sequence i is the tokens ``offsets[i]:offsets[i + 1]``; none is empty.
    evidence : Evidence
        What is known of each token's label.
    feature_names : tuple of str
        The words, or the attributes.
    weights : array of shape (n_sequences,), optional
        How much each sequence counts in the likelihood; None means one each.
    answers : Answers, optional
        What annotators said of tokens, counted over all sequences, beside what is known of them.
    """

    features: "IntArray | sp.csr_array | ShardedFeatures"
    offsets: IntArray
    evidence: Evidence
    feature_names: tuple[str, ...]
    weights: FloatArray | None = None
    answers: Answers | None = None

    def __post_init__(self) -> None:
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        object.__setattr__(self, "offsets", offsets)
        n_tokens = int(self.features.shape[0])
        if offsets.ndim != 1 or not offsets.size or offsets[0] != 0 or offsets[-1] != n_tokens:
            raise InvalidInputError(f"Offsets must go from 0 to the number of tokens, {n_tokens}.")
        if (np.diff(offsets) < 1).any():
            empty = int(np.flatnonzero(np.diff(offsets) < 1)[0])
            raise InvalidInputError(f"Sequence {empty} has no token; leave empty sequences out.")
        if self.evidence.n_samples != n_tokens:
            raise InvalidInputError(
                f"There must be one label entry per token. Got {n_tokens} tokens "
                f"and {self.evidence.n_samples} label entries."
            )
        self._require_valid_features()
        if self.weights is not None:
            object.__setattr__(self, "weights", valid_weights("sequence", self.weights, self.n_sequences))
        if self.answers is not None:
            self.answers.require_about("token", self.n_tokens, self.evidence.classes)

    def _require_valid_features(self) -> None:
        if isinstance(self.features, ShardedFeatures):
            if self.features.n_features != self.n_features or self.features.kind not in ("words", "attributes"):
                raise InvalidInputError("These shards do not hold tokens of as many words or attributes.")
            return
        if isinstance(self.features, sp.csr_array):
            if self.features.shape[1] != self.n_features:
                raise InvalidInputError(
                    "There must be one name per attribute. "
                    f"Got {self.features.shape[1]} columns and {self.n_features} names."
                )
            if not np.isfinite(self.features.data).all():
                raise InvalidInputError("The weights of attributes must be finite numbers.")
            return
        if self.features.ndim != 1 or self.features.dtype.kind not in "iu":
            raise InvalidInputError("Words must be given by their codes, one whole number per token.")
        object.__setattr__(self, "features", np.ascontiguousarray(self.features, dtype=np.int64))
        if self.n_tokens and (int(self.features.min()) < NO_WORD or int(self.features.max()) >= self.n_features):
            raise InvalidInputError(
                f"Word codes must be {NO_WORD} or below the size of the vocabulary, {self.n_features}. "
                f"Got {int(self.features.min())} to {int(self.features.max())}."
            )

    @property
    def n_sequences(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_samples(self) -> int:
        """What is bought whole: a sequence."""
        return self.n_sequences

    @property
    def n_tokens(self) -> int:
        """How many tokens, in all sequences."""
        return int(self.offsets[-1])

    @property
    def n_features(self) -> int:
        """How many words or attributes there are."""
        return len(self.feature_names)

    @property
    def lengths(self) -> IntArray:
        """The number of tokens of every sequence."""
        return np.diff(self.offsets)

    @property
    def words(self) -> IntArray:
        """The word of every token; an error if there are attributes instead."""
        features = in_memory(self.features)
        if isinstance(features, sp.csr_array):
            raise InvalidInputError("This needs one word per token; got attributes, which go with a CRF.")
        return np.asarray(features)

    @property
    def attributes(self) -> sp.csr_array:
        """The attributes of every token; a word is one attribute of weight one, and no word is none."""
        features = in_memory(self.features)
        if isinstance(features, sp.csr_array):
            return features
        known = features != NO_WORD
        starts = np.concatenate([[0], np.cumsum(known)])
        return sp.csr_array((np.ones(starts[-1]), features[known], starts), (self.n_tokens, self.n_features))

    @property
    def sequence_weights(self) -> FloatArray:
        """How much each sequence counts, spelled out."""
        return np.ones(self.n_sequences) if self.weights is None else self.weights

    @property
    def is_labeled(self) -> BoolArray:
        """Which sequences carry a label, or an answer, at one token at least."""
        labeled = ~self.evidence.is_unlabeled
        if self.answers is not None:
            labeled |= self.answers.told(self.n_tokens)
        return np.logical_or.reduceat(labeled, self.offsets[:-1])

    def positions_of(self, samples: AnyArray) -> IntArray:
        """All tokens of these sequences (indices), in that order."""
        lengths = self.lengths[samples]
        ends = np.cumsum(lengths)
        return np.repeat(self.offsets[:-1][samples] - ends + lengths, lengths) + np.arange(lengths.sum())

    def take(self, rows: AnyArray) -> Self:
        """Keep the sequences `rows` (indices or a mask), in that order."""
        rows = np.arange(self.n_sequences)[rows]
        tokens = self.positions_of(rows)
        return replace(
            self,
            features=self.features[tokens],
            offsets=np.concatenate([[0], np.cumsum(self.lengths[rows])]),
            evidence=self.evidence.take(tokens),
            weights=None if self.weights is None else self.weights[rows],
            answers=None if self.answers is None else self.answers.at(tokens),
        )

    def hide(self, tokens: AnyArray | None = None) -> Self:
        """Forget the labels of `tokens` (indices or a mask over all tokens); of everything when None."""
        return replace(self, evidence=self.evidence.hidden(tokens))

    def with_evidence(self, evidence: Evidence) -> Self:
        """The same tokens, of whose labels something else is known."""
        return replace(self, evidence=evidence)


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
