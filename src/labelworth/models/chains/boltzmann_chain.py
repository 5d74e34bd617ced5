"""Boltzmann chains: log-weights, their penalized likelihood with its gradient, and the covariance of their counts."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from scipy.special import logsumexp

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.kernels.chains.expectation import expectation, make_workspace
from labelworth.kernels.chains.layout import lay_out
from labelworth.kernels.chains.potentials import make_chain, nodes_from_logs
from labelworth.kernels.rows.tables import padded_width
from labelworth.models.blocks import arrow_name
from labelworth.models.chains.protocol import Reference
from labelworth.models.chains.words import ChainCounts, ChainOfWords, WordChain, require_sequences_for, word_tokens
from labelworth.models.coordinates import Coordinates, FreeTable
from labelworth.models.doors import check_family, stored


@dataclass(frozen=True, eq=False)
class BoltzmannChainModel(ChainOfWords):
    r"""A chain given by log-weights, normalized over all words and labels of its length.

    .. math::

        p(x, y | m) = \frac{1}{Z_m} \exp\Bigl(s_{y_1} + \sum_{t=2}^m a_{y_{t-1} y_t} + \sum_{t=1}^m b_{y_t x_t}\Bigr)

    A token whose word is not in the vocabulary (`NO_WORD`) is a word that was not observed: all words are summed over
    at its place, so that probabilities stay probabilities.

    The weights are redundant: adding a constant to all transitions, or to all emissions, changes nothing.

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
    unit: ClassVar[str] = " weights"

    @cached_property
    def coordinates(self) -> Coordinates:
        """Start (where there is one), transition and emission: all log-weights are free."""
        labels = [str(name) for name in self.classes]
        start = [] if self.start is None else [FreeTable("start", [""], labels, naming=arrow_name)]
        transition = FreeTable("transition", labels, labels, naming=arrow_name)
        emission = FreeTable("emission", labels, self.feature_names, naming=arrow_name)
        return Coordinates((*start, transition, emission))

    def with_features(self, kept: IntArray) -> Self:
        """The model without other words than these: what it says of sequences that have no others."""
        names = tuple(self.feature_names[position] for position in kept.tolist())
        return replace(self, emission=self.emission[:, kept], feature_names=names)

    @cached_property
    def log_word_sums(self) -> FloatArray:
        """log of the sum over all words of exp(emission), (K,)."""
        return np.asarray(logsumexp(self.emission, axis=1))

    @cached_property
    def word_probabilities(self) -> FloatArray:
        return np.exp(self.emission - self.log_word_sums[:, None])

    @cached_property
    def word_chain(self) -> WordChain:
        start = np.zeros(self.n_classes) if self.start is None else self.start
        logs = np.concatenate([self.emission.T, self.log_word_sums[None, :]])
        return WordChain(make_chain(start, self.transition), nodes_from_logs(logs))

    def log_normalizers(self, lengths: IntArray) -> FloatArray:
        """log Z_m of every length in `lengths`, (n,)."""
        distinct, position = np.unique(lengths, return_inverse=True)
        return self.word_chain.log_totals(self._unseen(distinct))[position]

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
        distinct, position = np.unique(lengths, return_inverse=True)
        shares = np.bincount(position, weights).astype(np.float64, copy=False)
        return self.counts(replace(self._unseen(distinct), weights=shares))

    def scores(self, sequences: Sequences) -> FloatArray:
        """Gradient of `log_evidence`, (n_sequences, d): expected counts less those of a sequence of that length."""
        require_sequences_for(self, sequences)
        distinct, position = np.unique(sequences.lengths, return_inverse=True)
        return self._counts_by_sequence(sequences) - self._counts_by_sequence(self._unseen(distinct))[position]

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

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, AnyArray], *, classes: tuple[Hashable, ...], feature_names: tuple[str, ...]
    ) -> Self:
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


