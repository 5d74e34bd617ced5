"""Curvatures of the likelihood of chains of log-weights: covariances of their counts, exactly."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.errors import InvalidInputError
from labelworth.kernels.chains.potentials import make_chain, nodes_from_logs
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.words import word_tokens
from labelworth_studies.robust.count_covariance import count_covariance

WordModel = BoltzmannChainModel | ConditionalRandomFieldModel
"""Chains of log-weights with one word per token: their Hessians are covariances of counts T."""
MOST_PARAMETERS = 5000
"""Beyond, matrices of all pairs of parameters are no longer sensible."""


def reference_covariance(model: WordModel, sequences: Sequences) -> FloatArray:
    """The mean of Cov(T | reference), (d, d): of all words and labels of their lengths, or of all labels given words.

    Raises
    ------
    InvalidInputError
        If the model is another than a chain of log-weights over words, or has too many parameters.
    """
    _require_words(model, sequences)
    if isinstance(model, BoltzmannChainModel):
        return model.complete_information(_lengths_of(sequences))
    return _covariance(model, sequences.hide())


def clamped_covariance(model: WordModel, sequences: Sequences, reference: FloatArray) -> FloatArray:
    """The mean of Cov(T | x, known), (d, d); of a CRF without any label it is the `reference`, exactly."""
    _require_words(model, sequences)
    if isinstance(model, ConditionalRandomFieldModel) and (sequences.evidence.codes == -1).all():
        return reference
    return _covariance(model, sequences)


def _require_words(model: WordModel, sequences: Sequences) -> None:
    if not isinstance(model, BoltzmannChainModel | ConditionalRandomFieldModel):
        raise InvalidInputError(
            "Curvatures are those of Boltzmann chains and CRFs, whose parameters are log-weights. "
            f"Got a {type(model).__name__}."
        )
    if model.coordinates.n_free > MOST_PARAMETERS:
        raise InvalidInputError(
            f"The model has {model.coordinates.n_free} parameters; matrices are formed up to {MOST_PARAMETERS}. "
            "Use fewer words, or weights for frequent pairs only."
        )
    if (sequences.words == NO_WORD).any():
        raise InvalidInputError("Every token must have a word that the model knows.")


def _covariance(model: WordModel, sequences: Sequences) -> FloatArray:
    """The mean of Cov(T | x, known), in the free coordinates of the model."""
    emission = np.asarray(model.tables["emission"])
    start = np.zeros(len(emission)) if model.start is None else model.start
    chain, nodes = make_chain(start, model.transition), nodes_from_logs(emission.T)
    tokens = word_tokens(sequences, len(nodes.shifts))
    total = count_covariance(chain, nodes, tokens) / sequences.n_sequences
    if model.start is None:
        total = total[len(start) :, len(start) :]
    return model.coordinates.pull(model.coordinates.pull(total).T)


def _lengths_of(sequences: Sequences) -> LengthDistribution:
    lengths, counts = np.unique(sequences.lengths, return_counts=True)
    return LengthDistribution(lengths, counts / counts.sum())
