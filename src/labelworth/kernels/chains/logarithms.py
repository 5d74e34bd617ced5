"""The recursion over one sequence in logarithms: slow, for what plain numbers cannot hold."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens
from labelworth.kernels.chains.recursion import log_node
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
