r"""Products of expected counts with a block of vectors, sequence by sequence, without keeping the counts.

With :math:`T_i` the counts of sequence i (first label, pairs, rows of nodes beside labels), for b vectors at once

.. math:: u_i = \langle E[T_i | x_i], v \rangle, \qquad c_i = \omega_i (u_i - h_i), \qquad \sum_i c_i\, E[T_i | x_i]

in one recursion per sequence. The same bits for any number of threads.
"""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.chain_layout import N_PIECES, N_RANGES, ChainLayout
from labelworth.kernels.chain_potentials import Chain, Nodes
from labelworth.kernels.chain_sequence import run_sequence
from labelworth.kernels.compilation import compiled
from labelworth.kernels.schedule import FINISHED, OPENING, ROWS, draw, finish, new_counters, run_schedule
from labelworth.kernels.tables import aligned_zeros
from labelworth.kernels.threads import n_threads_for


class CountBlock(NamedTuple):
    """Numbers beside every count, b of them; labels are filled up to `padded_width`, b to a multiple of four.

    Attributes
    ----------
    start : array of shape (width, b)
    pairs : array of shape (width * width, b)
    rows : array of shape (n_rows, width, b)
    """

    start: FloatArray
    pairs: FloatArray
    rows: FloatArray


class ProductSpace(NamedTuple):
    """Memory that a product writes to.

    Attributes
    ----------
    marginals : flat array of n_buffers blocks
        The marginals of the blocks under way, a padded row per token.
    pieces : array of shape (n_buffers, N_PIECES, width * width + width, b)
        For every piece of a block, sums over its sequences: pairs, then first labels.
    """

    marginals: FloatArray
    pieces: FloatArray


def empty_block(n_rows: int, width: int, n_vectors: int) -> CountBlock:
    """Zeros."""
    return CountBlock(
        np.zeros((width, n_vectors)),
        np.zeros((width * width, n_vectors)),
        aligned_zeros(n_rows * width * n_vectors).reshape(n_rows, width, n_vectors),
    )


def count_products(
    layout: ChainLayout,
    owners: IntArray,
    chain: Chain,
    nodes: Nodes,
    vectors: CountBlock,
    offsets: FloatArray,
    scale: float,
    summed: bool,
    n_threads: int | None = None,
) -> tuple[FloatArray, CountBlock]:
    r"""Inner products of every sequence, and, if `summed`, the sums with the coefficients that follow from them.

    Parameters
    ----------
    layout, owners : ChainLayout, integer array of shape (n_tokens,)
        The sequences; the sequence of every token. The weights of the sequences are :math:`\omega`.
    chain, nodes : Chain, Nodes
        Potentials.
    vectors : CountBlock
        v, of b columns.
    offsets : array of shape (n_sequences, b)
        h.
    scale : float
        The coefficients are ``weight * (scale * inner - offset)``: 0 where they are given by the offsets alone.
    summed : bool
        Whether the sums are wanted.

    Returns
    -------
    inner : array of shape (n_sequences, b)
    sums : CountBlock
        Zeros if not `summed`.
    """
    width, n_vectors = vectors.start.shape
    inner = np.zeros((len(layout.tokens.offsets) - 1, n_vectors))
    coefficients = np.zeros(inner.shape)
    sums = empty_block(len(nodes.shifts) if summed else 0, width, n_vectors)
    space = ProductSpace(
        aligned_zeros(layout.n_buffers * layout.largest_block * width),
        np.zeros((layout.n_buffers, N_PIECES, width * width + width, n_vectors)),
    )
    arguments = (
        layout, owners, chain, nodes, vectors, offsets, scale, summed, space, inner, coefficients, sums,
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
    offsets: FloatArray,
    scale: float,
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
                layout, chain, nodes, vectors, offsets, scale, summed, space, inner, coefficients, forwards, scales,
                block, number,
            )  # fmt: skip
        elif kind != OPENING and summed:
            if number == 0:
                for piece in range(N_PIECES):
                    add_rows_of(sums.pairs, space.pieces[block % len(space.pieces), piece], 0)
                    add_rows_of(sums.start, space.pieces[block % len(space.pieces), piece], width * width)
            add_postings(layout, owners, space, coefficients, sums.rows, block, number)
        finish(counters, kind, block)


