"""Where sequences come from: lengths, inputs and a model that is taken for true."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import UNLABELED, FloatArray, IntArray, as_floats, require_probabilities, require_shape
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.protocol import ChainModel, Reference


@dataclass(frozen=True, eq=False)
class ChainPopulation:
    """A chain with its lengths; for a conditional model, also with what its inputs are.

    Attributes
    ----------
    model : ChainModel
        With the parameters taken for true.
    lengths : LengthDistribution
        q(m).
    inputs : Sequences, optional
        Sequences of which each is as probable as its weight says; a generative model takes only their lengths.
    input_probabilities : array of shape (n_features,), optional
        A conditional model's words are drawn independently from it when there are no `inputs`; uniform when absent.
    """

    model: ChainModel
    lengths: LengthDistribution
    inputs: Sequences | None = None
    input_probabilities: FloatArray | None = None

    @classmethod
    def of(
        cls,
        model: ChainModel,
        *,
        lengths: LengthDistribution | None = None,
        inputs: Sequences | None = None,
        input_probabilities: FloatArray | None = None,
    ) -> "ChainPopulation":
        """Take the lengths from `inputs` when they are not given.

        Raises
        ------
        InvalidInputError
            Unless there is exactly one of `lengths` and `inputs`, and `input_probabilities` only where it is used.
        """
        conditional = model.reference is Reference.LABELS
        if inputs is not None and lengths is None:
            lengths = _lengths_of(inputs)
            if conditional and inputs.feature_names != model.feature_names:
                raise InvalidInputError("The inputs must have the words or attributes of the model, in that order.")
        elif lengths is None or inputs is not None:
            raise InvalidInputError("Say how long sequences are, once: lengths=, or inputs= for real ones.")
        if input_probabilities is not None:
            if not conditional or inputs is not None:
                raise InvalidInputError(
                    "input_probabilities are those of the words of a conditional model without inputs=; "
                    f"here {'there are inputs' if conditional else f'the model is a {model.kind}'}."
                )
            input_probabilities = as_floats("input_probabilities", input_probabilities, ndim=1)
            require_shape("input_probabilities", input_probabilities, (model.n_features,))
            require_probabilities("input_probabilities", input_probabilities)
        return cls(model, lengths, inputs, input_probabilities)

    @property
    def is_conditional(self) -> bool:
        """Whether the model is one of labels given inputs."""
        return self.model.reference is Reference.LABELS

    @cached_property
    def _word_probabilities(self) -> FloatArray:
        n_words = self.model.n_features
        return np.full(n_words, 1 / n_words) if self.input_probabilities is None else self.input_probabilities

    def draw(self, n_sequences: int, rng: np.random.Generator) -> Sequences:
        """Fully labeled sequences, drawn independently."""
        if self.is_conditional and self.inputs is not None:
            shares = self.inputs.sequence_weights / self.inputs.sequence_weights.sum()
            chosen = self.inputs.take(rng.choice(self.inputs.n_sequences, size=n_sequences, p=shares))
            return self.model.sample(self._plain(chosen.features, chosen.lengths), rng)
        lengths = self.lengths.sample(n_sequences, rng)
        n_tokens = int(lengths.sum())
        if self.is_conditional:
            words = rng.choice(self.model.n_features, size=n_tokens, p=self._word_probabilities)
        else:
            words = np.zeros(n_tokens, dtype=np.int64)
        return self.model.sample(self._plain(words, lengths), rng)

    def n_inputs(self, length: int) -> float:
        """How many distinct inputs of one length are summed over; infinity if there is no counting them."""
        if self.is_conditional and self.inputs is not None:
            return float((self.inputs.lengths == length).sum())
        return float(self.model.n_features) ** length

    def weighted_inputs(self, length: int, most: int) -> Iterator[tuple[Sequences, FloatArray]]:
        """Every input of one length, without labels, at most so many at a time, each with what it counts.

        That is q(m) p(x) for a conditional model, and q(m) for a generative one, whose p(x, y) has the rest in it.
        """
        share = float(self.lengths.probabilities[self.lengths.lengths == length][0])
        if self.is_conditional and self.inputs is not None:
            rows = np.flatnonzero(self.inputs.lengths == length)
            weights = self.inputs.sequence_weights / self.inputs.sequence_weights.sum()
            for start in range(0, len(rows), most):
                part = rows[start : start + most]
                chosen = self.inputs.take(part)
                yield self._plain(chosen.features, chosen.lengths), weights[part]
            return
        count = self.model.n_features**length
        for start in range(0, count, most):
            codes = np.arange(start, min(start + most, count))
            words = _digits(codes, self.model.n_features, length)
            weights = np.full(len(codes), share)
            if self.is_conditional:
                weights *= self._word_probabilities[words].prod(axis=1)
            yield self._plain(words.ravel(), np.full(len(codes), length)), weights

    def all_labels(self, inputs: Sequences, length: int) -> Sequences:
        """Every input, all of the same length, with every sequence of labels, in order."""
        n_labels = len(self.model.classes)
        labels = _digits(np.arange(n_labels**length), n_labels, length)
        rows = np.repeat(np.arange(inputs.n_sequences), len(labels))
        repeated = inputs.take(rows)
        return repeated.with_evidence(Evidence(np.tile(labels.ravel(), inputs.n_sequences), self.model.classes))

    def _plain(self, features: "IntArray | sp.csr_array", lengths: IntArray) -> Sequences:
        """Sequences without labels."""
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        evidence = Evidence(np.full(int(offsets[-1]), UNLABELED), self.model.classes)
        return Sequences(features, offsets, evidence, self.model.feature_names)


def _lengths_of(inputs: Sequences) -> LengthDistribution:
    """The share of every length, by the weights of the sequences."""
    if not inputs.n_sequences or inputs.sequence_weights.sum() <= 0:
        raise InvalidInputError("There must be at least one input sequence.")
    found, place = np.unique(inputs.lengths, return_inverse=True)
    shares = np.bincount(place, inputs.sequence_weights) / inputs.sequence_weights.sum()
    return LengthDistribution(found[shares > 0], shares[shares > 0])


def _digits(codes: IntArray, radix: int, count: int) -> IntArray:
    """The digits of numbers, most significant first, (n, count)."""
    return np.stack(np.unravel_index(codes, (radix,) * count), axis=1).astype(np.int64)
