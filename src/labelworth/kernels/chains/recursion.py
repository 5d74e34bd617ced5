r"""The recursion over one sequence, clamped to what is known of its labels.

With the potentials of the start :math:`s`, the transition :math:`A`, the nodes :math:`b_t` and the evidence
:math:`e_t` (a weight per label), forward weights are normalized at every position,

.. math:: a_t(j) = \frac{1}{c_t}\, e_t(j)\, b_t(j) \sum_i a_{t-1}(i) A_{ij}, \qquad
          \log Z = \sum_t \log c_t, \qquad
          \beta_{t-1}(i) = \frac{1}{c_t} \sum_j A_{ij}\, e_t(j)\, b_t(j)\, \beta_t(j)

and :math:`p(y_t = j | \cdot) = a_t(j) \beta_t(j)`. Everything is positive, so only underflow can hurt, and it is
found out: `forward` gives NaN where it cannot vouch for its sums, and the caller turns to logarithms. It vouches if
every scale is between 1e-60 and 1e60 and either

- the chain is mixing: what is lost at one position is below 1e-308 of 1e-60, and weighs at most 1e60 times more at
  the end than what was kept; or
- nothing is lost: what is possible never weighs less than 1e-100 at a position, transitions not less than 1e-60 and
  nodes not less than 1e-90, so that no product falls below 1e-250.

What underflows on the way back costs no more than it is, since :math:`\sum_j a_t(j) \beta_t(j)` stays one.
"""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.kernels.chains.algebra import (
    WIDEST,
    add_outer_products,
    backward_step,
    divide_rows,
    forward_step,
    multiply_rows,
    rows_at_once,
    weigh_row,
)
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import prefetch

CHUNK = 64
"""How many positions are summed into pair counts at once."""

_SMALLEST_SCALE, _LARGEST_SCALE = 1e-60, 1e60
_SMALLEST_FORWARD, _SMALLEST_NODE = 1e-100, 1e-90
_UNLABELED = -1
_AHEAD = 6  # how many tokens before it is read a row of nodes is called for
_LINE = 8


@compiled(within=True)
def read_node(weights: FloatArray, start: int, code: int, candidate_weights: FloatArray, row: FloatArray) -> None:
    """Write the weights of the labels at a token, with what is known of its label, to `row`."""
    for label in range(len(row)):
        row[label] = weights[start + label] if code < 0 or code == label else 0.0
    if code < _UNLABELED:
        for label in range(candidate_weights.shape[1]):
            row[label] *= candidate_weights[-2 - code, label]


@compiled(within=True)
def log_node(nodes: Nodes, tokens: Tokens, token: int, logs: FloatArray) -> None:
    """Write the log-potentials of the labels at a token, with the evidence, to `logs` (K,)."""
    n_labels = len(logs)
    width = len(nodes.weights) // len(nodes.shifts)
    source, code = tokens.rows[token], tokens.codes[token]
    for label in range(n_labels):
        weight = 1.0
        if code >= 0:
            weight = 1.0 if code == label else 0.0
        elif code < _UNLABELED:
            weight = tokens.candidate_weights[-2 - code, label]
        logs[label] = log_weight(nodes, source, label, width) + log_or_impossible(weight)


@compiled(within=True)
def log_weight(nodes: Nodes, row: int, label: int, width: int) -> float:
    """One log-potential."""
    if len(nodes.logs) > 0:
        value: float = nodes.logs[row, label]
    else:
        value = log_or_impossible(nodes.weights[row * width + label]) + nodes.shifts[row]
    return value


@compiled(within=True)
def log_or_impossible(weight: float) -> float:
    """The logarithm; minus infinity for zero."""
    return np.log(weight) if weight > 0.0 else -np.inf