@dataclass(frozen=True, eq=False)
class BoltzmannChainFamily:
    r"""Boltzmann chains with a Gaussian prior: the objective loses :math:`c\, |\theta|^2`."""

    classes: tuple[Hashable, ...]  # What the label codes stand for.
    n_features: int  # The size of the vocabulary, V.
    # c, as for the CRF; one over twice the variance of the prior. 0 for plain maximum likelihood, whose
    # maximizer is not unique: weights are redundant.
    penalty: float = 1.0
    with_start: bool = True  # Whether the first label has weights of its own.
    feature_names: tuple[str, ...] = ()  # The words; "word 0", "word 1", .. when absent.

    def __post_init__(self) -> None:
        check_family(self, ("penalty",), unnamed="word")

    @classmethod
    def for_sequences(cls, sequences: Sequences, *, penalty: float = 1.0, with_start: bool = True) -> Self:
        """The family with the labels and words of `sequences`."""
        return cls(sequences.evidence.classes, sequences.n_features, penalty, with_start, sequences.feature_names)

    def neutral(self) -> BoltzmannChainModel:
        """All weights zero: all sequences of a length are equally probable."""
        n_labels = len(self.classes)
        return BoltzmannChainModel(
            self.classes,
            np.zeros(n_labels) if self.with_start else None,
            np.zeros((n_labels, n_labels)),
            np.zeros((n_labels, self.n_features)),
            self.feature_names,
        )

    def log_prior(self, model: BoltzmannChainModel) -> float:
        """Minus the penalty times the sum of the squared weights."""
        return -self.penalty * float(np.square(model.coordinates.flatten(model.tables)).sum())

    def prior_curvature(self, model: BoltzmannChainModel) -> FloatArray:
        """Minus the Hessian of `log_prior`, (d, d)."""
        return 2 * self.penalty * np.eye(model.coordinates.n_free)


class BoltzmannChainObjective:
    r"""Minus the penalized log-likelihood as a function of the weights, with its gradient.

    .. math:: \sum_i w_i \bigl(\log Z_{m_i} - \log Z(\text{evidence}_i, x_i)\bigr) + c\, |\theta|^2, \qquad
              \text{gradient: } E[T] - E[T | \text{evidence}, x] + 2 c\, \theta

    Notes
    -----
    Paper: eq:ll2.
    """

    def __init__(self, family: BoltzmannChainFamily, sequences: Sequences, weights: FloatArray) -> None:
        require_sequences_for(family, sequences)
        self._family, self._neutral = family, family.neutral()
        self._lengths, self._weights = sequences.lengths, np.ascontiguousarray(weights, dtype=np.float64)
        tokens = word_tokens(sequences, sequences.n_features)._replace(sequence_weights=self._weights)
        self._layout = lay_out(tokens, sequences.n_features + 1)
        width = padded_width(len(family.classes))
        self._workspace = make_workspace(self._layout, sequences.n_features + 1, width)

    @property
    def size(self) -> int:
        """The number of weights, d."""
        return self._neutral.coordinates.n_free

    def model(self, theta: FloatArray) -> BoltzmannChainModel:
        """The model with these weights."""
        return self._neutral.with_tables(self._neutral.coordinates.named(theta))

    def __call__(self, theta: FloatArray, gradient: FloatArray) -> float:
        """Write the gradient, return the value."""
        model = self.model(theta)
        chain, nodes = model.word_chain
        sums = expectation(self._layout, self._workspace, chain, nodes)
        seen = ChainCounts(sums.start, sums.pairs, sums.nodes[:, :-1] + sums.nodes[:, -1:] * model.word_probabilities)
        free, log_normalizer = model.reference_counts(self._lengths, self._weights)
        gradient[:] = model.coordinates.flatten(free.minus(seen).tables())
        gradient += 2 * self._family.penalty * theta
        value = log_normalizer - float(self._weights @ sums.log_totals)
        return value + self._family.penalty * float(theta @ theta)


