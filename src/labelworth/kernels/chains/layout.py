"""Sequences laid out for many passes: in blocks, and within each block also row of nodes by row of nodes."""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import AnyArray, IntArray
from labelworth.kernels.chains.potentials import Tokens
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.threads import BUFFERS
from labelworth.kernels.rows.tables import padded_width

N_RANGES = 32
"""Into how many ranges of rows a pass is cut: fixed, so that the order of adding does not depend on the threads."""

N_PIECES = 16
"""Into how many pieces the sequences of a block are cut."""

BLOCK_BYTES = 3 * 2**20
"""How much room the marginals of one block may take, unless a single sequence takes more."""


class ChainLayout(NamedTuple):
    """How a pass goes through its tokens."""

    tokens: Tokens  # The sequences.
    pieces: IntArray  # (n_blocks, N_PIECES + 1): The sequences at which the pieces of every block begin.
    block_starts: IntArray  # (n_blocks + 1,): The tokens at which blocks begin.
    range_rows: IntArray  # (N_RANGES + 1,): The rows of nodes at which the ranges begin; together they are all rows.
    # (n_entries,) and (n_entries + 1,): The rows that occur in a block, and where their postings begin.
    entry_rows: IntArray
    entry_starts: IntArray
    entry_ranges: IntArray  # (n_blocks, N_RANGES + 1): Where the entries of every range of rows begin in every block.
    postings: AnyArray  # (n_tokens,): The tokens of a block row by row, counted from the first of the block.
    ones: AnyArray  # (n_tokens,): How often a posting counts: once.
    longest: int  # The largest number of tokens of a sequence.

    @property
    def n_blocks(self) -> int:
        return len(self.pieces)

    @property
    def largest_block(self) -> int:
        """The largest number of tokens of a block."""
        return int(np.diff(self.block_starts).max(initial=0))

    @property
    def n_buffers(self) -> int:
        """How many blocks may be under way at once."""
        return min(BUFFERS, self.n_blocks)


def lay_out(tokens: Tokens, n_rows: int) -> ChainLayout:
    """Cut sequences into blocks and sort the tokens of each block by row."""
    offsets = tokens.offsets
    width = padded_width(tokens.candidate_weights.shape[1])
    size = max(1, BLOCK_BYTES // (8 * width))
    blocks = bounds_by_tokens(offsets, size)
    n_blocks = len(blocks) - 1
    pieces = np.empty((n_blocks, N_PIECES + 1), dtype=np.int64)
    for block in range(n_blocks):
        first, last = blocks[block], blocks[block + 1]
        targets = offsets[first] + np.arange(N_PIECES + 1) * (offsets[last] - offsets[first]) // N_PIECES
        pieces[block] = first + np.searchsorted(offsets[first:last], targets)
    block_starts = offsets[blocks]
    ranges = _range_rows(tokens.rows, n_rows)
    postings, counts = np.empty(len(tokens.rows), dtype=np.uint32), np.empty(n_blocks, dtype=np.int64)
    n_entries = int(np.minimum(np.diff(block_starts), n_rows).sum())  # at most
    entries = np.empty((2, n_entries), dtype=np.int64)
    sort_blocks(tokens.rows, block_starts, n_rows, postings, entries, counts)
    entry_bounds = np.concatenate([[0], np.cumsum(counts)])
    entry_ranges = np.empty((n_blocks, N_RANGES + 1), dtype=np.int64)
    for block in range(n_blocks):
        first, last = entry_bounds[block], entry_bounds[block + 1]
        entry_ranges[block] = first + np.searchsorted(entries[0, first:last], ranges)
    return ChainLayout(
        tokens,
        pieces,
        block_starts,
        ranges,
        entries[0, : entry_bounds[-1]].copy(),
        np.append(entries[1, : entry_bounds[-1]], len(tokens.rows)),
        entry_ranges,
        postings,
        np.ones(len(tokens.rows), dtype=np.float32),
        int(np.diff(offsets).max(initial=0)),
    )


def bounds_by_tokens(offsets: IntArray, size: int) -> IntArray:
    """Cut sequences into runs of about `size` tokens: the sequences at which runs begin, and the end of the last."""
    targets = np.arange(0, max(1, int(offsets[-1])), size)
    cuts = np.searchsorted(offsets[:-1], targets)
    return np.unique(np.append(cuts, [0, len(offsets) - 1])).astype(np.int64)


def _range_rows(rows: IntArray, n_rows: int) -> IntArray:
    """Cut rows into ranges with about as many tokens each."""
    before = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
    edges = np.searchsorted(before, np.arange(N_RANGES + 1) * (len(rows) / N_RANGES))
    edges[0], edges[-1] = 0, n_rows
    return np.asarray(np.maximum.accumulate(edges), dtype=np.int64)


@compiled()
def sort_blocks(
    rows: IntArray,
    block_starts: IntArray,
    n_rows: int,
    postings: AnyArray,
    entries: IntArray,
    counts: IntArray,
) -> None:
    """Sort the tokens of every block by row, keeping their order; list the rows that occur and where they begin."""
    positions, n_entries = np.zeros(n_rows, dtype=np.int64), 0
    for block in range(len(counts)):
        first, last, before = block_starts[block], block_starts[block + 1], n_entries
        for token in range(first, last):
            positions[rows[token]] += 1
        start = first
        for row in range(n_rows):
            if positions[row] > 0:
                entries[0, n_entries], entries[1, n_entries] = row, start
                n_entries += 1
                start, positions[row] = start + positions[row], start
        for token in range(first, last):
            postings[positions[rows[token]]] = token - first
            positions[rows[token]] += 1
        for entry in range(before, n_entries):
            positions[entries[0, entry]] = 0
        counts[block] = n_entries - before


def owners(tokens: Tokens) -> IntArray:
    """The sequence of every token."""
    return np.repeat(np.arange(len(tokens.offsets) - 1), np.diff(tokens.offsets))


def unweighted(tokens: Tokens) -> Tokens:
    """The same sequences, each counting one."""
    return tokens._replace(sequence_weights=np.ones(len(tokens.offsets) - 1))
