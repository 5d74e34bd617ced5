"""Chains whose tokens are words: the arrays that the recursion runs on, and what every such model does with them."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Protocol, Self

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray, as_floats, require_shape
from labelworth.data.evidence import Evidence
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.errors import InvalidInputError
from labelworth.kernels.chains.expectation import ChainSums, chain_sums
from labelworth.kernels.chains.layout import unweighted
from labelworth.kernels.chains.paths import best_paths, draw_paths
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens, make_tokens
from labelworth.kernels.chains.sums import log_totals, marginals, sequence_sums
from labelworth.models.blocks import Numbered
from labelworth.models.chains.protocol import LogPotentials
from labelworth.models.doors import require_classes, require_feature_names


class ChainCounts(NamedTuple):
    """(Expected) counts; those of two shards add up."""

    start: FloatArray  # (K,): First labels.
    pairs: FloatArray  # (K, K): A label (row) and the next.
    emission: FloatArray  # (K, V): Words beside labels.

    def minus(self, other: "ChainCounts") -> "ChainCounts":
        return ChainCounts(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))

    def tables(self) -> Mapping[str, FloatArray]:
        """In the shapes of a model's tables: start (1, K), transition (K, K), emission (K, V)."""
        return {"start": self.start[None, :], "transition": self.pairs, "emission": self.emission}


class WordChain(NamedTuple):
    """Potentials of a chain with a row of nodes per word, and a last one for a word that was not seen."""

    chain: Chain
    nodes: Nodes

    @property
    def n_words(self) -> int:
        """The size of the vocabulary."""
        return len(self.nodes.shifts) - 1

    def tokens(self, sequences: Sequences) -> Tokens:
        """The arrays of the sequences."""
        return word_tokens(sequences, self.n_words)

    def log_potentials(self, sequences: Sequences) -> LogPotentials:
        """The potentials of every token, spelled out."""
        n_labels = len(self.chain.log_start)
        logs = self.nodes.logs
        if not len(logs):
            with np.errstate(divide="ignore"):
                logs = np.log(self.nodes.weights.reshape(self.n_words + 1, -1)[:, :n_labels])
        rows = word_rows(sequences, self.n_words)
        return LogPotentials(logs[rows], self.chain.log_transition, self.chain.log_start)

    def log_totals(self, sequences: Sequences) -> FloatArray:
        """log Z clamped to words and evidence, (n_sequences,)."""
        return log_totals(self.chain, self.nodes, self.tokens(sequences))

    def marginals(self, sequences: Sequences) -> FloatArray:
        """p(label | evidence, x), (n_tokens, K)."""
        return marginals(self.chain, self.nodes, unweighted(self.tokens(sequences)))[1]

    def best_labels(self, sequences: Sequences) -> IntArray:
        """The most probable labels, (n_tokens,); -1 all along a sequence that is impossible."""
        return best_paths(self.chain, self.nodes, self.tokens(sequences))[0]

    def draw_labels(self, sequences: Sequences, rng: np.random.Generator) -> IntArray:
        """Labels drawn given words and evidence, (n_tokens,)."""
        return draw_paths(self.chain, self.nodes, self.tokens(sequences), rng.random(sequences.n_tokens))

    def sums(self, sequences: Sequences) -> ChainSums:
        """log Z and expected counts, weighted by sequence; the last row of nodes counts the words not seen."""
        return chain_sums(self.chain, self.nodes, self.tokens(sequences))

    def counts_by_sequence(self, sequences: Sequences) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Expected counts of every sequence: start (n, K), pairs (n, K, K), emission (n, K, V + 1); for few words.

        The last of the words is the one that was not seen. Sequences are not weighted.
        """
        tokens = self.tokens(sequences)
        start, pairs, at_tokens = sequence_sums(self.chain, self.nodes, tokens)
        emission = np.zeros((sequences.n_sequences, at_tokens.shape[1], self.n_words + 1))
        owner = np.repeat(np.arange(sequences.n_sequences), sequences.lengths)
        np.add.at(emission.transpose(0, 2, 1), (owner, tokens.rows), at_tokens)
        return start, pairs, emission


def word_rows(sequences: Sequences, n_words: int) -> IntArray:
    """The row of nodes of every token: its word, or the last row where the vocabulary does not have it."""
    return np.where(sequences.words == NO_WORD, n_words, sequences.words)


def word_tokens(sequences: Sequences, n_words: int) -> Tokens:
    """The arrays of sequences of words."""
    evidence = sequences.evidence
    return make_tokens(
        word_rows(sequences, n_words), sequences.offsets, evidence.codes, evidence.weights, sequences.weights
    )


class OverWords(Protocol):
    """What has labels and words: a model or a family."""

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """What the label codes stand for."""

    @property
    def n_features(self) -> int:
        """The size of the vocabulary."""


def require_sequences_for(model: OverWords, sequences: Sequences) -> None:
    """Refuse sequences of other labels or another number of words than the model's."""
    if sequences.evidence.classes != model.classes:
        raise InvalidInputError(
            f"The sequences have the labels {sequences.evidence.classes!r}, the model {model.classes!r}. "
            "Both must name the same labels in the same order."
        )
    if sequences.n_features != model.n_features:
        raise InvalidInputError(
            f"The model has {model.n_features} words, the sequences have {sequences.n_features}. "
            "Use the same vocabulary for both."
        )


