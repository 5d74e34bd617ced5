r"""Products of expected counts with a block of vectors, sequence by sequence, without keeping the counts.

With :math:`T_i` the counts of sequence i that its labels leave open (first label, pairs, rows of nodes beside labels;
what stands between known labels alone is left out), for b vectors at once

.. math:: u_i = \langle E[T_i | x_i], v \rangle, \qquad \sum_i \omega_i u_i\, E[T_i | x_i]

in one recursion per sequence. The same bits for any number of threads.
"""

from typing import Any, NamedTuple

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.chains.algebra import gather_rows, spread_rows
from labelworth.kernels.chains.layout import N_PIECES, N_RANGES, ChainLayout
from labelworth.kernels.chains.potentials import Chain, Nodes
from labelworth.kernels.chains.sequence import is_known, run_sequence
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
from labelworth.kernels.rows.tables import aligned_zeros


class CountBlock(NamedTuple):
    """Numbers beside every count, b of them, flat; labels are filled up to `padded_width`."""

    start: FloatArray
    pairs: FloatArray
    rows: FloatArray


class ProductSpace(NamedTuple):
    """Memory that a product writes to."""

    marginals: FloatArray  # The marginals of the blocks under way, a padded row per token.
    # (n_buffers, N_PIECES, (width * width + width) * b): For every piece of a block, sums over its sequences:
    # pairs, then first labels.
    pieces: FloatArray


def empty_block(n_rows: int, width: int, n_vectors: int) -> CountBlock:
    sizes = (width, width * width, n_rows * width)
    return CountBlock(*(aligned_zeros(size * n_vectors) for size in sizes))


def count_products(
    layout: ChainLayout,
    owners: IntArray,
    chain: Chain,
    nodes: Nodes,
    vectors: CountBlock,
    summed: bool,
    n_threads: int | None = None,
) -> tuple[FloatArray, CountBlock]:
    r"""Inner products of every sequence, (n_sequences, b), and, if `summed`, the sums with them as coefficients.

    `owners` is the sequence of every token, :math:`\omega` the weights of the sequences in the layout; b is a
    multiple of four, at most `WIDEST`.
    """
    width = len(chain.start)
    n_vectors = len(vectors.start) // width
    inner = np.zeros((len(layout.tokens.offsets) - 1, n_vectors))
    coefficients = np.zeros(inner.shape)
    sums = empty_block(len(nodes.shifts) if summed else 0, width, n_vectors)
    space = ProductSpace(
        aligned_zeros(layout.n_buffers * layout.largest_block * width),
        np.zeros((layout.n_buffers, N_PIECES, (width * width + width) * n_vectors)),
    )
    arguments = (
        layout, owners, chain, nodes, vectors, summed, space, inner, coefficients, sums,
        new_counters(layout.n_blocks),
    )  # fmt: skip
    size = len(layout.postings) * width * (3 * width + 4 * n_vectors)
    run_schedule(work_on_products, arguments, N_RANGES, n_threads_for(size) if n_threads is None else n_threads)
    return inner, sums