def label_covariance(
    start: FloatArray, transition: FloatArray, log_word_sums: FloatArray, length: int
) -> tuple[FloatArray, FloatArray]:
    r"""Covariance and mean of the first label (K) and of the neighbors (K * K) of a chain of labels.

    Labels of a chain of m tokens are a Markov chain; with :math:`P_t(c, d)` its transition after position t and
    :math:`\xi_t` the probability of a pair there,

    .. math::

        E[N_{ab} N_{cd}] = \delta \sum_t \xi_t(a, b)
        + \sum_{t < s} \bigl(\xi_t(a, b)\, (P_{t+1} \cdots P_{s-1})_{bc}\, P_s(c, d) + \text{its mirror image}\bigr)

    The sum over t is carried along s, at O(K^4) a position.

    Parameters
    ----------
    start, transition : arrays of shape (K,) and (K, K)
        Log-weights.
    log_word_sums : array of shape (K,)
        log of the sum over words of exp(emission).
    length : int
        m.

    Returns
    -------
    covariance : array of shape (K + K * K, K + K * K)
    mean : array of shape (K + K * K,)
    """
    n_labels = len(start)
    steps, first = _label_chain(start, transition, log_word_sums, length)
    size = n_labels + n_labels**2
    second, mean = np.zeros((size, size)), np.zeros(size)
    mean[:n_labels] = first
    # reached[event, c]: the expected number of such events so far, together with label c here.
    reached, here = np.zeros((size, n_labels)), first
    reached[:n_labels] = np.diag(first)
    landing = np.tile(np.eye(n_labels), (n_labels, 1))
    for step in steps:
        second[:, n_labels:] += (reached[:, :, None] * step).reshape(size, -1)
        pairs = (here[:, None] * step).ravel()
        mean[n_labels:] += pairs
        reached = reached @ step
        reached[n_labels:] += pairs[:, None] * landing
        here = here @ step
    second[n_labels:, n_labels:] += second[n_labels:, n_labels:].T
    second[n_labels:, :n_labels] = second[:n_labels, n_labels:].T
    second[np.diag_indices(size)] += mean
    return second - np.outer(mean, mean), mean


def with_words(labels: tuple[FloatArray, FloatArray], word_probabilities: FloatArray) -> FloatArray:
    r"""Add the words: covariance of first labels, neighbors and words beside labels, (K + K^2 + K V) squared.

    Given the labels, the words beside label k are :math:`N_k` independent draws, with :math:`N_k` itself the first
    label or the second of a pair.
    """
    covariance, mean = labels
    n_labels, n_words = word_probabilities.shape
    visits = np.concatenate([np.eye(n_labels), np.tile(np.eye(n_labels), (n_labels, 1))])
    words = np.zeros((n_labels, n_labels * n_words))
    for label, probabilities in enumerate(word_probabilities):
        words[label, label * n_words : (label + 1) * n_words] = probabilities
    lifted = np.concatenate([np.eye(len(mean)), visits @ words], axis=1)
    total = lifted.T @ covariance @ lifted
    for label, (count, probabilities) in enumerate(zip(mean @ visits, word_probabilities, strict=True)):
        position = slice(len(mean) + label * n_words, len(mean) + (label + 1) * n_words)
        total[position, position] += count * (np.diag(probabilities) - np.outer(probabilities, probabilities))
    return np.asarray(total)


def _label_chain(
    start: FloatArray, transition: FloatArray, log_word_sums: FloatArray, length: int
) -> tuple[list[FloatArray], FloatArray]:
    """The transition probabilities after every position but the last, and the probabilities of the first label."""
    steps, future = [], np.zeros(len(start))
    for _ in range(length - 1):
        logs = transition + log_word_sums + future
        # Only differences between labels matter, and those stay small.
        future = logsumexp(logs, axis=1)
        steps.append(np.exp(logs - future[:, None]))
        future -= future.max()
    first = start + log_word_sums + future
    return steps[::-1], np.exp(first - logsumexp(first))
