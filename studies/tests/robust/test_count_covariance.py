"""Covariances of counts against summing over every sequence of labels."""

from itertools import pairwise

import numpy as np
import pytest

from labelworth.kernels.chains.potentials import make_chain, make_tokens, nodes_from_logs
from labelworth_studies.robust.count_covariance import count_covariance
from support.plain_chains import path_scores, plain_evidence

N_LABELS, N_WORDS = 3, 4


def counts_of(path: tuple[int, ...], words: np.ndarray) -> np.ndarray:
    """First label, pairs, words beside labels."""
    start, pairs = np.zeros(N_LABELS), np.zeros((N_LABELS, N_LABELS))
    emission = np.zeros((N_LABELS, N_WORDS))
    start[path[0]] = 1
    for one, two in pairwise(path):
        pairs[one, two] += 1
    for label, word in zip(path, words, strict=True):
        emission[label, word] += 1
    return np.concatenate([start, pairs.ravel(), emission.ravel()])


def by_hand(logs, transition, start, words, offsets, evidence, weights) -> np.ndarray:
    """The weighted sum of covariances over all label sequences."""
    size = N_LABELS + N_LABELS**2 + N_LABELS * N_WORDS
    total = np.zeros((size, size))
    for first, last, weight in zip(offsets, offsets[1:], weights, strict=False):
        here = words[first:last]
        paths, scores = path_scores(logs[here], transition, start, evidence[first:last])
        if scores.max() == -np.inf:
            continue
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        counts = np.array([counts_of(path, here) for path in paths])
        centered = counts - shares @ counts
        total += weight * (centered.T * shares) @ centered
    return total


@pytest.mark.parametrize("seed", range(4))
def test_covariance_is_that_of_all_label_sequences(seed):
    rng = np.random.default_rng(seed)
    offsets = np.array([0, 1, 4, 9, 11])
    words = rng.integers(N_WORDS, size=11)
    codes = rng.integers(-1, N_LABELS, size=11)
    codes[5] = -2
    candidates = np.array([[0.5, 0.0, 1.0]])
    weights = rng.random(4) + 0.5
    start, transition = rng.normal(size=N_LABELS), rng.normal(size=(N_LABELS, N_LABELS))
    logs = 2 * rng.normal(size=(N_WORDS, N_LABELS))
    found = count_covariance(
        make_chain(start, transition),
        nodes_from_logs(logs),
        make_tokens(words, offsets, codes, candidates, weights),
    )
    evidence = plain_evidence(codes, candidates, N_LABELS)
    expected = by_hand(logs, transition, start, words, offsets, evidence, weights)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # Were the weights of the sequences left out, it would show.
    assert not np.allclose(found, by_hand(logs, transition, start, words, offsets, evidence, np.ones(4)), atol=1e-3)


def test_weights_far_apart_do_not_underflow():
    logs = np.array([[800.0, 0.0, -800.0], [-800.0, 0.0, 800.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    transition, start = np.array([[0.0, -1600.0, 1.0], [0.5, 0, 0], [-1600.0, 1.0, 0.0]]), np.zeros(N_LABELS)
    words, offsets = np.array([0, 2, 3, 1, 2]), np.array([0, 5])
    codes = np.full(5, -1)
    found = count_covariance(
        make_chain(start, transition), nodes_from_logs(logs), make_tokens(words, offsets, codes, np.ones((0, 3)))
    )
    evidence = np.ones((5, N_LABELS))
    expected = by_hand(logs, transition, start, words, offsets, evidence, np.ones(1))
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_known_and_impossible_sequences_add_nothing():
    start, transition = np.zeros(N_LABELS), np.zeros((N_LABELS, N_LABELS))
    transition[0, 1] = -np.inf
    logs = np.zeros((N_WORDS, N_LABELS))
    chain, nodes = make_chain(start, transition), nodes_from_logs(logs)
    known = make_tokens(np.array([0, 1]), np.array([0, 2]), np.array([1, 2]), np.ones((0, 3)))
    impossible = make_tokens(np.array([0, 1, 1]), np.array([0, 3]), np.array([0, 1, -1]), np.ones((0, 3)))
    possible = make_tokens(np.array([0, 1, 1]), np.array([0, 3]), np.array([0, 2, -1]), np.ones((0, 3)))
    assert not count_covariance(chain, nodes, known).any()
    assert not count_covariance(chain, nodes, impossible).any()
    assert count_covariance(chain, nodes, possible).any()
