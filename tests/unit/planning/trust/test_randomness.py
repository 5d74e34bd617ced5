"""Labels that were not drawn at random are noticed; those that were are hardly ever suspected."""

import numpy as np
import pytest

from labelworth.data.samples import Samples
from labelworth.planning.trust.randomness import FALSE_ALARM_RATE, randomness
from support.pilots import drawn_documents, drawn_sequences
from support.statistical import assert_share_is


def relabeled(samples: Samples, rows: np.ndarray) -> Samples:
    """Labels at these rows alone."""
    hidden = np.ones(samples.n_samples, dtype=bool)
    hidden[rows] = False
    return samples.hide(hidden)


@pytest.mark.statistical
def test_random_labels_are_suspected_as_rarely_as_promised() -> None:
    alarms, n_trials = 0, 150
    for seed in range(n_trials):
        whole = drawn_documents(200, 200, seed)
        rows = np.random.default_rng(seed).choice(200, size=30, replace=False)
        alarms += bool(randomness(relabeled(whole, rows), seed).suspicious)
    # At most the rate: a count far above it would be refused.
    assert alarms <= 12
    with pytest.raises(AssertionError):
        assert_share_is(alarms, n_trials, 0.4)
    assert FALSE_ALARM_RATE == 0.01


def test_labels_chosen_by_a_word_are_noticed() -> None:
    whole = drawn_documents(400, 400, seed=1)
    first_word = np.asarray(whole.counts[:, [0]].todense()).ravel()
    found = randomness(relabeled(whole, np.argsort(-first_word, kind="stable")[:60]), 0)
    assert "labeled samples differ in their features" in found.suspicious
    assert "do not look drawn at random" in found.words()


def test_exactly_balanced_labels_are_noticed() -> None:
    whole = drawn_documents(2000, 2000, seed=1)
    codes = whole.evidence.codes
    few = np.concatenate([np.flatnonzero(codes == code)[:40] for code in (0, 1)])
    many = np.concatenate([np.flatnonzero(codes == code)[:600] for code in (0, 1)])
    bound = randomness(relabeled(whole, many), 0).p_values["equally many labels of every class"]
    # Binomial: 600 heads of 1200 fair coins, by Stirling's formula.
    assert bound == pytest.approx(1 / np.sqrt(np.pi * 600), rel=1e-3)
    assert randomness(relabeled(whole, few[:-1]), 0).p_values["equally many labels of every class"] == 1


def test_long_sequences_labeled_first_are_noticed() -> None:
    whole = drawn_sequences(300, 300, seed=2)
    longest = np.argsort(-whole.lengths, kind="stable")[:60]
    hidden = np.ones(whole.n_tokens, dtype=bool)
    hidden[whole.positions_of(longest)] = False
    assert "labeled samples differ in size" in randomness(whole.hide(hidden), 0).suspicious


def test_too_little_to_tell_is_said() -> None:
    found = randomness(drawn_sequences(8, 2, seed=0), 0)
    assert not found.p_values
    assert "too little" in found.words()
