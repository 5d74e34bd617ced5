"""What models of words and labels in a chain do alike, whatever their potentials are made of."""

from abc import ABC, abstractmethod
from collections.abc import Hashable

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.models.chain_protocol import LogPotentials
from labelworth.models.chain_words import WordChain, drawn_sequences, require_sequences_for


class ChainOfWords(ABC):
    """A model with a row of emissions per label; a subclass says what the recursion runs on."""

    classes: tuple[Hashable, ...]
    emission: FloatArray

    @property
    @abstractmethod
    def word_chain(self) -> WordChain:
        """What the recursion runs on."""

    @property
    @abstractmethod
    def word_probabilities(self) -> FloatArray:
        """p(word | label), (K, V)."""

    @property
    def n_classes(self) -> int:
        """The number of labels, K."""
        return len(self.classes)

    @property
    def n_features(self) -> int:
        """The size of the vocabulary, V."""
        return int(self.emission.shape[1])

    def log_potentials(self, sequences: Sequences) -> LogPotentials:
        """The potentials of every token's word, of the transitions and of the start, as logarithms."""
        require_sequences_for(self, sequences)
        return self.word_chain.log_potentials(sequences)

    def marginals(self, sequences: Sequences) -> FloatArray:
        """p(label | evidence, x), (n_tokens, K); zeros where a sequence is impossible."""
        require_sequences_for(self, sequences)
        return self.word_chain.marginals(sequences)

    def best_labels(self, sequences: Sequences) -> IntArray:
        """The most probable labels given the evidence, (n_tokens,); -1 all along an impossible sequence."""
        require_sequences_for(self, sequences)
        return self.word_chain.best_labels(sequences)

    def sample(self, inputs: Sequences, rng: np.random.Generator) -> Sequences:
        """Draw words and labels for sequences of the same lengths."""
        require_sequences_for(self, inputs)
        return drawn_sequences(self.word_chain, self.word_probabilities, inputs, rng)