@compiled()
def work_on_products(
    layout: ChainLayout,
    owners: IntArray,
    chain: Chain,
    nodes: Nodes,
    vectors: CountBlock,
    summed: bool,
    space: ProductSpace,
    inner: FloatArray,
    coefficients: FloatArray,
    sums: CountBlock,
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
            multiply_sequences(
                layout, chain, nodes, vectors, summed, space, inner, coefficients, forwards, scales, block, number
            )
        elif kind != OPENING and summed:
            if number == 0:
                for piece in range(N_PIECES):
                    add_piece(sums, space.pieces[block % len(space.pieces), piece])
            add_postings(layout, owners, space, coefficients, sums.rows, width, block, number)
        finish(counters, kind, block)


@compiled()
def multiply_sequences(
    layout: ChainLayout,
    chain: Chain,
    nodes: Nodes,
    vectors: CountBlock,
    summed: bool,
    space: ProductSpace,
    inner: FloatArray,
    coefficients: FloatArray,
    forwards: FloatArray,
    scales: FloatArray,
    block: int,
    number: int,
) -> None:
    """One piece of a block: marginals into the buffer, inner products, sums over pairs and first labels."""
    tokens, codes, width, n_vectors = layout.tokens, layout.tokens.codes, len(chain.start), inner.shape[1]
    square, origin = width * width, layout.block_starts[block]
    size = len(space.marginals) // len(space.pieces)
    buffer = space.marginals[block % len(space.pieces) * size :][:size]
    sums = space.pieces[block % len(space.pieces), number]
    for position in range(len(sums)):
        sums[position] = 0.0
    pairs, whole_pairs = np.empty(square), np.empty(square)
    for sequence in range(layout.pieces[block, number], layout.pieces[block, number + 1]):
        first, last = tokens.offsets[sequence], tokens.offsets[sequence + 1]
        if is_known(codes, first, last):
            continue
        marginals = buffer[(first - origin) * width : (last - origin) * width]
        for position in range(square):
            pairs[position], whole_pairs[position] = 0.0, 0.0
        log_total = run_sequence(
            chain, nodes, tokens, first, last, 1.0, forwards, scales, marginals, pairs, whole_pairs
        )
        if log_total == -np.inf:
            continue
        for position in range(square):
            pairs[position] = pairs[position] * chain.transition[position] + whole_pairs[position]
        for token in range(first + 1, last):
            if codes[token - 1] >= 0 and codes[token] >= 0:
                pairs[codes[token - 1] * width + codes[token]] -= 1.0
        is_first_open = codes[first] < 0
        total = inner[sequence]
        if is_first_open:
            gather_rows(total, 0, marginals, 0, vectors.start, 0, width, n_vectors)
        gather_rows(total, 0, pairs, 0, vectors.pairs, 0, square, n_vectors)
        for token in range(first, last):
            if codes[token] < 0:
                start, row = (token - first) * width, tokens.rows[token] * width
                gather_rows(total, 0, marginals, start, vectors.rows, row * n_vectors, width, n_vectors)
        if summed:
            chosen, weight = coefficients[sequence], tokens.sequence_weights[sequence]
            for column in range(n_vectors):
                chosen[column] = weight * inner[sequence, column]
            spread_rows(sums, 0, pairs, 0, chosen, 0, square, n_vectors)
            if is_first_open:
                spread_rows(sums, square * n_vectors, marginals, 0, chosen, 0, width, n_vectors)


@compiled()
def add_postings(
    layout: ChainLayout,
    owners: IntArray,
    space: ProductSpace,
    coefficients: FloatArray,
    rows: FloatArray,
    width: int,
    block: int,
    number: int,
) -> None:
    """Add the marginals of a block, times the coefficients of their sequences, to the rows of one range."""
    n_buffers, n_vectors, origin = len(space.pieces), coefficients.shape[1], layout.block_starts[block]
    size = len(space.marginals) // n_buffers
    buffer, flat = block % n_buffers * size, coefficients.reshape(-1)
    for entry in range(layout.entry_ranges[block, number], layout.entry_ranges[block, number + 1]):
        target = layout.entry_rows[entry] * width * n_vectors
        for posting in range(layout.entry_starts[entry], layout.entry_starts[entry + 1]):
            token: Any = np.int64(layout.postings[posting])
            chosen = owners[origin + token] * n_vectors
            if layout.tokens.codes[origin + token] < 0:
                spread_rows(rows, target, space.marginals, buffer + token * width, flat, chosen, width, n_vectors)


@compiled()
def add_piece(sums: CountBlock, piece: FloatArray) -> None:
    """Add the sums of one piece."""
    n_pairs = len(sums.pairs)
    for position in range(n_pairs):
        sums.pairs[position] += piece[position]
    for position in range(len(sums.start)):
        sums.start[position] += piece[n_pairs + position]
