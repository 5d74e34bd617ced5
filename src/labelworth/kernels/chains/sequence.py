"""The recursion over one sequence, in plain numbers where they do and in logarithms where they do not."""

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.chains.logarithms import log_backward, log_forward
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens
from labelworth.kernels.chains.recursion import backward, forward, log_weight
from labelworth.kernels.machine.compilation import compiled


@compiled()
def log_total(
    chain: Chain, nodes: Nodes, tokens: Tokens, first: int, last: int, forwards: FloatArray, scales: FloatArray
) -> float:
    """log Z of the tokens `first` to `last`."""
    total = forward(chain, nodes, tokens, first, last, forwards, scales)
    if np.isnan(total):
        total = log_forward(chain, nodes, tokens, first, last, forwards, scales)
    return total


@compiled(within=True)
def is_known(codes: IntArray, first: int, last: int) -> bool:
    """Whether all labels are known."""
    token = first
    while token < last and codes[token] >= 0:
        token += 1
    return token == last


@compiled(within=True)
def count_known(
    chain: Chain,
    nodes: Nodes,
    tokens: Tokens,
    first: int,
    last: int,
    weight: float,
    marginals: FloatArray,
    pairs: FloatArray,
) -> float:
    """All labels are known, so there is nothing to sum over. Returns log Z; what is impossible is not counted."""
    codes, width = tokens.codes, len(chain.start)
    total: float = chain.log_start[codes[first]]
    for token in range(first, last):
        total += log_weight(nodes, tokens.rows[token], codes[token], width)
        if token > first:
            total += chain.log_transition[codes[token - 1], codes[token]]
    for position in range(len(marginals)):
        marginals[position] = 0.0
    if total > -np.inf:
        for token in range(first, last):
            marginals[(token - first) * width + codes[token]] = weight
            if token > first:
                pairs[codes[token - 1] * width + codes[token]] += weight
    return total


@compiled(within=True)
def run_sequence(
    chain: Chain,
    nodes: Nodes,
    tokens: Tokens,
    first: int,
    last: int,
    weight: float,
    forwards: FloatArray,
    scales: FloatArray,
    marginals: FloatArray,
    pairs: FloatArray,
    whole_pairs: FloatArray,
) -> float:
    """log Z, marginals times `weight`, and pairs times `weight` added to one of two sums.

    `pairs` still lack their transitions; `whole_pairs` are those of sequences that went through logarithms. An
    impossible sequence has marginals of zero.
    """
    if is_known(tokens.codes, first, last):
        return count_known(chain, nodes, tokens, first, last, weight, marginals, whole_pairs)
    total = forward(chain, nodes, tokens, first, last, forwards, scales)
    if not np.isnan(total):
        backward(chain, nodes, tokens, first, last, weight, forwards, scales, marginals, pairs)
        return total
    total = log_forward(chain, nodes, tokens, first, last, forwards, scales)
    if total == -np.inf:
        for position in range(len(marginals)):
            marginals[position] = 0.0
    else:
        log_backward(chain, nodes, tokens, first, last, weight, forwards, scales, marginals, whole_pairs)
    return total
