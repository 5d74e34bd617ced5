"""How hidden Markov models are fitted: expected counts of labels, neighbors and words, smoothed shares."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Self

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.kernels.chain_expectation import expectation, make_workspace
from labelworth.kernels.chain_layout import lay_out
from labelworth.kernels.tables import padded_width, sum_of_logarithms
from labelworth.models.chain_words import require_sequences_for, word_tokens
from labelworth.models.doors import require_classes, require_feature_names, require_strength
from labelworth.models.hidden_markov_model import HiddenMarkovModel
from labelworth.models.names import Numbered
from labelworth.models.probability_rows import smoothed_rows
from labelworth.models.protocol import Expectation

__all__ = ["HiddenMarkovFamily", "HiddenMarkovModel", "HiddenMarkovPass"]


class HiddenMarkovPass:
    """Sequences laid out for many passes.

    Parameters
    ----------
    sequences : Sequences
        Words and evidence.
    weights : array of shape (n_sequences,)
        How much each sequence counts.
    n_threads : int, optional
        All when None; the result does not depend on it.
    """

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

    Attributes
    ----------
    classes : tuple
        What the label codes stand for.
    n_features : int
        The size of the vocabulary, V.
    smoothing : float
        :math:`\alpha`, of the emissions; 0 for plain maximum likelihood.
    label_smoothing : float
        :math:`a`, of start and transitions.
    lengths : LengthDistribution, optional
        :math:`q(m)`; read off the sequences when absent.
    feature_names : tuple of str
        The words; "word 0", "word 1", .. when absent.
    """

    classes: tuple[Hashable, ...]
    n_features: int
    smoothing: float = 1.0
    label_smoothing: float = 1.0
    lengths: LengthDistribution | None = None
    feature_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.n_features < 1:
            raise InvalidInputError(f"n_features must be at least 1. Got {self.n_features} instead.")
        object.__setattr__(self, "classes", require_classes(self.classes))
        object.__setattr__(self, "smoothing", require_strength("smoothing", self.smoothing))
        object.__setattr__(self, "label_smoothing", require_strength("label_smoothing", self.label_smoothing))
        names = require_feature_names(self.feature_names or Numbered("word", self.n_features), self.n_features)
        object.__setattr__(self, "feature_names", names)

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
        lengths, place = np.unique(sequences.lengths, return_inverse=True)
        shares = np.bincount(place, weights=weights)
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
