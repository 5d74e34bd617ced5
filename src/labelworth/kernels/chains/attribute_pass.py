r"""One pass of a CRF over its data: the penalized negative log-likelihood and its gradient.

.. math::

    f(\theta) = \sum_i \omega_i \bigl(\log Z(x_i) - \log Z(\text{evidence}_i, x_i)\bigr) + c\, |\theta|^2, \qquad
    \nabla f = \sum_i \omega_i \bigl(E[\Phi | x_i] - E[\Phi | \text{evidence}_i, x_i]\bigr) + 2 c\, \theta

Where all labels of a sequence are known its clamped part is a sum of weights, linear in theta: the counts in it are
taken once for all passes. Entirely unlabeled sequences contribute nothing and should be left out.
"""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.kernels.chains.attribute_layout import AttributeLayout
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens
from labelworth.kernels.chains.sequence import run_sequence
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import fetch_and_add
from labelworth.kernels.machine.threads import n_threads_for, run_together, wait_until
from labelworth.kernels.rows.row_sums import WIDEST, add_rows, add_to_rows
from labelworth.kernels.rows.softmax import exponentiate, largest
from labelworth.kernels.rows.tables import aligned_zeros

_N_RANGES = 64


class Workspace(NamedTuple):
    """Memory that a pass writes to, kept from pass to pass; one pass at a time."""

    weights: FloatArray  # A buffer per shard: its weights, and the expected counts in the same positions.
    sums: FloatArray
    totals: FloatArray  # (n_shards,): log Z, free less clamped.
    # (n_shards, width) and (n_shards, 2, width * width): Expected first labels and pairs of labels; of the
    # pairs those whose transition is still to be multiplied, and whole ones.
    starts: FloatArray
    pairs: FloatArray


class Evidence(NamedTuple):
    """What is known of the labels."""

    # The tokens without and with what is known of their labels; rows count from the start of the sequence.
    free: Tokens
    clamped: Tokens
    is_partial: BoolArray  # (n_sequences,): Whose clamped sum has to be taken in every pass.
    observed: FloatArray  # (n_features,): Weighted counts of the features in the other sequences.


class PassResult(NamedTuple):
    """What a pass gives beside the gradient of the features' weights."""

    value: float  # Of the objective, without the observed counts and the penalty of start and transition.
    start: FloatArray  # (K,) and (K, K): Expected counts, free less clamped; known sequences are not taken off.
    pairs: FloatArray


def make_workspace(layout: AttributeLayout) -> Workspace:
    """Memory for passes over this layout."""
    n_shards, width = len(layout.lists), layout.width
    size = int(layout.buffers[-1])
    return Workspace(
        aligned_zeros(size),
        aligned_zeros(size),
        np.zeros(n_shards),
        np.zeros((n_shards, width)),
        np.zeros((n_shards, 2, width * width)),
    )


def attribute_pass(
    layout: AttributeLayout,
    workspace: Workspace,
    evidence: Evidence,
    chain: Chain,
    theta: FloatArray,
    penalty: float,
    gradient: FloatArray,
    n_threads: int | None = None,
) -> PassResult:
    """Write the gradient of the features' weights `theta`, (n_features,); the same bits for any number of threads."""
    n_labels, width, n_shards = len(chain.log_start), layout.width, len(layout.lists)
    values, counters = np.zeros(_N_RANGES), np.zeros(4, dtype=np.int64)
    arguments = (layout, workspace, evidence, chain, theta, penalty, gradient, values, counters)
    size = len(layout.row_index) * width + len(layout.list_index)
    n_threads = n_threads_for(size) if n_threads is None else n_threads
    run_together(work_on_shards, arguments, min(n_threads, max(n_shards, 1)), counters[3:], _N_RANGES)
    sums = workspace.pairs.sum(axis=0).reshape(2, width, width)
    pairs = sums[0] * chain.transition.reshape(width, width) + sums[1]
    return PassResult(
        float(workspace.totals.sum() + values.sum()),
        workspace.starts.sum(axis=0)[:n_labels],
        pairs[:n_labels, :n_labels].copy(),
    )


@compiled()
def work_on_shards(
    layout: AttributeLayout,
    workspace: Workspace,
    evidence: Evidence,
    chain: Chain,
    theta: FloatArray,
    penalty: float,
    gradient: FloatArray,
    values: FloatArray,
    counters: IntArray,
) -> None:
    """What one thread does: shards, then, when all are there, ranges of the gradient."""
    n_shards, width = len(layout.lists), layout.width
    offsets, longest = evidence.free.offsets, 0
    for sequence in range(len(offsets) - 1):
        longest = max(longest, offsets[sequence + 1] - offsets[sequence])
    nodes = Nodes(np.empty(longest * width), np.empty(longest), np.empty((longest, len(chain.log_start))))
    scratch = np.empty((4, longest * width))
    while True:
        shard = fetch_and_add(counters, 0, 1)
        if shard >= n_shards:
            break
        read_shard(layout, workspace, evidence, chain, theta, nodes, scratch, shard)
        fetch_and_add(counters, 1, 1)
    wait_until(counters, 1, n_shards)
    while True:
        number = fetch_and_add(counters, 2, 1)
        if number >= _N_RANGES:
            return
        first, last = len(theta) * number // _N_RANGES, len(theta) * (number + 1) // _N_RANGES
        values[number] = collect(layout, workspace, evidence.observed, theta, penalty, gradient, first, last)
        fetch_and_add(counters, 3, 1)


