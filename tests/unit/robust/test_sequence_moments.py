"""Scores and curvatures of sequences under a policy against brute force over words and labels."""

import numpy as np
import pytest

from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.curvature import reference_covariance
from labelworth.policies.spec import parse_policy
from labelworth.robust.sequence_moments import ShownPopulation, mean_log_losses, sequence_moments
from support.log_weight_chains import KINDS, PlainChain, few, model_of
from support.wrong_chains import WORDS, wrong_population

WHOLE = [0, 1, 1, 0, 1, 1, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_moments_are_those_of_a_coin_over_rules(kind):
    model = model_of(kind, np.random.default_rng(2))
    whole, plain = few(WHOLE), PlainChain(model, kind)
    population = ShownPopulation.of(whole, parse_policy("0.3*everything + 0.7*prefix:1"), np.random.default_rng(0))
    prefix = few([0, -1, -1, 0, 1, -1, -1])
    scores = np.concatenate([plain.scores(whole), plain.scores(prefix)])
    shares = np.repeat([0.1, 0.7 / 3], 3)
    mean = shares @ scores
    found = sequence_moments(model, population, reference_covariance(model, whole))
    np.testing.assert_allclose(found.mean, mean, atol=1e-7)
    np.testing.assert_allclose(found.variance, (scores - mean).T * shares @ (scores - mean), atol=1e-7)
    curvature = 0.3 * plain.curvature(whole) + 0.7 * plain.curvature(prefix)
    np.testing.assert_allclose(found.curvature, curvature, atol=1e-6)
    # The variance is around the mean of all rules together: left out, it shows.
    assert np.abs(found.variance - scores.T * shares @ scores).max() > 1e-2


def test_losses_are_joint_and_conditional():
    model = model_of("boltzmann", np.random.default_rng(3))
    whole, plain = few(WHOLE), PlainChain(model, "boltzmann")
    joint = plain.log_likelihood(whole)
    found = mean_log_losses(model, whole, whole.hide())
    assert found["joint"] == pytest.approx(-joint.mean())
    assert found["conditional"] == pytest.approx(-(joint - plain.log_likelihood(whole.hide())).mean())
    assert list(mean_log_losses(model_of("crf", np.random.default_rng(3)), whole, whole.hide())) == ["conditional"]


def test_weights_of_the_parts_add_up_to_n():
    population = ShownPopulation.of(
        wrong_population(20, 4, 0), parse_policy("0.25*everything + 0.75*window:2"), np.random.default_rng(0)
    )
    weighted = population.weighted(50)
    assert weighted.n_sequences == 40
    assert weighted.sequence_weights.sum() == pytest.approx(50)
    assert weighted.sequence_weights[0] == pytest.approx(0.25 * 50 / 20)
    assert population.shown[1].evidence.is_gold.sum() == 40


def test_a_population_needs_all_its_labels_and_words():
    policy, rng = parse_policy("everything"), np.random.default_rng(0)
    with pytest.raises(InvalidInputError, match="the label of every token"):
        ShownPopulation.of(few([0, -1, 1, 0, 1, 1, 0]), policy, rng)
    sequences = few(WHOLE)
    unknown = Sequences(np.array([0, -1, 2, 2, 0, 1, 1]), sequences.offsets, sequences.evidence, WORDS)
    with pytest.raises(InvalidInputError, match="a known word per token"):
        ShownPopulation.of(unknown, policy, rng)