def drawn_sequences(
    chain: WordChain, word_probabilities: FloatArray, inputs: Sequences, rng: np.random.Generator
) -> Sequences:
    """Labeled sequences of the lengths of `inputs`: labels with all words summed out, then words given labels."""
    classes = inputs.evidence.classes
    unseen = Sequences(
        np.full(inputs.n_tokens, NO_WORD),
        inputs.offsets,
        Evidence(np.full(inputs.n_tokens, -1), classes),
        inputs.feature_names,
    )
    labels = chain.draw_labels(unseen, rng)
    words = np.empty(inputs.n_tokens, dtype=np.int64)
    for label, probabilities in enumerate(word_probabilities):
        positions = np.flatnonzero(labels == label)
        words[positions] = rng.choice(len(probabilities), size=positions.size, p=probabilities)
    return Sequences(words, inputs.offsets, Evidence(labels, classes), inputs.feature_names)


@dataclass(frozen=True, eq=False)
class ChainOfWords(ABC):
    """What models of words and labels in a chain do alike, whatever their potentials are made of."""

    unit: ClassVar[str]
    """What the entries of the tables are called in messages: " weights", or nothing for probabilities."""

    classes: tuple[Hashable, ...]  # What the label codes stand for.
    start: FloatArray | None  # (K,); None for a chain without such weights.
    transition: FloatArray  # (K, K): From a label (row) to the next.
    emission: FloatArray  # (K, V): A row per label.
    feature_names: tuple[str, ...] = ()  # The words; "word 0", "word 1", .. when absent.

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", require_classes(self.classes))
        for name, ndim in (("start", 1), ("transition", 2), ("emission", 2)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, as_floats(name + self.unit, getattr(self, name), ndim=ndim))
        n_classes = len(self.classes)
        if self.start is not None:
            require_shape("start" + self.unit, self.start, (n_classes,))
        require_shape("transition" + self.unit, self.transition, (n_classes, n_classes))
        require_shape("emission" + self.unit, self.emission, (n_classes, max(1, self.n_features)))
        names = require_feature_names(self.feature_names or Numbered("word", self.n_features), self.n_features)
        object.__setattr__(self, "feature_names", names)

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

    @property
    def tables(self) -> dict[str, FloatArray]:
        """``start`` (1, K) where there is one, ``transition`` (K, K) and ``emission`` (K, V)."""
        start = {} if self.start is None else {"start": self.start[None, :]}
        return start | {"transition": self.transition, "emission": self.emission}

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        """The same labels and words with other parameters."""
        start = None if self.start is None else np.ravel(tables["start"])
        return replace(self, start=start, transition=tables["transition"], emission=tables["emission"])

    def to_arrays(self) -> dict[str, AnyArray]:
        return {name: np.ravel(table) if name == "start" else table for name, table in self.tables.items()}

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
