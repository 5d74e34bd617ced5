"""Hidden Markov models: a chain of probabilities, fitted by expected counts and smoothed shares."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import ClassVar, Self

import numpy as np
from scipy.linalg import block_diag

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.kernels.chains.expectation import expectation, make_workspace
from labelworth.kernels.chains.layout import lay_out
from labelworth.kernels.chains.potentials import make_chain, nodes_from_probabilities
from labelworth.kernels.rows.tables import padded_width, sum_of_logarithms
from labelworth.models.blocks import arrow_name
from labelworth.models.chains.protocol import Reference
from labelworth.models.chains.words import ChainOfWords, WordChain, require_sequences_for, word_tokens
from labelworth.models.coordinates import Coordinates, SimplexRows
from labelworth.models.doors import check_family, stored
from labelworth.models.probability_rows import (
    require_interior,
    require_rows,
    row_curvature,
    smoothed_rows,
    squared_distance,
)
from labelworth.models.protocol import Expectation

_ROUNDING = 1e-15


@dataclass(frozen=True, eq=False)
class HiddenMarkovModel(ChainOfWords):
    r"""A Markov chain of labels with a word beside each.

    .. math:: p(x, y | m) = \pi_{y_1} \prod_{t=2}^m A_{y_{t-1} y_t} \prod_{t=1}^m B_{y_t x_t}

    A token whose word is not in the vocabulary (`NO_WORD`) is a word that was not observed: it is summed out, which
    is the factor one. Probabilities may be zero; only scores and information need them all positive.

    Examples
    --------
    >>> model = HiddenMarkovModel(("A", "B"), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]])
    >>> model.coordinates.names()
    ['start A', 'transition A -> A', 'transition B -> A', 'emission A -> word 0', 'emission B -> word 0']

    Notes
    -----
    Paper: `log_evidence` is the term of one sequence in eq:ll2.
    """

    kind: ClassVar[str] = "hidden-markov"
    reference: ClassVar[Reference] = Reference.NOTHING
    unit: ClassVar[str] = ""

    start: FloatArray  # (K,): :math:`\pi`.
    # :math:`q(m)` of the sequences that the model was fitted to, where it was; it carries no parameter.
    lengths: LengthDistribution | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("start", "transition", "emission"):
            require_rows(name, getattr(self, name))

    @cached_property
    def coordinates(self) -> Coordinates:
        """Start, transition and emission, each row without its last probability."""
        labels = [str(name) for name in self.classes]
        return Coordinates(
            (
                SimplexRows("start", [""], labels, arrow_name),
                SimplexRows("transition", labels, labels, arrow_name),
                SimplexRows("emission", labels, self.feature_names, arrow_name),
            )
        )

    def with_features(self, kept: IntArray) -> Self:
        """The model without other words than these: their probabilities over the sum of each row."""
        sums = self.emission[:, kept].sum(axis=1, keepdims=True)
        if (sums <= 0).any():
            label = self.classes[int(np.argmin(sums))]
            raise InvalidInputError(f"The label {label!r} has none of the words that are kept. Keep one that it has.")
        names = tuple(self.feature_names[position] for position in kept.tolist())
        return replace(self, emission=self.emission[:, kept] / sums, feature_names=names)

    @cached_property
    def word_chain(self) -> WordChain:
        with np.errstate(divide="ignore"):
            chain = make_chain(np.log(self.start), np.log(self.transition))
        return WordChain(chain, nodes_from_probabilities(self.emission))

    @property
    def word_probabilities(self) -> FloatArray:
        return self.emission

    def log_evidence(self, sequences: Sequences) -> FloatArray:
        """log p(evidence, x) of every sequence, given its length; minus infinity where it is impossible."""
        require_sequences_for(self, sequences)
        return self.word_chain.log_totals(sequences)

    def scores(self, sequences: Sequences) -> FloatArray:
        """Gradient of `log_evidence` in free coordinates, (n_sequences, d): expected counts over probabilities."""
        require_sequences_for(self, sequences)
        self.require_interior()
        start, pairs, emission = self.word_chain.counts_by_sequence(sequences)
        counts = (start[:, None], pairs, emission[:, :, :-1])
        rows = [
            (count / table).reshape(sequences.n_sequences, -1)
            for count, table in zip(counts, self.tables.values(), strict=True)
        ]
        return np.ascontiguousarray(self.coordinates.pull(np.concatenate(rows, axis=1).T).T)

    def expected_visits(self, lengths: LengthDistribution) -> tuple[FloatArray, FloatArray]:
        """How often each label is expected at a token, and at a token with another behind it, (K,) each."""
        reached = np.zeros(lengths.longest + 1)  # the probability that a sequence has this position
        reached[lengths.lengths - 1] = lengths.probabilities
        reached = np.cumsum(reached[::-1])[::-1]
        visits, departures, label = np.zeros(self.n_classes), np.zeros(self.n_classes), self.start
        for position in range(lengths.longest):
            following = label @ self.transition
            if position and (np.abs(following - label) <= _ROUNDING * label).all():
                visits += reached[position:].sum() * label
                departures += reached[position + 1 :].sum() * label
                break
            visits += reached[position] * label
            departures += reached[position + 1] * label
            label = following
        return visits, departures

    def complete_information(self, lengths: LengthDistribution) -> FloatArray:
        r"""Information of one fully labeled sequence in free coordinates, (d, d).

        Block diagonal, a block per row of probabilities: :math:`n_k (\operatorname{diag}(1/p_k) + 1/p_{k,last})`
        with :math:`n_k` the expected number of times that row is drawn from.
        """
        self.require_interior()
        visits, departures = self.expected_visits(lengths)
        return self.curvature(self.start, departures[:, None] * self.transition, visits[:, None] * self.emission)

    def curvature(self, start: FloatArray, pairs: FloatArray, emission: FloatArray) -> FloatArray:
        """Minus the Hessian of the complete log-likelihood with these counts, (d, d)."""
        blocks = [row_curvature(start, self.start)]
        blocks += [row_curvature(*rows) for rows in zip(pairs, self.transition, strict=True)]
        blocks += [row_curvature(*rows) for rows in zip(emission, self.emission, strict=True)]
        return np.asarray(block_diag(*blocks))

    def divergence(self, other: Self) -> float:
        """Half the squared step in the complete information, in nats per sequence."""
        if self.lengths is None:
            raise InvalidInputError("Distances are measured per sequence: build the model with lengths=.")
        visits, departures = self.expected_visits(self.lengths)
        start = float(squared_distance(self.start, other.start))
        transition = float(departures @ squared_distance(self.transition, other.transition))
        emission = float(visits @ squared_distance(self.emission, other.emission))
        return 2 * (start + transition + emission)

    def to_arrays(self) -> dict[str, AnyArray]:
        """The three tables, and the distribution of lengths where there is one."""
        if self.lengths is None:
            return super().to_arrays()
        lengths = {"lengths": self.lengths.lengths, "length_probabilities": self.lengths.probabilities}
        return super().to_arrays() | lengths

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, AnyArray], *, classes: tuple[Hashable, ...], feature_names: tuple[str, ...]
    ) -> Self:
        lengths = None
        if "lengths" in arrays:
            lengths = LengthDistribution(arrays["lengths"], stored(arrays, "length_probabilities"))
        return cls(
            classes,
            stored(arrays, "start"),
            stored(arrays, "transition"),
            stored(arrays, "emission"),
            feature_names,
            lengths,
        )

    def require_interior(self) -> None:
        """Refuse probabilities of zero, where there is no score and no information."""
        for name, table in self.tables.items():
            require_interior(f"{name} probabilities", table)


class HiddenMarkovPass:
    """Sequences laid out for many passes."""

    def __init__(self, sequences: Sequences, weights: FloatArray, n_threads: int | None = None) -> None:
        n_words, n_labels = sequences.n_features, sequences.evidence.n_classes
        tokens = word_tokens(sequences, n_words)._replace(sequence_weights=weights)
        self._layout = lay_out(tokens, n_words + 1)
        self._workspace = make_workspace(self._layout, n_words + 1, padded_width(n_labels))
        self._n_threads = n_threads
        self._in_use = Lock()

    def expectation(self, model: HiddenMarkovModel) -> Expectation:
        """Expected ``start`` (K,), ``pairs`` (K, K) and ``emission`` (K, V) counts, and the log-likelihood."""
        chain, nodes = model.word_chain
        with self._in_use:
            sums = expectation(self._layout, self._workspace, chain, nodes, self._n_threads)
        statistics = {"start": sums.start, "pairs": sums.pairs, "emission": sums.nodes[:, :-1]}
        return Expectation(statistics, float(self._layout.tokens.sequence_weights @ sums.log_totals))


@dataclass(frozen=True, eq=False)
class HiddenMarkovFamily:
    r"""Hidden Markov models with Dirichlet priors on all rows of probabilities.

    The objective gains :math:`a (\sum_k \log \pi_k + \sum_{kl} \log A_{kl}) + \alpha \sum_{kw} \log B_{kw}`, so that
    the maximizer for labeled data adds a and alpha to the counts. Words that were not seen (`NO_WORD`) are not
    counted as emissions; their labels count as any others.
    """

    classes: tuple[Hashable, ...]  # What the label codes stand for.
    n_features: int  # The size of the vocabulary, V.
    smoothing: float = 1.0  # :math:`\alpha`, of the emissions; 0 for plain maximum likelihood.
    label_smoothing: float = 1.0  # :math:`a`, of start and transitions.
    lengths: LengthDistribution | None = None  # :math:`q(m)`; read off the sequences when absent.
    feature_names: tuple[str, ...] = ()  # The words; "word 0", "word 1", .. when absent.

    def __post_init__(self) -> None:
        check_family(self, ("smoothing", "label_smoothing"), unnamed="word")

    @classmethod
    def for_sequences(cls, sequences: Sequences, *, smoothing: float = 1.0, label_smoothing: float = 1.0) -> Self:
        """The family with the labels and words of `sequences`."""
        return cls(
            sequences.evidence.classes,
            sequences.n_features,
            smoothing,
            label_smoothing,
            feature_names=sequences.feature_names,
        )

    def adapted(self, sequences: Sequences, weights: FloatArray) -> Self:
        """Read the distribution of lengths off the sequences, each counting its weight."""
        if self.lengths is not None:
            return self
        lengths, position = np.unique(sequences.lengths, return_inverse=True)
        shares = np.bincount(position, weights=weights)
        counted = shares > 0
        return replace(self, lengths=LengthDistribution(lengths[counted], shares[counted] / shares.sum()))

    def prepare(self, sequences: Sequences, weights: FloatArray) -> HiddenMarkovPass:
        """Check the sequences and lay them out."""
        require_sequences_for(self, sequences)
        return HiddenMarkovPass(sequences, np.ascontiguousarray(weights, dtype=np.float64))

    def neutral(self) -> HiddenMarkovModel:
        """Uniform probabilities: words and neighbors say nothing of a label."""
        n_labels = len(self.classes)
        return self._model(
            np.full(n_labels, 1 / n_labels),
            np.full((n_labels, n_labels), 1 / n_labels),
            np.full((n_labels, self.n_features), 1 / self.n_features),
        )

    def maximize(self, statistics: Mapping[str, FloatArray]) -> HiddenMarkovModel:
        """Smoothed shares of the expected counts."""
        return self._model(
            smoothed_rows(statistics["start"], self.label_smoothing),
            smoothed_rows(statistics["pairs"], self.label_smoothing),
            smoothed_rows(statistics["emission"], self.smoothing),
        )

    def log_prior(self, model: HiddenMarkovModel) -> float:
        """Smoothing times the sum of the log probabilities; 0 without smoothing."""
        total = 0.0
        if self.label_smoothing:
            labels = sum_of_logarithms(model.start) + sum_of_logarithms(model.transition)
            total += self.label_smoothing * labels
        if self.smoothing:
            total += self.smoothing * sum_of_logarithms(model.emission)
        return total

    def prior_curvature(self, model: HiddenMarkovModel) -> FloatArray:
        """Minus the Hessian of the log prior in free coordinates, (d, d); for small d."""
        model.require_interior()
        n_labels = len(self.classes)
        return model.curvature(
            np.full(n_labels, self.label_smoothing),
            np.full((n_labels, n_labels), self.label_smoothing),
            np.full((n_labels, self.n_features), self.smoothing),
        )

    def smoother(self, factor: float) -> Self:
        """The same family with priors `factor` times as strong; as strong as `factor` where there is none."""
        return replace(
            self,
            smoothing=factor * (self.smoothing or 1.0),
            label_smoothing=factor * (self.label_smoothing or 1.0),
        )

    def _model(self, start: FloatArray, transition: FloatArray, emission: FloatArray) -> HiddenMarkovModel:
        return HiddenMarkovModel(self.classes, start, transition, emission, self.feature_names, self.lengths)
