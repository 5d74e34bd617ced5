from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from labelworth.kernels.chains.paths import best_paths, draw_paths
from labelworth.kernels.chains.potentials import make_chain, make_tokens, nodes_from_logs
from support.plain_chains import DrawnChain, draw_chain, path_scores, weight_of_paths
from support.statistical import FALSE_ALARM_RATE, assert_share_is


def potentials(drawn: DrawnChain):
    tokens = make_tokens(np.arange(len(drawn.codes)), drawn.offsets, drawn.codes, drawn.candidate_weights)
    return make_chain(drawn.log_start, drawn.log_transition), nodes_from_logs(drawn.log_nodes), tokens


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    n_labels=st.integers(1, 4),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    spread=st.sampled_from([1.0, 100.0, 1000.0]),
    impossible=st.sampled_from([0.0, 0.3]),
)
def test_best_path_is_the_best_of_all(
    seed: int, n_labels: int, lengths: list[int], spread: float, impossible: float
) -> None:
    drawn = draw_chain(seed, n_labels, lengths, spread=spread, impossible=impossible)
    labels, scores = best_paths(*potentials(drawn))
    plain = drawn.sums()
    np.testing.assert_allclose(scores, plain.best, rtol=1e-12)
    for first, last, best in zip(drawn.offsets, drawn.offsets[1:], plain.best, strict=False):
        if best == -np.inf:
            assert (labels[first:last] == -1).all()
        else:
            assert known_are_kept(drawn.codes[first:last], labels[first:last])
    possible = np.isfinite(plain.best)
    if possible.all():
        weights = weight_of_paths(
            labels, drawn.log_nodes, drawn.log_transition, drawn.log_start, drawn.evidence, drawn.offsets
        )
        np.testing.assert_allclose(weights, plain.best, rtol=1e-10, atol=1e-10)


def known_are_kept(codes: np.ndarray, labels: np.ndarray) -> bool:
    return bool((labels[codes >= 0] == codes[codes >= 0]).all())


@pytest.mark.statistical
@pytest.mark.parametrize("spread", [1.0, 400.0])
def test_draws_follow_the_posterior(spread: float, seed: int) -> None:
    """Every label sequence comes as often as it is probable; the rate of false alarms is shared by all of them."""
    n_draws = 4000 if not config.DISABLE_JIT else 1000
    drawn = draw_chain(seed, 3, [4])
    log_nodes = drawn.log_nodes.copy()
    # A huge common score at a token changes nothing; a hopeless label must never come.
    log_nodes[1] += spread
    log_nodes[2, 0] -= 2 * spread
    drawn = drawn._replace(log_nodes=log_nodes, codes=np.array([-1, -2, -1, -1]))
    paths, scores = path_scores(drawn.log_nodes, drawn.log_transition, drawn.log_start, drawn.evidence)
    probabilities = np.exp(scores - np.logaddexp.reduce(scores))
    many = drawn._replace(
        log_nodes=np.tile(drawn.log_nodes, (n_draws, 1)),
        offsets=np.arange(0, 4 * n_draws + 1, 4),
        codes=np.tile(drawn.codes, n_draws),
    )
    uniforms = np.random.default_rng(seed).random(4 * n_draws)
    labels = draw_paths(*potentials(many), uniforms).reshape(n_draws, 4)
    place = {path: number for number, path in enumerate(paths)}
    counts = np.bincount([place[tuple(path)] for path in labels.tolist()], minlength=len(paths))
    assert_shares(counts, probabilities)
    flattened = np.sqrt(probabilities) / np.sqrt(probabilities).sum()
    with pytest.raises(AssertionError):
        assert_shares(counts, flattened)


def assert_shares(counts: np.ndarray, probabilities: np.ndarray) -> None:
    for count, probability in zip(counts, probabilities, strict=True):
        rate = FALSE_ALARM_RATE / len(counts)
        assert_share_is(count, counts.sum(), min(1.0, probability), false_alarm_rate=rate)


def test_draws_from_an_impossible_sequence_are_none() -> None:
    drawn = draw_chain(2, 2, [2, 3])
    log_nodes = drawn.log_nodes.copy()
    log_nodes[0] = -np.inf
    labels = draw_paths(*potentials(drawn._replace(log_nodes=log_nodes)), np.full(5, 0.5))
    assert (labels[:2] == -1).all()
    assert (labels[2:] >= 0).all()


def test_draws_need_no_luck_with_threads() -> None:
    drawn = draw_chain(3, 3, [5] * 30)
    uniforms = np.random.default_rng(0).random(150)
    inputs = potentials(drawn)
    np.testing.assert_array_equal(draw_paths(*inputs, uniforms, 1), draw_paths(*inputs, uniforms, 4))
    for one, many in pairwise([best_paths(*inputs, 1), best_paths(*inputs, 3)]):
        np.testing.assert_array_equal(one[0], many[0])
