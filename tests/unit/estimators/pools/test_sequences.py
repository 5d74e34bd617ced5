"""Learners of label sequences."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.estimators.pools.sequences import ChainPrediction
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.policies.spec import parse_policy
from labelworth.simulation.learner import keep_labels
from support.learners import boltzmann_learner, conditional_learner, sentence_learner, sentences
from support.statistical import FALSE_ALARM_RATE

MODEL = HiddenMarkovModel(
    ("x", "y"), [0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], ("p", "q", "r")
)


def path_probabilities(words: list[int], temperature: float) -> dict[tuple[int, ...], float]:
    """p(y | x) ** (1 / T), renormalized, by enumeration."""
    weights = {}
    for path in product(range(2), repeat=len(words)):
        weight = MODEL.start[path[0]] * MODEL.emission[path[0], words[0]]
        for before, label, word in zip(path, path[1:], words[1:], strict=False):
            weight *= MODEL.transition[before, label] * MODEL.emission[label, word]
        weights[path] = weight ** (1 / temperature)
    total = sum(weights.values())
    return {path: weight / total for path, weight in weights.items()}


def repeated(words: list[int], times: int) -> Sequences:
    offsets = len(words) * np.arange(times + 1)
    unlabeled = Evidence(np.full(len(words) * times, -1), ("x", "y"))
    return Sequences(np.array(words * times), offsets, unlabeled, ("p", "q", "r"))


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_marginals_of_the_tempered_chain_by_enumeration(temperature: float) -> None:
    words = [0, 2, 1, 2]
    paths = path_probabilities(words, temperature)
    expected = np.zeros((4, 2))
    for path, probability in paths.items():
        expected[np.arange(4), path] += probability
    found = np.exp(ChainPrediction(MODEL, repeated(words, 1)).log_posteriors(temperature))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.statistical
def test_whole_paths_are_drawn_by_their_tempered_probabilities() -> None:
    words, times = [0, 2, 1], 20_000
    drawn = ChainPrediction(MODEL, repeated(words, times)).draw(2.0, np.random.default_rng(0)).reshape(times, 3)
    codes = drawn @ np.array([4, 2, 1])
    counts = np.bincount(codes, minlength=8)
    expected = {
        temperature: np.array([*path_probabilities(words, temperature).values()]) for temperature in (2.0, 1.5)
    }
    assert stats.chisquare(counts, times * expected[2.0]).pvalue > FALSE_ALARM_RATE
    assert stats.chisquare(counts, times * expected[1.5]).pvalue < FALSE_ALARM_RATE


def test_policies_hide_by_sequence_and_larger_sets_contain_smaller_ones() -> None:
    data = sentences(30)
    order, policy = np.random.default_rng(0).permutation(30), parse_policy("random:0.5")
    few = keep_labels(data, order[:5], policy, seed=3).evidence.is_gold
    many = keep_labels(data, order[:15], policy, seed=3).evidence.is_gold
    assert few.any()
    assert (many & ~few).any()
    assert not (few & ~many).any()
    inside = np.zeros(data.n_tokens, dtype=bool)
    inside[data.positions_of(order[:15])] = True
    assert not (many & ~inside).any()
    assert (inside & ~many).any()


def test_labels_only_leaves_out_sequences_without_labels() -> None:
    data = sentences(60)
    learner = sentence_learner(data)
    shown = keep_labels(data, np.arange(10))
    alone = learner.in_mode("labels-only")
    np.testing.assert_array_equal(
        alone.fit(shown).tables["emission"], alone.fit(shown.take(np.arange(10))).tables["emission"]
    )
    assert np.abs(learner.fit(shown).tables["emission"] - alone.fit(shown).tables["emission"]).max() > 1e-3


def test_boltzmann_chain_and_conditional_field_learn_through_the_same_door() -> None:
    data = sentences(40)
    truth = data.evidence.codes
    learners = (boltzmann_learner(data), conditional_learner())
    for learner in learners:
        alone = learner.in_mode("labels-only")
        prediction = alone.predict(alone.fit(keep_labels(data, np.arange(30))), data)
        assert (prediction.best != truth).mean() < 0.4
        np.testing.assert_allclose(np.exp(prediction.log_posteriors(2.0)).sum(axis=1), 1)
    assert learners[1].modes == ("labels-only",)
