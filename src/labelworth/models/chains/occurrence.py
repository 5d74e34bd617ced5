"""Which words or attributes occur in some sequences, and a model of those alone."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import IntArray
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.data.shards.features import in_memory
from labelworth.models.chains.protocol import ChainModel

ModelT = TypeVar("ModelT", bound=ChainModel)
_MOST_NAMES = 3


@dataclass(frozen=True, eq=False)
class Occurrence:
    r"""The words or attributes that occur, labeled or not.

    A word that never occurs, such as the entry of unseen words where all words have one of their own, is given its
    probability by smoothing alone, and nothing can be learned about it. But to the formulas every parameter counts:
    after n complete samples the excess log-loss of words and labels together is

    .. math:: d / (2 n)

    for d parameters, whatever their values; that of labels alone depends on the odds of a word between labels, not on
    how rare it is. Where in truth the word has no probability, it adds nothing.

    Examples
    --------
    >>> from labelworth.data.evidence import Evidence
    >>> words = Sequences(np.array([0, 2]), np.array([0, 2]), Evidence(np.array([0, 0]), ("A",)), ("x", "y", "z"))
    >>> Occurrence.of(words).left_out
    ('y',)
    """

    feature_names: tuple[str, ...]  # All there are.
    kept: IntArray  # The indices of those that occur, ascending; all where none does, for a model needs one.

    @classmethod
    def of(cls, sequences: Sequences) -> "Occurrence":
        """Those of all sequences, whatever is known of their labels."""
        features = in_memory(sequences.features)
        if isinstance(features, sp.csr_array):
            codes = np.unique(features.indices[features.data != 0])
        else:
            codes = np.unique(features[features != NO_WORD])
        kept = codes if codes.size else np.arange(sequences.n_features)
        return cls(sequences.feature_names, kept.astype(np.int64))

    @property
    def is_complete(self) -> bool:
        """Whether everything occurs."""
        return len(self.kept) == len(self.feature_names)

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """The names of those that never occur."""
        never = np.delete(np.arange(len(self.feature_names)), self.kept)
        return tuple(self.feature_names[position] for position in never.tolist())

    def of_model(self, model: ModelT) -> ModelT:
        """The model with no other words or attributes; itself if everything occurs."""
        return model if self.is_complete else model.with_features(self.kept)

    def of_sequences(self, sequences: Sequences) -> Sequences:
        """The same tokens with the words or attributes that are kept; others become no word, or are dropped."""
        if self.is_complete:
            return sequences
        names = tuple(self.feature_names[position] for position in self.kept.tolist())
        features = in_memory(sequences.features)
        if isinstance(features, sp.csr_array):
            return replace(sequences, features=sp.csr_array(features[:, self.kept]), feature_names=names)
        # The position behind the last one is what NO_WORD, -1, refers to.
        indices = np.full(len(self.feature_names) + 1, NO_WORD, dtype=np.int64)
        indices[self.kept] = np.arange(len(self.kept))
        return replace(sequences, features=indices[features], feature_names=names)

    def note(self, what: str) -> str:
        """What was left out, in a sentence; `what` is "word" or "attribute"."""
        names, count = self.left_out, len(self.left_out)
        shown = ", ".join(names[:_MOST_NAMES]) + (", .." if count > _MOST_NAMES else "")
        if count == 1:
            return f"1 {what} that never occurs, {shown}, is left out of the count of parameters."
        return f"{count} {what}s that never occur, {shown}, are left out of the count of parameters."
