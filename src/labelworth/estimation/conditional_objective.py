"""The penalized likelihood of a CRF as a function of one vector of weights."""

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.kernels.chains.attribute_layout import make_layout, observed_features
from labelworth.kernels.chains.attribute_pass import Evidence, attribute_pass, make_workspace
from labelworth.kernels.chains.potentials import Chain, make_chain, make_tokens
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel


class ConditionalObjective:
    r"""Minus the penalized log-likelihood, and its gradient.

    .. math:: -\sum_i \omega_i \log p_\theta(\text{evidence}_i | x_i) + c_2 |\theta|^2

    Theta is the start (where there is one), the transitions that are parameters, and the weights of attributes beside
    labels in the order in which the model stores them. The same bits for any number of threads.

    Parameters
    ----------
    model : ConditionalRandomFieldModel
        Which weights there are; their values play no part.
    sequences : Sequences
        With the attributes of the model. Sequences of which nothing is known contribute nothing: leave them out.
    c2 : float
        The coefficient of the sum of squares, as CRFsuite calls and counts it (no factor one half).
    """

    def __init__(self, model: ConditionalRandomFieldModel, sequences: Sequences, c2: float) -> None:
        self.model, self.c2 = model, c2
        features = model.features
        self._transitions = np.flatnonzero(features.transitions)
        self._n_start = 0 if model.start is None else model.n_classes
        self._n_head = self._n_start + len(self._transitions)
        attributes = sequences.attributes
        self._layout = make_layout(attributes, sequences.offsets, features.starts, features.labels, model.n_classes)
        self._workspace = make_workspace(self._layout)
        codes, weights = sequences.evidence.codes, sequences.sequence_weights
        is_partial = _has_unknown(sequences)
        known = np.where(np.repeat(is_partial, sequences.lengths), -1, codes)
        token_weights = np.repeat(weights, sequences.lengths)
        observed = observed_features(attributes, known, token_weights, features.starts, features.labels)
        self._observed_start, self._observed_pairs = _observed_labels(
            known, token_weights, sequences, model.n_classes
        )
        within = np.arange(sequences.n_tokens) - np.repeat(sequences.offsets[:-1], sequences.lengths)
        clamped = make_tokens(within, sequences.offsets, codes, sequences.evidence.weights, weights)
        free = clamped._replace(codes=np.full_like(clamped.codes, -1))
        self._evidence = Evidence(free, clamped, is_partial, observed)

    @property
    def size(self) -> int:
        """The length of theta."""
        return self._n_head + len(self._evidence.observed)

    def __call__(self, theta: FloatArray, gradient: FloatArray) -> float:
        """The value; its gradient is written to the second argument."""
        head, c2 = self._n_head, self.c2
        result = attribute_pass(
            self._layout, self._workspace, self._evidence, self._chain(theta), theta[head:], c2, gradient[head:]
        )
        expected, observed = (
            self._labels(result.start, result.pairs),
            self._labels(self._observed_start, self._observed_pairs),
        )
        gradient[:head] = expected - observed + 2 * c2 * theta[:head]
        return result.value + float(theta[:head] @ (c2 * theta[:head] - observed))

    def theta_of(self, model: ConditionalRandomFieldModel) -> FloatArray:
        """The weights of a model with the same parameters."""
        start = np.empty(0) if model.start is None else model.start
        return np.concatenate([start, model.transition.ravel()[self._transitions], model.emission.data])

    def model_of(self, theta: FloatArray) -> ConditionalRandomFieldModel:
        """The model with these weights."""
        chain = self._chain(theta)
        emission = self.model.emission.copy()
        emission.data = theta[self._n_head :].copy()
        start = None if self.model.start is None else chain.log_start
        return ConditionalRandomFieldModel(
            self.model.classes,
            start,
            chain.log_transition,
            emission,
            self.model.feature_names,
            self.model.transition_support,
        )

    def _chain(self, theta: FloatArray) -> Chain:
        n_labels = self.model.n_classes
        start, transition = np.zeros(n_labels), np.zeros(n_labels**2)
        start[: self._n_start] = theta[: self._n_start]
        transition[self._transitions] = theta[self._n_start : self._n_head]
        return make_chain(start, transition.reshape(n_labels, n_labels))

    def _labels(self, start: FloatArray, pairs: FloatArray) -> FloatArray:
        """Counts of first labels and of pairs, in the order of theta."""
        return np.concatenate([start[: self._n_start], pairs.ravel()[self._transitions]])


def _has_unknown(sequences: Sequences) -> BoolArray:
    """In which sequences some label is not known, (n_sequences,)."""
    unknown = np.concatenate([[0], np.cumsum(~sequences.evidence.is_gold)])
    partial: BoolArray = unknown[sequences.offsets[1:]] > unknown[sequences.offsets[:-1]]
    return partial


def _observed_labels(
    known: IntArray, token_weights: FloatArray, sequences: Sequences, n_labels: int
) -> tuple[FloatArray, FloatArray]:
    """Weighted counts of known first labels (K,) and pairs of neighboring labels (K, K)."""
    first = sequences.offsets[:-1]
    is_first = np.zeros(sequences.n_tokens, dtype=bool)
    is_first[first] = True
    begins = first[known[first] >= 0]
    start = np.bincount(known[begins], weights=token_weights[begins], minlength=n_labels)
    later = np.flatnonzero(~is_first & (known >= 0))
    keys = known[later - 1] * n_labels + known[later]
    pairs = np.bincount(keys, weights=token_weights[later], minlength=n_labels**2)
    return start.astype(np.float64), pairs.astype(np.float64).reshape(n_labels, n_labels)
