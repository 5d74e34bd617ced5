"""The recursion over one sequence, in plain numbers where they do and in logarithms where they do not."""

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens
from labelworth.kernels.chains.recursion import backward, forward, log_node, log_weight
from labelworth.kernels.machine.compilation import compiled


@compiled()
def log_forward(
    chain: Chain, nodes: Nodes, tokens: Tokens, first: int, last: int, forwards: FloatArray, scales: FloatArray
) -> float:
    """Logarithms of the normalized forward weights and of the scales; returns log Z.

    Minus infinity if no labels are possible: then the weights are not filled in.
    """
    n_labels, width = len(chain.log_start), len(chain.start)
    logs, incoming = np.empty(n_labels), np.empty(n_labels)
    log_total = 0.0
    for position in range(last - first):
        log_node(nodes, tokens, first + position, logs)
        target = position * width
        for label in range(n_labels):
            if position == 0:
                logs[label] += chain.log_start[label]
            else:
                for origin in range(n_labels):
                    incoming[origin] = forwards[target - width + origin] + chain.log_transition[origin, label]
                logs[label] += log_sum(incoming)
        scale = log_sum(logs)
        if scale == -np.inf:
            return -np.inf
        for label in range(n_labels):
            forwards[target + label] = logs[label] - scale
        scales[position] = scale
        log_total += scale
    return log_total


@compiled()
def log_backward(
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
) -> None:
    """As `backward`, from `log_forward`; but `pairs` are whole, the transition is in them."""
    n_labels, width = len(chain.log_start), len(chain.start)
    beta, ratios, outgoing = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    for label in range(n_labels):
        beta[label] = 0.0
    for position in range(last - first - 1, -1, -1):
        source = position * width
        for label in range(n_labels, width):
            marginals[source + label] = 0.0
        for label in range(n_labels):
            marginals[source + label] = weight * np.exp(forwards[source + label] + beta[label])
        if position == 0:
            return
        log_node(nodes, tokens, first + position, ratios)
        for label in range(n_labels):
            # Where a label cannot be, nothing bounds its ratio, and nothing asks for it.
            possible = forwards[source + label] > -np.inf
            ratios[label] = ratios[label] + beta[label] - scales[position] if possible else -np.inf
        for origin in range(n_labels):
            for label in range(n_labels):
                outgoing[label] = chain.log_transition[origin, label] + ratios[label]
                pair = np.exp(forwards[source - width + origin] + outgoing[label])
                pairs[origin * width + label] += weight * pair
            beta[origin] = log_sum(outgoing)


@compiled(within=True)
def log_sum(logs: FloatArray) -> float:
    """log of the sum of exp; minus infinity if nothing is possible."""
    largest = -np.inf
    for value in logs:
        largest = max(largest, value)
    if largest == -np.inf:
        return largest
    total = 0.0
    for value in logs:
        total += np.exp(value - largest)
    log_total: float = largest + np.log(total)
    return log_total


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
