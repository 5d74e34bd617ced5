import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from labelworth.kernels.chains import layout as chain_layout
from labelworth.kernels.chains.expectation import ChainSums, chain_sums
from labelworth.kernels.chains.potentials import make_chain, make_tokens, nodes_from_logs
from labelworth.kernels.chains.recursion import forward
from labelworth.kernels.chains.sums import log_totals, marginals, sequence_sums
from support.plain_chains import DrawnChain, draw_chain

COMPILED = not config.DISABLE_JIT


def run(drawn: DrawnChain, n_threads: int = 1) -> ChainSums:
    chain, nodes, tokens = potentials(drawn)
    return chain_sums(chain, nodes, tokens, n_threads)


def potentials(drawn: DrawnChain):
    tokens = make_tokens(
        np.arange(len(drawn.codes)), drawn.offsets, drawn.codes, drawn.candidate_weights, drawn.sequence_weights
    )
    return make_chain(drawn.log_start, drawn.log_transition), nodes_from_logs(drawn.log_nodes), tokens


def assert_enumerated(drawn: DrawnChain) -> None:
    ours, plain = run(drawn), drawn.sums()
    np.testing.assert_allclose(ours.log_totals, plain.log_totals, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.start, plain.start, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.pairs, plain.pairs, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.nodes.T, plain.marginals, rtol=0, atol=1e-10)


@settings(max_examples=150 if COMPILED else 30, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    n_labels=st.integers(1, 4),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    spread=st.sampled_from([0.0, 1.0, 10.0, 100.0, 1000.0]),
    impossible=st.sampled_from([0.0, 0.1, 0.4]),
)
def test_pass_equals_enumeration(
    seed: int, n_labels: int, lengths: list[int], spread: float, impossible: float
) -> None:
    assert_enumerated(draw_chain(seed, n_labels, lengths, spread=spread, impossible=impossible))


@pytest.mark.parametrize("n_labels", [5, 8, 12, 13, 22, 24, 25, 47, 48, 49, 53])
def test_pass_equals_enumeration_for_any_number_of_labels(n_labels: int) -> None:
    assert_enumerated(draw_chain(n_labels, n_labels, [2, 1, 2]))


def test_one_thread_and_many_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_layout, "BLOCK_BYTES", 8 * 4 * 50)
    rng = np.random.default_rng(0)
    drawn = draw_chain(1, 3, rng.integers(1, 9, size=200 if COMPILED else 20).tolist())
    chain, _, tokens = potentials(drawn)
    nodes = nodes_from_logs(drawn.log_nodes[:7])
    tokens = tokens._replace(rows=rng.integers(7, size=len(drawn.codes)))
    alone = chain_sums(chain, nodes, tokens, 1)
    for n_threads in (2, 5):
        for one, many in zip(alone, chain_sums(chain, nodes, tokens, n_threads), strict=True):
            np.testing.assert_array_equal(one, many)
    at_tokens = marginals(chain, nodes, tokens, 3)[1]
    by_row = np.zeros((7, 3))
    np.add.at(by_row, tokens.rows, at_tokens)
    np.testing.assert_allclose(alone.nodes.T, by_row, rtol=1e-12)


def test_totals_marginals_and_counts_by_sequence_agree() -> None:
    drawn = draw_chain(3, 3, [3, 1, 4])
    chain, nodes, tokens = potentials(drawn)
    plain = drawn.sums()
    totals, at_tokens, pairs = marginals(chain, nodes, tokens)
    np.testing.assert_allclose(log_totals(chain, nodes, tokens), plain.log_totals, rtol=1e-12)
    np.testing.assert_allclose(totals, plain.log_totals, rtol=1e-12)
    np.testing.assert_allclose(at_tokens, plain.marginals, atol=1e-12)
    np.testing.assert_allclose(pairs, plain.pairs, atol=1e-12)
    start, pairs_of, unweighted = sequence_sums(chain, nodes, tokens)
    np.testing.assert_allclose(np.einsum("i,ijk->jk", drawn.sequence_weights, pairs_of), plain.pairs, atol=1e-12)
    np.testing.assert_allclose(drawn.sequence_weights @ start, plain.start, atol=1e-12)
    np.testing.assert_allclose(unweighted.sum(axis=1), 1.0, rtol=1e-12)


