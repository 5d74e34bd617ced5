"""How Boltzmann chains are fitted: the penalized likelihood of whatever is known, and its gradient."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Self

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.kernels.chain_expectation import expectation, make_workspace
from labelworth.kernels.chain_layout import lay_out
from labelworth.kernels.tables import padded_width
from labelworth.models.boltzmann_chain_model import BoltzmannChainModel
from labelworth.models.chain_counts import ChainCounts
from labelworth.models.chain_words import require_sequences_for, word_tokens
from labelworth.models.doors import require_classes, require_feature_names, require_strength
from labelworth.models.names import Numbered

__all__ = ["BoltzmannChainFamily", "BoltzmannChainModel", "BoltzmannChainObjective"]


@dataclass(frozen=True, eq=False)
class BoltzmannChainFamily:
    r"""Boltzmann chains with a Gaussian prior: the objective loses :math:`c\, |\theta|^2`.

    Attributes
    ----------
    classes : tuple
        What the label codes stand for.
    n_features : int
        The size of the vocabulary, V.
    penalty : float
        c, as for the CRF; one over twice the variance of the prior. 0 for plain maximum likelihood, whose maximizer
        is not unique: weights are redundant.
    with_start : bool
        Whether the first label has weights of its own.
    feature_names : tuple of str
        The words; "word 0", "word 1", .. when absent.
    """

    classes: tuple[Hashable, ...]
    n_features: int
    penalty: float = 1.0
    with_start: bool = True
    feature_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.n_features < 1:
            raise InvalidInputError(f"n_features must be at least 1. Got {self.n_features} instead.")
        object.__setattr__(self, "classes", require_classes(self.classes))
        object.__setattr__(self, "penalty", require_strength("penalty", self.penalty))
        names = require_feature_names(self.feature_names or Numbered("word", self.n_features), self.n_features)
        object.__setattr__(self, "feature_names", names)

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

    Parameters
    ----------
    family : BoltzmannChainFamily
        Labels, words and penalty.
    sequences : Sequences
        Words and evidence.
    weights : array of shape (n_sequences,)
        How much each sequence counts.

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
