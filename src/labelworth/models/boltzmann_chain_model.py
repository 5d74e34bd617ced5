"""Boltzmann chain: log-weights of labels, of their neighbors and of words beside them, normalized over everything."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from scipy.special import logsumexp

from labelworth.arrays import AnyArray, FloatArray, IntArray, as_floats, require_shape
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.kernels.chain_potentials import make_chain, nodes_from_logs
from labelworth.models.boltzmann_covariance import label_covariance, with_words
from labelworth.models.chain_counts import ChainCounts
from labelworth.models.chain_of_words import ChainOfWords
from labelworth.models.chain_protocol import Reference
from labelworth.models.chain_words import WordChain, require_sequences_for
from labelworth.models.coordinates import Coordinates, FreeTable
from labelworth.models.doors import require_classes, require_feature_names, stored
from labelworth.models.names import Numbered, arrow_name


@dataclass(frozen=True, eq=False)
class BoltzmannChainModel(ChainOfWords):
    r"""A chain given by log-weights, normalized over all words and labels of its length.

    .. math::

        p(x, y | m) = \frac{1}{Z_m} \exp\Bigl(s_{y_1} + \sum_{t=2}^m a_{y_{t-1} y_t} + \sum_{t=1}^m b_{y_t x_t}\Bigr)

    A token whose word is not in the vocabulary (`NO_WORD`) is a word that was not observed: all words are summed over
    at its place, so that probabilities stay probabilities.

    The weights are redundant: adding a constant to all transitions, or to all emissions, changes nothing.

    Attributes
    ----------
    classes : tuple
        What the label codes stand for.
    start : array of shape (K,), or None
        :math:`s`; None for a chain without such weights.
    transition : array of shape (K, K)
        :math:`a`, from a label (row) to the next.
    emission : array of shape (K, V)
        :math:`b`, a row per label.
    feature_names : tuple of str
        The words; "word 0", "word 1", .. when absent.

    Examples
    --------
    >>> model = BoltzmannChainModel(("A", "B"), None, [[1.0, 0.0], [0.0, 1.0]], [[0.5], [0.0]])
    >>> model.coordinates.names()[1:5]
    ['transition A -> B', 'transition B -> A', 'transition B -> B', 'emission A -> word 0']

    Notes
    -----
    Paper: `log_evidence` is the term of one sequence in eq:ll2.
    """

    kind: ClassVar[str] = "boltzmann-chain"
    reference: ClassVar[Reference] = Reference.WORDS_AND_LABELS

    classes: tuple[Hashable, ...]
    start: FloatArray | None
    transition: FloatArray
    emission: FloatArray
    feature_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", require_classes(self.classes))
        if self.start is not None:
            object.__setattr__(self, "start", as_floats("start weights", self.start, ndim=1))
            require_shape("start weights", np.asarray(self.start), (self.n_classes,))
        object.__setattr__(self, "transition", as_floats("transition weights", self.transition, ndim=2))
        object.__setattr__(self, "emission", as_floats("emission weights", self.emission, ndim=2))
        require_shape("transition weights", self.transition, (self.n_classes, self.n_classes))
        require_shape("emission weights", self.emission, (self.n_classes, max(1, self.n_features)))
        names = require_feature_names(self.feature_names or Numbered("word", self.n_features), self.n_features)
        object.__setattr__(self, "feature_names", names)

    @cached_property
    def coordinates(self) -> Coordinates:
        """Start (where there is one), transition and emission: all log-weights are free."""
        labels = [str(name) for name in self.classes]
        start = [] if self.start is None else [FreeTable("start", [""], labels, naming=arrow_name)]
        transition = FreeTable("transition", labels, labels, naming=arrow_name)
        emission = FreeTable("emission", labels, self.feature_names, naming=arrow_name)
        return Coordinates((*start, transition, emission))

    @property
    def tables(self) -> dict[str, FloatArray]:
        """``start`` (1, K) where there is one, ``transition`` (K, K) and ``emission`` (K, V)."""
        start = {} if self.start is None else {"start": self.start[None, :]}
        return start | {"transition": self.transition, "emission": self.emission}

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        """The same labels and words with other weights."""
        start = None if self.start is None else np.ravel(tables["start"])
        return replace(self, start=start, transition=tables["transition"], emission=tables["emission"])

    def with_features(self, kept: IntArray) -> Self:
        """The model without other words than these: what it says of sequences that have no others."""
        names = tuple(self.feature_names[place] for place in kept.tolist())
        return replace(self, emission=self.emission[:, kept], feature_names=names)

    @cached_property
    def log_word_sums(self) -> FloatArray:
        """log of the sum over all words of exp(emission), (K,)."""
        return np.asarray(logsumexp(self.emission, axis=1))

    @cached_property
    def word_probabilities(self) -> FloatArray:
        """p(word | label), (K, V)."""
        return np.exp(self.emission - self.log_word_sums[:, None])

    @cached_property
    def word_chain(self) -> WordChain:
        """What the recursion runs on."""
        start = np.zeros(self.n_classes) if self.start is None else self.start
        logs = np.concatenate([self.emission.T, self.log_word_sums[None, :]])
        return WordChain(make_chain(start, self.transition), nodes_from_logs(logs))

    def log_normalizers(self, lengths: IntArray) -> FloatArray:
        """log Z_m of every length in `lengths`, (n,)."""
        distinct, place = np.unique(lengths, return_inverse=True)
        return self.word_chain.log_totals(self._unseen(distinct))[place]

    def log_evidence(self, sequences: Sequences) -> FloatArray:
        """log p(evidence, x) of every sequence, given its length."""
        require_sequences_for(self, sequences)
        return self.word_chain.log_totals(sequences) - self.log_normalizers(sequences.lengths)

    def counts(self, sequences: Sequences) -> tuple[ChainCounts, float]:
        """Expected counts given words and evidence, weighted by sequence, and the weighted sum of log Z (clamped)."""
        sums = self.word_chain.sums(sequences)
        emission = sums.nodes[:, :-1] + sums.nodes[:, -1:] * self.word_probabilities
        total = float(sequences.sequence_weights @ sums.log_totals)
        return ChainCounts(sums.start, sums.pairs, emission), total

    def reference_counts(self, lengths: IntArray, weights: FloatArray) -> tuple[ChainCounts, float]:
        """Expected counts of sequences of these lengths, each times its weight, and the weighted sum of log Z_m."""
        distinct, place = np.unique(lengths, return_inverse=True)
        shares = np.bincount(place, weights).astype(np.float64, copy=False)
        return self.counts(replace(self._unseen(distinct), weights=shares))

    def scores(self, sequences: Sequences) -> FloatArray:
        """Gradient of `log_evidence`, (n_sequences, d): expected counts less those of a sequence of that length."""
        require_sequences_for(self, sequences)
        distinct, place = np.unique(sequences.lengths, return_inverse=True)
        return self._counts_by_sequence(sequences) - self._counts_by_sequence(self._unseen(distinct))[place]

    def complete_information(self, lengths: LengthDistribution) -> FloatArray:
        """Information of one fully labeled sequence, (d, d): the covariance of the counts, averaged over lengths."""
        start = np.zeros(self.n_classes) if self.start is None else self.start
        total = np.zeros((self.coordinates.n_free, self.coordinates.n_free))
        for length, probability in lengths.items():
            labels = label_covariance(start, self.transition, self.log_word_sums, length)
            covariance = with_words(labels, self.word_probabilities)
            if self.start is None:
                covariance = covariance[self.n_classes :, self.n_classes :]
            total += probability * covariance
        return total

    def to_arrays(self) -> dict[str, AnyArray]:
        """The tables."""
        return {name: np.ravel(table) if name == "start" else table for name, table in self.tables.items()}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, AnyArray], *, classes: tuple[Hashable, ...], feature_names: tuple[str, ...]
    ) -> Self:
        """Build the model again, checking everything."""
        return cls(
            classes, arrays.get("start"), stored(arrays, "transition"), stored(arrays, "emission"), feature_names
        )

    def _counts_by_sequence(self, sequences: Sequences) -> FloatArray:
        """Expected counts of every sequence in the order of the coordinates, (n_sequences, d)."""
        start, pairs, emission = self.word_chain.counts_by_sequence(sequences)
        words = emission[:, :, :-1] + emission[:, :, -1:] * self.word_probabilities
        tables = [pairs, words] if self.start is None else [start, pairs, words]
        return np.concatenate([table.reshape(sequences.n_sequences, -1) for table in tables], axis=1)

    def _unseen(self, lengths: IntArray) -> Sequences:
        """Sequences of these lengths of which nothing was seen, neither words nor labels."""
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        unlabeled = Evidence(np.full(int(offsets[-1]), -1), self.classes)
        return Sequences(np.full(int(offsets[-1]), NO_WORD), offsets, unlabeled, self.feature_names)
