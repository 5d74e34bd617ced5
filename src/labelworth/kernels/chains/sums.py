"""Passes over sequences that keep something of every token or sequence: log Z, marginals, expected counts."""

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.chains.layout import bounds_by_tokens, unweighted
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens
from labelworth.kernels.chains.sequence import log_total, run_sequence
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import fetch_and_add
from labelworth.kernels.machine.threads import n_threads_for, run_together

PIECE = 1024
"""About how many tokens one thread takes at a time: fixed, so that the order of adding is, too."""


def log_totals(chain: Chain, nodes: Nodes, tokens: Tokens, n_threads: int | None = None) -> FloatArray:
    """log Z of every sequence, (n_sequences,)."""
    totals, _, _ = _run(chain, nodes, tokens, False, n_threads)
    return totals


def marginals(
    chain: Chain, nodes: Nodes, tokens: Tokens, n_threads: int | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """log Z (n_sequences,), p(label | evidence) times the weight of the sequence (n_tokens, K), pairs (K, K).

    The marginals of an impossible sequence are zeros.
    """
    totals, padded, pairs = _run(chain, nodes, tokens, True, n_threads)
    n_labels = len(chain.log_start)
    return totals, np.ascontiguousarray(padded.reshape(len(tokens.codes), -1)[:, :n_labels]), pairs


def sequence_sums(
    chain: Chain, nodes: Nodes, tokens: Tokens, n_threads: int | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Expected counts of every sequence by itself, unweighted.

    Start (n_sequences, K), pairs (n_sequences, K, K), marginals (n_tokens, K).
    """
    n_labels, width = len(chain.log_start), len(chain.start)
    _, padded, pairs = padded_sequence_sums(chain, nodes, tokens, n_threads)
    at_tokens = padded.reshape(-1, width)[:, :n_labels].copy()
    return at_tokens[tokens.offsets[:-1]], pairs[:, :n_labels, :n_labels].copy(), at_tokens


def padded_sequence_sums(
    chain: Chain, nodes: Nodes, tokens: Tokens, n_threads: int | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of every sequence by itself, unweighted, with labels filled up to `padded_width`.

    log Z (n_sequences,), marginals (n_tokens * width,), pairs (n_sequences, width, width).
    """
    every = np.arange(len(tokens.offsets))
    return _run_pieces(chain, nodes, unweighted(tokens), every, True, n_threads)


def _run(
    chain: Chain, nodes: Nodes, tokens: Tokens, whole: bool, n_threads: int | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """log Z, padded marginals (empty unless `whole`), pairs (K, K)."""
    n_labels = len(chain.log_start)
    totals, padded, pairs = _run_pieces(
        chain, nodes, tokens, bounds_by_tokens(tokens.offsets, PIECE), whole, n_threads
    )
    return totals, padded, pairs.sum(axis=0)[:n_labels, :n_labels].copy()


def _run_pieces(
    chain: Chain, nodes: Nodes, tokens: Tokens, bounds: IntArray, whole: bool, n_threads: int | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """log Z, padded marginals and pairs of every piece (n_pieces, width, width); the latter empty unless `whole`."""
    width, n_pieces = len(chain.start), len(bounds) - 1
    totals = np.empty(len(tokens.offsets) - 1)
    padded = np.empty(len(tokens.codes) * width if whole else 0)
    pairs = np.zeros((n_pieces if whole else 0, 2, width * width))
    counters = np.zeros(2, dtype=np.int64)
    arguments = (chain, nodes, tokens, bounds, totals, padded, pairs, counters)
    n_threads = n_threads_for(len(tokens.codes) * width * width) if n_threads is None else n_threads
    run_together(work_on_pieces, arguments, n_threads, counters[1:], n_pieces)
    pairs[:, 0] *= chain.transition
    return totals, padded, pairs.sum(axis=1).reshape(-1, width, width)


@compiled()
def work_on_pieces(
    chain: Chain,
    nodes: Nodes,
    tokens: Tokens,
    bounds: IntArray,
    totals: FloatArray,
    marginals: FloatArray,
    pairs: FloatArray,
    counters: IntArray,
) -> None:
    """What one thread does: pieces, until there is none left."""
    width, longest = len(chain.start), 0
    for sequence in range(len(tokens.offsets) - 1):
        longest = max(longest, tokens.offsets[sequence + 1] - tokens.offsets[sequence])
    forwards, scales = np.empty(longest * width), np.empty(longest)
    while True:
        piece = fetch_and_add(counters, 0, 1)
        if piece >= len(bounds) - 1:
            return
        for sequence in range(bounds[piece], bounds[piece + 1]):
            first, last = tokens.offsets[sequence], tokens.offsets[sequence + 1]
            if len(marginals) > 0:
                totals[sequence] = run_sequence(
                    chain,
                    nodes,
                    tokens,
                    first,
                    last,
                    tokens.sequence_weights[sequence],
                    forwards,
                    scales,
                    marginals[first * width : last * width],
                    pairs[piece, 0],
                    pairs[piece, 1],
                )
            else:
                totals[sequence] = log_total(chain, nodes, tokens, first, last, forwards, scales)
        fetch_and_add(counters, 1, 1)
