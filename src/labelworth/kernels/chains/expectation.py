"""One EM pass over sequences of words: expected counts of first labels, pairs and words, and log Z."""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.chains.layout import N_PIECES, N_RANGES, ChainLayout, lay_out
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens
from labelworth.kernels.chains.sequence import run_sequence
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.threads import (
    FINISHED,
    OPENING,
    ROWS,
    draw,
    finish,
    n_threads_for,
    new_counters,
    run_schedule,
)
from labelworth.kernels.rows.row_sums import WIDEST, add_rows
from labelworth.kernels.rows.tables import aligned_zeros, collect_table


class Workspace(NamedTuple):
    """Memory that a pass writes to, kept from pass to pass; one pass at a time."""

    # The marginals of the blocks under way, a padded row per token, times the weight of its sequence.
    marginals: FloatArray
    counts: FloatArray  # Expected labels beside each row of nodes.
    # (n_buffers, N_PIECES, 2 * width * width + width): For every piece of a block: pairs whose transition is
    # still to be multiplied, whole pairs, first labels.
    pieces: FloatArray


class ChainSums(NamedTuple):
    """Expected counts given the evidence, weighted by sequence, and log Z."""

    # (n_sequences,): log Z of every sequence; minus infinity where it is impossible, and then it counts
    # nowhere.
    log_totals: FloatArray
    start: FloatArray  # (K,): Expected first labels.
    pairs: FloatArray  # (K, K): Expected neighbors: a label (row) and the next.
    nodes: FloatArray  # (K, n_rows): Expected labels beside each row of the nodes.


def make_workspace(layout: ChainLayout, n_rows: int, width: int) -> Workspace:
    """Memory for passes over these sequences."""
    n_buffers = layout.n_buffers
    return Workspace(
        aligned_zeros(n_buffers * layout.largest_block * width),
        aligned_zeros(n_rows * width),
        np.zeros((n_buffers, N_PIECES, 2 * width * width + width)),
    )


def chain_sums(chain: Chain, nodes: Nodes, tokens: Tokens, n_threads: int | None = None) -> ChainSums:
    """log Z and all expected counts, once."""
    layout = lay_out(tokens, len(nodes.shifts))
    workspace = make_workspace(layout, len(nodes.shifts), len(chain.start))
    return expectation(layout, workspace, chain, nodes, n_threads)


def expectation(
    layout: ChainLayout, workspace: Workspace, chain: Chain, nodes: Nodes, n_threads: int | None = None
) -> ChainSums:
    """log Z and all expected counts; the same bits for any number of threads."""
    n_labels, width, n_rows = len(chain.log_start), len(chain.start), len(nodes.shifts)
    totals = np.empty(len(layout.tokens.offsets) - 1)
    sums, counts = np.zeros(2 * width * width + width), np.zeros((n_labels, n_rows))
    arguments = (layout, workspace, chain, nodes, totals, sums, counts, new_counters(layout.n_blocks))
    size = len(layout.postings) * 3 * width * width + n_rows * width
    run_schedule(work, arguments, N_RANGES, n_threads_for(size) if n_threads is None else n_threads)
    pairs = sums[: width * width] * chain.transition + sums[width * width : 2 * width * width]
    return ChainSums(
        totals,
        sums[2 * width * width :][:n_labels].copy(),
        pairs.reshape(width, width)[:n_labels, :n_labels].copy(),
        counts,
    )


@compiled()
def work(
    layout: ChainLayout,
    workspace: Workspace,
    chain: Chain,
    nodes: Nodes,
    totals: FloatArray,
    sums: FloatArray,
    counts: FloatArray,
    counters: IntArray,
) -> None:
    """What one thread does: sequences and postings, until all blocks are done."""
    width, n_blocks = len(chain.start), len(layout.pieces)
    forwards, scales = np.empty(layout.longest * width), np.empty(layout.longest)
    while True:
        kind, block, number = draw(counters, n_blocks, 0, N_PIECES, N_RANGES)
        if kind == FINISHED:
            return
        if kind == ROWS:
            read_sequences(layout, workspace, chain, nodes, forwards, scales, totals, block, number)
        elif kind != OPENING:
            first, last = layout.range_rows[number], layout.range_rows[number + 1]
            if block == 0:
                for position in range(first * width, last * width):
                    workspace.counts[position] = 0.0
            if number == 0:
                add_pieces(workspace.pieces[block % len(workspace.pieces)], sums)
            read_postings(layout, workspace, width, block, number)
            if block == n_blocks - 1:
                collect_table(workspace.counts, counts, width, first, last)
        finish(counters, kind, block)


@compiled(within=True)
def read_sequences(
    layout: ChainLayout,
    workspace: Workspace,
    chain: Chain,
    nodes: Nodes,
    forwards: FloatArray,
    scales: FloatArray,
    totals: FloatArray,
    block: int,
    number: int,
) -> None:
    """The recursion over one piece of a block: marginals into the buffer, sums beside."""
    tokens, width = layout.tokens, len(chain.start)
    n_buffers = len(workspace.pieces)
    size = len(workspace.marginals) // n_buffers
    buffer = workspace.marginals[block % n_buffers * size : (block % n_buffers + 1) * size]
    sums = workspace.pieces[block % n_buffers, number]
    for position in range(len(sums)):
        sums[position] = 0.0
    pairs, whole_pairs = sums[: width * width], sums[width * width : 2 * width * width]
    start = sums[2 * width * width :]
    for sequence in range(layout.pieces[block, number], layout.pieces[block, number + 1]):
        first, last = tokens.offsets[sequence], tokens.offsets[sequence + 1]
        origin = layout.block_starts[block]
        target = buffer[(first - origin) * width : (last - origin) * width]
        weight = tokens.sequence_weights[sequence]
        totals[sequence] = run_sequence(
            chain, nodes, tokens, first, last, weight, forwards, scales, target, pairs, whole_pairs
        )
        for label in range(width):
            start[label] += target[label]


@compiled(within=True)
def add_pieces(pieces: FloatArray, sums: FloatArray) -> None:
    """Add the sums of all pieces, in their order."""
    for piece in range(len(pieces)):
        for position in range(len(sums)):
            sums[position] += pieces[piece, position]


@compiled()
def read_postings(layout: ChainLayout, workspace: Workspace, width: int, block: int, number: int) -> None:
    """Add the marginals of a block to the rows of one range."""
    n_buffers = len(workspace.pieces)
    buffer = block % n_buffers * (len(workspace.marginals) // n_buffers)
    for entry in range(layout.entry_ranges[block, number], layout.entry_ranges[block, number + 1]):
        target = layout.entry_rows[entry] * width
        for column in range(0, width, WIDEST):
            add_rows(
                workspace.counts,
                target + column,
                workspace.marginals,
                buffer + column,
                width,
                layout.postings,
                layout.ones,
                layout.entry_starts[entry],
                layout.entry_starts[entry + 1],
                min(WIDEST, width - column),
            )
