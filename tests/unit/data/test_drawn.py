import numpy as np
import pytest

from labelworth.data.drawn import DrawnLabels, judging_weights
from labelworth.data.evidence import encode_labels
from labelworth.errors import InvalidInputError
from labelworth.policies.choosing import Choosing
from support.statistical import assert_mean_is

N = 120
LOSSES = np.linspace(0, 1, N) ** 2
SCORES = LOSSES + 0.02
"""Rows of large losses are chosen first: the mean over labeled rows is far too large."""


def weighted_means(n_runs, n_start=20, rounds=(20, 20)):
    """Means of the losses of labeled rows after a random start and two batches, counted as told and not counted."""
    rng, counted, plain = np.random.default_rng(0), [], []
    for _ in range(n_runs):
        probabilities, batches = np.full(N, np.nan), np.zeros(N, dtype=int)
        labeled = np.zeros(N, dtype=bool)
        labeled[rng.permutation(N)[:n_start]] = True
        for number, count in enumerate(rounds, start=1):
            rest = np.flatnonzero(~labeled)
            drawn = Choosing("worth", 0.25, 0.1).draw(SCORES[rest], count, rng)
            labeled[rest[drawn.rows]] = True
            probabilities[rest[drawn.rows]], batches[rest[drawn.rows]] = drawn.probabilities, number
        weights = judging_weights(labeled, probabilities, batches)
        assert weights[labeled].mean() == pytest.approx(1)
        counted.append((weights * LOSSES)[labeled].mean())
        plain.append(LOSSES[labeled].mean())
    return np.array(counted), np.array(plain)


def test_what_is_measured_on_chosen_rows_is_that_of_all_rows():
    counted, plain = weighted_means(3000)
    # Shares of sums within a batch are off by a little that falls with its size: a hundredth is allowed.
    assert_mean_is(counted, LOSSES.mean(), model_tolerance=0.01)
    with pytest.raises(AssertionError):
        assert_mean_is(plain, LOSSES.mean(), model_tolerance=0.01)


def test_a_random_start_counts_evenly():
    y = DrawnLabels(["a", "b", None, "a"], [np.nan] * 4)
    assert y.judged.tolist() == [1, 1, 1, 1]
    assert encode_labels(y, unlabeled=None).judged is y.judged


def test_evidence_carries_what_labels_count():
    evidence = encode_labels(DrawnLabels(["a", "b", "a", None], [0.5, 0.25, 0.25, np.nan]), unlabeled=None)
    np.testing.assert_allclose(evidence.take(np.array([1, 0])).judged, evidence.judged[[1, 0]])
    np.testing.assert_allclose(evidence.hidden(np.array([0])).judged, evidence.judged)
    assert encode_labels(["a", "b"]).judged is None


@pytest.mark.parametrize(
    ("probabilities", "words"), [([0.5], "one probability"), ([0.0, 0.5], "above 0"), ([0.5, 1.5], "1 at most")]
)
def test_probabilities_that_cannot_be_are_refused(probabilities, words):
    with pytest.raises(InvalidInputError, match=words):
        DrawnLabels(["a", "b"], probabilities)