@compiled(fastmath={"contract"})
def multiply_sequences(
    layout: ChainLayout,
    chain: Chain,
    nodes: Nodes,
    vectors: CountBlock,
    offsets: FloatArray,
    scale: float,
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
    tokens, width, n_vectors = layout.tokens, len(chain.start), inner.shape[1]
    n_buffers, origin = len(space.pieces), layout.block_starts[block]
    size = len(space.marginals) // n_buffers
    buffer = space.marginals[block % n_buffers * size : (block % n_buffers + 1) * size]
    sums = space.pieces[block % n_buffers, number]
    for place in range(sums.shape[0]):
        for column in range(n_vectors):
            sums[place, column] = 0.0
    pairs, whole_pairs = np.empty(width * width), np.empty(width * width)
    for sequence in range(layout.pieces[block, number], layout.pieces[block, number + 1]):
        first, last = tokens.offsets[sequence], tokens.offsets[sequence + 1]
        marginals = buffer[(first - origin) * width : (last - origin) * width]
        for place in range(width * width):
            pairs[place], whole_pairs[place] = 0.0, 0.0
        run_sequence(
            chain, nodes, tokens, first, last, 1.0, forwards, scales, marginals, pairs, whole_pairs
        )  # fmt: skip
        for place in range(width * width):
            pairs[place] = pairs[place] * chain.transition[place] + whole_pairs[place]
        if scale != 0.0:
            total = inner[sequence]
            add_weighted_rows(total, marginals, 0, vectors.start)
            add_weighted_rows(total, pairs, 0, vectors.pairs)
            for token in range(first, last):
                add_weighted_rows(total, marginals, (token - first) * width, vectors.rows[tokens.rows[token]])
        if summed:
            weight = tokens.sequence_weights[sequence]
            for column in range(n_vectors):
                value = scale * inner[sequence, column] - offsets[sequence, column]
                coefficients[sequence, column] = weight * value
            spread_row(sums[: width * width], pairs, 0, coefficients[sequence])
            spread_row(sums[width * width :], marginals, 0, coefficients[sequence])


@compiled()
def add_postings(
    layout: ChainLayout,
    owners: IntArray,
    space: ProductSpace,
    coefficients: FloatArray,
    rows: FloatArray,
    block: int,
    number: int,
) -> None:
    """Add the marginals of a block, times the coefficients of their sequences, to the rows of one range."""
    width, n_buffers, origin = rows.shape[1], len(space.pieces), layout.block_starts[block]
    size = len(space.marginals) // n_buffers
    buffer = space.marginals[block % n_buffers * size : (block % n_buffers + 1) * size]
    for entry in range(layout.entry_ranges[block, number], layout.entry_ranges[block, number + 1]):
        target = rows[layout.entry_rows[entry]]
        for posting in range(layout.entry_starts[entry], layout.entry_starts[entry + 1]):
            token = np.int64(layout.postings[posting])
            spread_row(target, buffer, token * width, coefficients[owners[origin + token]])


@compiled()
def add_rows_of(rows: FloatArray, others: FloatArray, start: int) -> None:
    """Add rows of `others` from `start` on."""
    for place in range(len(rows)):
        for column in range(rows.shape[1]):
            rows[place, column] += others[start + place, column]


@compiled(fastmath={"contract"})
def add_weighted_rows(total: FloatArray, weights: FloatArray, start: int, rows: FloatArray) -> None:
    """Add rows, each times its weight."""
    for place in range(len(rows)):
        weight = weights[start + place]
        for column in range(len(total)):
            total[column] += weight * rows[place, column]


@compiled(fastmath={"contract"})
def spread_row(rows: FloatArray, weights: FloatArray, start: int, values: FloatArray) -> None:
    """Add the same values to every row, each time times a weight."""
    for place in range(len(rows)):
        weight = weights[start + place]
        for column in range(len(values)):
            rows[place, column] += weight * values[column]
