"""Documents laid out for many passes: as they are, row by row, and in blocks, word by word."""

from typing import NamedTuple

import numpy as np
from numba import prange

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.kernels.compilation import compiled

N_RANGES = 32
"""Into how many ranges of words a pass is cut: fixed, so that the order of adding does not depend on the threads."""

BLOCK_BYTES = 2**20
"""How much room the responsibilities of one block may take: they have to stay in the cache."""


class Documents(NamedTuple):
    """Sparse counts laid out for passes.

    The rows themselves are the caller's CSR arrays, not a copy. Beside them, the documents of each block are listed
    word by word (*postings*): one entry per word that occurs in the block, and under it the documents with their
    counts. The E-step reads rows, the M-step reads postings, and both add up in registers.

    Attributes
    ----------
    starts, words, counts : arrays
        CSR: row i holds ``words[starts[i]:starts[i + 1]]``; int64, int32, float64. No stored zeros.
    rows : int64 array of shape (n_documents,)
        The rows that take part, in the order of the blocks.
    n_words : int
        The number of columns.
    block_size : int
        How many documents make a block; at most 65536.
    entry_words : int32 array of shape (n_entries,)
        The word of every entry, ascending within a block.
    entry_starts : int64 array of shape (n_entries + 1,)
        Where the postings of every entry begin.
    entry_ranges : int64 array of shape (n_blocks, N_RANGES + 1)
        Where the entries of every range of words begin in every block.
    posting_documents : uint16 array of shape (nnz,)
        The document of a posting, counted from the first of its block.
    posting_counts : float32 or float64 array of shape (nnz,)
        Its count; single precision where that is exact.
    """

    starts: IntArray
    words: AnyArray
    counts: FloatArray
    rows: IntArray
    n_words: int
    block_size: int
    entry_words: AnyArray
    entry_starts: IntArray
    entry_ranges: IntArray
    posting_documents: AnyArray
    posting_counts: AnyArray


def block_documents(
    starts: AnyArray,
    words: AnyArray,
    counts: AnyArray,
    n_words: int,
    n_classes: int,
    rows: AnyArray | None = None,
) -> Documents:
    """Lay out the given rows of a CSR matrix (all when None) for passes with `n_classes` classes."""
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    words = np.ascontiguousarray(words, dtype=np.int32)
    counts = np.ascontiguousarray(counts, dtype=np.float64)
    if not counts.all():
        starts, words, counts = _without_zeros(starts, words, counts)
    rows = np.arange(len(starts) - 1) if rows is None else np.ascontiguousarray(rows, dtype=np.int64)
    block_size = _block_size(n_classes)
    n_blocks = -(-len(rows) // block_size)
    edges = _range_edges(rows, starts, words, n_words)
    entries, postings = np.zeros(n_blocks + 1, dtype=np.int64), np.zeros(n_blocks + 1, dtype=np.int64)
    count_entries(starts, words, rows, n_words, block_size, entries[1:], postings[1:])
    np.cumsum(entries, out=entries)
    np.cumsum(postings, out=postings)
    exact = np.array_equal(counts, counts.astype(np.float32))
    layout = Documents(
        starts,
        words,
        counts,
        rows,
        n_words,
        block_size,
        entry_words=np.empty(entries[-1], dtype=np.int32),
        entry_starts=np.empty(entries[-1] + 1, dtype=np.int64),
        entry_ranges=np.empty((n_blocks, N_RANGES + 1), dtype=np.int64),
        posting_documents=np.empty(postings[-1], dtype=np.uint16),
        posting_counts=np.empty(postings[-1], dtype=np.float32 if exact else np.float64),
    )
    layout.entry_starts[-1] = postings[-1]
    fill_entries(layout, entries, postings, edges)
    return layout


def _block_size(n_classes: int) -> int:
    rounded = -(-n_classes // 4) * 4
    return int(np.clip(BLOCK_BYTES // (8 * rounded), 256, 2**16))


def _without_zeros(starts: IntArray, words: AnyArray, counts: FloatArray) -> tuple[IntArray, AnyArray, FloatArray]:
    """Drop stored zeros: a count of zero times a log-probability of minus infinity would be no number."""
    kept = counts != 0
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[starts], words[kept], counts[kept]


def _range_edges(rows: IntArray, starts: IntArray, words: AnyArray, n_words: int) -> IntArray:
    """Cut the words into ranges with about equally many postings."""
    frequency = np.cumsum(word_frequency(starts, words, rows, n_words))
    total = frequency[-1] if n_words else 0
    edges = np.searchsorted(frequency, np.linspace(0, total, N_RANGES + 1), side="left")
    edges[0], edges[-1] = 0, n_words
    return edges.astype(np.int64)


@compiled()
def word_frequency(starts: IntArray, words: AnyArray, rows: IntArray, n_words: int) -> IntArray:
    """In how many of the rows each word occurs."""
    frequency = np.zeros(n_words, np.int64)
    for row in rows:
        for place in range(starts[row], starts[row + 1]):
            frequency[words[place]] += 1
    return frequency


@compiled(parallel=True)
def count_entries(
    starts: IntArray,
    words: AnyArray,
    rows: IntArray,
    n_words: int,
    block_size: int,
    n_entries: IntArray,
    n_postings: IntArray,
) -> None:
    """For every block: how many different words it holds, and how many postings."""
    for block in prange(len(n_entries)):
        first = block * block_size
        n_entries[block], n_postings[block] = count_block(starts, words, rows[first : first + block_size], n_words)


@compiled()
def count_block(starts: IntArray, words: AnyArray, rows: IntArray, n_words: int) -> tuple[int, int]:
    """How many different words the rows hold, and how many postings."""
    seen = np.zeros(n_words, np.bool_)
    n_entries, n_postings = 0, 0
    for row in rows:
        n_postings += starts[row + 1] - starts[row]
        for place in range(starts[row], starts[row + 1]):
            if not seen[words[place]]:
                seen[words[place]] = True
                n_entries += 1
    return n_entries, n_postings


@compiled(parallel=True)
def fill_entries(layout: Documents, first_entry: IntArray, first_posting: IntArray, edges: IntArray) -> None:
    """Write the entries and postings of every block."""
    for block in prange(len(first_entry) - 1):
        fill_block(layout, block, first_entry[block], first_posting[block], edges)


@compiled()
def fill_block(layout: Documents, block: int, entry: int, posting: int, edges: IntArray) -> None:
    """Write the entries and postings of one block, from `entry` and `posting` on."""
    rows = layout.rows[block * layout.block_size : (block + 1) * layout.block_size]
    cursor = np.zeros(layout.n_words, np.int64)
    for row in rows:
        for place in range(layout.starts[row], layout.starts[row + 1]):
            cursor[layout.words[place]] += 1
    for part in range(N_RANGES):
        layout.entry_ranges[block, part] = entry
        for word in range(edges[part], edges[part + 1]):
            occurrences = cursor[word]
            if occurrences:
                layout.entry_words[entry] = word
                layout.entry_starts[entry] = posting
                cursor[word] = posting
                entry += 1
                posting += occurrences
    layout.entry_ranges[block, N_RANGES] = entry
    for document in range(len(rows)):
        row = rows[document]
        for place in range(layout.starts[row], layout.starts[row + 1]):
            word = layout.words[place]
            layout.posting_documents[cursor[word]] = document
            layout.posting_counts[cursor[word]] = layout.counts[place]
            cursor[word] += 1