@compiled()
def forward(
    chain: Chain, nodes: Nodes, tokens: Tokens, first: int, last: int, forwards: FloatArray, scales: FloatArray
) -> float:
    """Fill c_t a_t of the tokens `first` to `last`, and 1 / c_t of every position.

    Returns log Z, or NaN where plain numbers cannot be trusted.
    """
    if not (chain.mixing or chain.narrow):
        return np.nan
    width, n_rows, transition = len(chain.start), rows_of(chain), chain.transition
    weights, shifts, rows, codes = nodes.weights, nodes.shifts, tokens.rows, tokens.codes
    row, candidate_weights = np.empty(width), tokens.candidate_weights
    log_total: float = chain.start_shift + (last - first - 1) * chain.transition_shift
    product, inverse = 1.0, 1.0
    for position in range(last - first):
        token, target = first + position, position * width
        start, later = rows[token] * width, rows[min(token + _AHEAD, len(rows) - 1)] * width
        for column in range(0, width, _LINE):
            prefetch(weights, later + column)
        log_total += shifts[rows[token]]
        made = codes[token] != _UNLABELED or position == 0 or width > WIDEST
        if made:
            read_node(weights, start, codes[token], candidate_weights, row)
        if position == 0:
            for label in range(width):
                forwards[label] = chain.start[label]
            scale = weigh_row(forwards, 0, row, 1.0, width)
        elif width <= WIDEST:
            scale = forward_step(
                forwards, target, forwards, target - width, transition, weights, start, row, made, inverse, n_rows,
                width,
            )  # fmt: skip
        else:
            multiply_rows(forwards, target, forwards, target - width, transition, width)
            scale = weigh_row(forwards, target, row, inverse, width)
        if not _SMALLEST_SCALE < scale < _LARGEST_SCALE:
            return np.nan
        inverse = 1.0 / scale
        scales[position] = inverse
        product *= scale
        if not 1e-100 < product < 1e100:
            log_total += np.log(product)
            product = 1.0
        if not chain.mixing and loses(nodes, tokens, token, forwards, target, inverse):
            return np.nan
    log_total += np.log(product)
    return log_total


@compiled(within=True)
def rows_of(chain: Chain) -> int:
    """How many rows of the transition are read at every step: those of the labels, in whole sets."""
    n_sets = rows_at_once(len(chain.start))
    return (len(chain.log_start) + n_sets - 1) // n_sets * n_sets


@compiled(within=True)
def loses(nodes: Nodes, tokens: Tokens, token: int, forwards: FloatArray, target: int, inverse: float) -> bool:
    """Whether something possible may have been lost at this token, or may be at the next."""
    n_labels, source, code = tokens.candidate_weights.shape[1], tokens.rows[token], tokens.codes[token]
    width = len(nodes.weights) // len(nodes.shifts)
    for label in range(n_labels):
        if 0.0 < forwards[target + label] * inverse < _SMALLEST_FORWARD:
            return True
        weight = nodes.weights[source * width + label]
        possible = nodes.logs[source, label] > -np.inf if len(nodes.logs) > 0 else weight > 0.0
        if code < _UNLABELED:
            candidate_weight = tokens.candidate_weights[-2 - code, label]
            possible, weight = possible and candidate_weight > 0.0, weight * candidate_weight
        elif code >= 0:
            possible = possible and code == label
        if possible and weight < _SMALLEST_NODE:
            return True
    return False


@compiled()
def backward(
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
    r"""Turn what `forward` filled in into marginals (flat, a padded row per position), and add pairs to `pairs`.

    Both times `weight`. A pair still lacks its transition: multiply `pairs` by ``chain.transition`` when done.
    What is carried back is :math:`\beta_t / c_t`, so that nothing has to be divided.
    """
    width, n_rows, transposed = len(chain.start), rows_of(chain), chain.transposed
    weights, rows, codes = nodes.weights, tokens.rows, tokens.codes
    row, candidate_weights = np.empty(width), tokens.candidate_weights
    beta, ratios = np.empty(width), np.empty(CHUNK * width)
    for label in range(width):
        beta[label] = scales[last - first - 1]
    end = last - first - 1  # the ratios held belong to the positions after those up to here
    for position in range(last - first - 1, 0, -1):
        token, source, slot = first + position, position * width, (position - 1) % CHUNK * width
        start = rows[token] * width
        made = codes[token] != _UNLABELED or width > WIDEST
        if made:
            read_node(weights, start, codes[token], candidate_weights, row)
        if width <= WIDEST:
            backward_step(
                marginals, forwards, source, weights, start, row, made, scales[position - 1], weight, ratios, slot,
                transposed, beta, n_rows, width,
            )  # fmt: skip
        else:
            divide_rows(marginals, forwards, source, row, scales[position - 1], weight, ratios, slot, beta, width)
            multiply_rows(beta, 0, ratios, slot, transposed, width)
        if slot == 0:
            n_positions = end - position + 1
            if weight != 1.0:
                for entry in range(n_positions * width):
                    ratios[entry] *= weight
            add_outer_products(pairs, forwards, (position - 1) * width, ratios, n_positions, n_rows, width)
            end = position - 1
    for label in range(width):
        marginals[label] = weight * (forwards[label] * beta[label])