@compiled()
def read_shard(
    layout: AttributeLayout,
    workspace: Workspace,
    evidence: Evidence,
    chain: Chain,
    theta: FloatArray,
    nodes: Nodes,
    scratch: FloatArray,
    shard: int,
) -> None:
    """The sums of one shard."""
    features, positions = layout.features, layout.positions
    for number in range(layout.feature_starts[shard], layout.feature_starts[shard + 1]):
        workspace.weights[positions[number]] = theta[features[number]]
    workspace.sums[layout.buffers[shard] : layout.buffers[shard + 1]] = 0.0
    pairs, starts = workspace.pairs[shard], workspace.starts[shard]
    pairs[:], starts[:] = 0.0, 0.0
    width, offsets, total = layout.width, evidence.free.offsets, 0.0
    expected, clamped = scratch[0], scratch[1]
    for sequence in range(layout.shards[shard], layout.shards[shard + 1]):
        first, last = offsets[sequence], offsets[sequence + 1]
        score_tokens(layout, workspace.weights, chain, nodes, shard, first, last)
        weight = evidence.free.sequence_weights[sequence]
        # One call, not two: machine code of the recursion is long.
        for turn in range(2 if evidence.is_partial[sequence] else 1):
            tokens = evidence.free if turn == 0 else evidence.clamped
            signed = weight if turn == 0 else -weight
            total += signed * run_sequence(
                chain, nodes, tokens, first, last, signed, scratch[2], scratch[3], scratch[turn], pairs[0], pairs[1]
            )
        if evidence.is_partial[sequence]:
            for position in range((last - first) * width):
                expected[position] += clamped[position]
        for label in range(width):
            starts[label] += expected[label]
        spread_tokens(layout, expected, workspace.sums, shard, first, last)
    workspace.totals[shard] = total


@compiled()
def score_tokens(
    layout: AttributeLayout, weights: FloatArray, chain: Chain, nodes: Nodes, shard: int, first: int, last: int
) -> None:
    """Fill the nodes of a sequence: what every label scores, in logarithms and as plain numbers beside a shift."""
    width, n_labels = layout.width, len(chain.log_start)
    for token in range(first, last):
        start = (token - first) * width
        score_token(layout, weights, n_labels, shard, token, nodes.weights, start)
        for label in range(n_labels):
            nodes.logs[token - first, label] = nodes.weights[start + label]
        shift = largest(nodes.weights, start, width)
        nodes.shifts[token - first] = shift
        exponentiate(nodes.weights, start, width, shift)


@compiled()
def score_token(
    layout: AttributeLayout, weights: FloatArray, n_labels: int, shard: int, token: int, row: FloatArray, start: int
) -> None:
    """Add up the weights of a token's attributes; minus infinity for what only fills the row up."""
    width = layout.width
    for label in range(width):
        row[start + label] = 0.0 if label < n_labels else -np.inf
    listed = layout.lists[shard]
    for position in range(layout.list_starts[token], layout.list_starts[token + 1]):
        weight = weights[listed + layout.list_index[position]]
        row[start + layout.list_labels[position]] += weight * layout.list_values[position]
    for column in range(0, width, WIDEST):
        add_rows(
            row,
            start + column,
            weights,
            layout.buffers[shard] + column,
            width,
            layout.row_index,
            layout.row_values,
            layout.row_starts[token],
            layout.row_starts[token + 1],
            min(WIDEST, width - column),
        )


@compiled()
def spread_tokens(
    layout: AttributeLayout, expected: FloatArray, sums: FloatArray, shard: int, first: int, last: int
) -> None:
    """Add what is expected of the labels of a sequence to the sums of the attributes."""
    width, listed = layout.width, layout.lists[shard]
    for token in range(first, last):
        start = (token - first) * width
        for position in range(layout.list_starts[token], layout.list_starts[token + 1]):
            amount = expected[start + layout.list_labels[position]] * layout.list_values[position]
            sums[listed + layout.list_index[position]] += amount
        for column in range(0, width, WIDEST):
            add_to_rows(
                expected,
                start + column,
                sums,
                layout.buffers[shard] + column,
                width,
                layout.row_index,
                layout.row_values,
                layout.row_starts[token],
                layout.row_starts[token + 1],
                min(WIDEST, width - column),
            )


@compiled()
def collect(
    layout: AttributeLayout,
    workspace: Workspace,
    observed: FloatArray,
    theta: FloatArray,
    penalty: float,
    gradient: FloatArray,
    first: int,
    last: int,
) -> float:
    """The gradient of the features `first` to `last`, shard after shard; returns their part of the objective."""
    value = 0.0
    for feature in range(first, last):
        gradient[feature] = 2.0 * penalty * theta[feature] - observed[feature]
        value += theta[feature] * (penalty * theta[feature] - observed[feature])
    for shard in range(len(layout.lists)):
        start, stop = layout.feature_starts[shard], layout.feature_starts[shard + 1]
        features = layout.features[start:stop]
        for number in range(start + np.searchsorted(features, first), start + np.searchsorted(features, last)):
            gradient[layout.features[number]] += workspace.sums[layout.positions[number]]
    return value
