"""Curvatures of chains of log-weights against differences of a likelihood summed over all words and labels."""

import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth_studies.robust.curvature import clamped_covariance, reference_covariance
from support.log_weight_chains import KINDS, PlainChain, few, model_of
from support.wrong_chains import LABELS, WORDS


def mean_curvature(model, sequences):
    reference = reference_covariance(model, sequences)
    return reference - clamped_covariance(model, sequences, reference)


@pytest.mark.parametrize("kind", KINDS)
def test_curvature_is_minus_the_hessian_of_what_is_known(kind):
    model = model_of(kind, np.random.default_rng(1))
    sequences = few([0, -1, 1, -1, -1, 1, -1])
    curvature = mean_curvature(model, sequences)
    np.testing.assert_allclose(curvature, PlainChain(model, kind).curvature(sequences), atol=1e-6)
    # What other labels tell is something else.
    other = PlainChain(model, kind).curvature(few([0, 0, 1, 1, -1, 1, -1]))
    assert np.abs(curvature - other).max() > 1e-2


def test_unlabeled_sequences_tell_a_crf_nothing_exactly():
    assert not mean_curvature(model_of("crf", np.random.default_rng(0)), few([-1] * 7)).any()


def test_words_that_are_not_known_are_refused():
    sequences = few([0, 1, 1, 0, 1, 1, 0])
    unknown = Sequences(np.array([0, -1, 2, 2, 0, 1, 1]), sequences.offsets, sequences.evidence, WORDS)
    with pytest.raises(InvalidInputError, match="a word that the model knows"):
        mean_curvature(model_of("crf", np.random.default_rng(0)), unknown)


def test_too_many_parameters_are_refused():
    names = tuple(f"word {code}" for code in range(2600))
    model = BoltzmannChainModel(LABELS, None, np.zeros((2, 2)), np.zeros((2, 2600)), names)
    sequences = Sequences(np.array([0, 1]), np.array([0, 2]), Evidence(np.array([-1, -1]), LABELS), names)
    with pytest.raises(InvalidInputError, match="5204 parameters"):
        mean_curvature(model, sequences)