def logarithmic_total(drawn: DrawnChain) -> float:
    """log Z of one sequence by the textbook, in extended precision."""
    with np.errstate(divide="ignore"):
        nodes = (drawn.log_nodes + np.log(drawn.evidence)).astype(np.longdouble)
    state = drawn.log_start + nodes[0]
    for row in nodes[1:]:
        state = row + np.logaddexp.reduce(state[:, None] + drawn.log_transition, axis=0)
    return float(np.logaddexp.reduce(state))


@pytest.mark.parametrize("forbidden", [False, True])
def test_long_sequences_lose_no_digits(forbidden: bool) -> None:
    length = 100_000 if COMPILED else 300
    drawn = draw_chain(5, 3, [length], weighted=False)
    transition = drawn.log_transition.copy()
    if forbidden:
        transition[0, 1] = -np.inf
    codes = np.where(np.arange(length) % 7 == 3, 2 * (np.arange(length) % 2), -1)
    drawn = drawn._replace(log_transition=transition, codes=codes)
    sums = run(drawn)
    expected = logarithmic_total(drawn)
    assert np.isfinite(expected)
    np.testing.assert_allclose(sums.log_totals[0], expected, rtol=1e-12)
    np.testing.assert_allclose(sums.nodes.sum(axis=0), 1.0, rtol=1e-9)
    np.testing.assert_allclose(sums.pairs.sum(), length - 1, rtol=1e-9)


def one_way(length: int, advantage: float) -> DrawnChain:
    """Two labels that never change; the second falls behind at every token and is known at the last one."""
    drawn = draw_chain(0, 2, [length], weighted=False)
    log_nodes = np.zeros((length, 2))
    log_nodes[:, 1] = -advantage
    codes = np.full(length, -1)
    codes[-1] = 1
    transition = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    return drawn._replace(log_nodes=log_nodes, log_transition=transition, log_start=np.zeros(2), codes=codes)


def test_what_underflows_on_the_way_is_found_in_logarithms() -> None:
    drawn = one_way(400, advantage=3.0)
    chain, nodes, tokens = potentials(drawn)
    plain_numbers = forward(chain, nodes, tokens, 0, 400, np.empty(400 * 4), np.empty(400))
    assert np.isnan(plain_numbers), "plain numbers must not vouch for a weight of exp(-1200)"
    sums = run(drawn)
    np.testing.assert_allclose(sums.log_totals, [-1200.0], rtol=1e-12)
    np.testing.assert_allclose(sums.nodes, np.tile([[0.0], [1.0]], (1, 400)), atol=1e-12)
    np.testing.assert_allclose(sums.pairs, [[0.0, 0.0], [0.0, 399.0]], atol=1e-9)


def test_what_cannot_be_does_not_overflow_on_the_way_back() -> None:
    drawn = one_way(400, advantage=-3.0)
    codes = np.full(400, -1)
    codes[0] = 0
    sums = run(drawn._replace(codes=codes))
    np.testing.assert_allclose(sums.log_totals, [0.0], atol=1e-9)
    np.testing.assert_allclose(sums.nodes, np.tile([[1.0], [0.0]], (1, 400)), atol=1e-12)


def test_impossible_sequence_is_told_and_counts_nowhere() -> None:
    drawn = draw_chain(8, 3, [3, 4, 2], weighted=False)
    log_nodes = drawn.log_nodes.copy()
    log_nodes[4] = -np.inf
    drawn = drawn._replace(log_nodes=log_nodes)
    sums = run(drawn)
    assert np.isneginf(sums.log_totals).tolist() == [False, True, False]
    np.testing.assert_array_equal(sums.nodes[:, 3:7], 0.0)
    assert_enumerated(drawn)
