"""Documents laid out for many passes, row by row and in blocks word by word; what is known of their classes."""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import fetch_and_add
from labelworth.kernels.machine.threads import n_threads_for, run_together
from labelworth.kernels.rows.tables import padded_width

N_RANGES = 32
"""Into how many ranges of words a pass is cut: fixed, so that the order of adding does not depend on the threads."""

PIECE = 128
"""How many documents one thread takes at a time."""

BLOCK_BYTES = 3 * 2**20
"""How much room the responsibilities of one block may take: they have to stay in the cache that the threads share."""

_SINGLE_LIMIT = 2.0**127


class Documents(NamedTuple):
    """Sparse counts laid out for passes.

    The rows themselves are the caller's CSR arrays, not a copy. Beside them, the documents of each block are listed
    word by word (*postings*): one entry per word that occurs in the block, and under it the documents with their
    counts. The E-step reads rows, the M-step reads postings, and both add up in registers.
    """

    starts: IntArray  # CSR: row i holds ``words[starts[i]:starts[i + 1]]``; int64, int32, float64. No stored zeros.
    words: AnyArray
    counts: FloatArray
    rows: IntArray  # (n_documents,): The rows that take part, in the order of the blocks.
    n_words: int  # The number of columns.
    block_size: int  # How many documents make a block, a multiple of PIECE; at most 65536.
    entry_words: AnyArray  # (n_entries,): The word of every entry, ascending within a block.
    entry_starts: IntArray  # (n_entries + 1,): Where the postings of every entry begin.
    range_words: IntArray  # (N_RANGES + 1,): The words at which the ranges begin; together they are all words.
    # (n_blocks, N_RANGES + 1): Where the entries of every range of words begin in every block; there is at
    # least one block.
    entry_ranges: IntArray
    posting_documents: AnyArray  # (nnz,): The document of a posting, counted from the first of its block.
    posting_counts: AnyArray  # (nnz,): Its count; single precision where that is exact.


def block_documents(
    starts: AnyArray,
    words: AnyArray,
    counts: AnyArray,
    n_words: int,
    n_columns: int,
    rows: AnyArray | None = None,
) -> Documents:
    """Lay out rows of a CSR matrix (all when None) for passes that keep `n_columns` doubles per document."""
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    words = np.ascontiguousarray(words, dtype=np.int32)
    counts = np.ascontiguousarray(counts, dtype=np.float64)
    if not counts.all():
        starts, words, counts = _without_zeros(starts, words, counts)
    rows = np.arange(len(starts) - 1) if rows is None else np.ascontiguousarray(rows, dtype=np.int64)
    block_size = _block_size(len(rows), n_columns)
    n_blocks = max(1, -(-len(rows) // block_size))
    edges = _range_edges(rows, starts, words, n_words)
    n_threads = n_threads_for(len(counts))
    entries = np.zeros(n_blocks + 1, dtype=np.int64)
    counters = np.zeros(2, dtype=np.int64)
    arguments = (starts, words, rows, n_words, block_size, entries[1:], counters)
    run_together(count_entries, arguments, n_threads, counters[1:], n_blocks)
    np.cumsum(entries, out=entries)
    postings = np.concatenate([[0], np.cumsum(starts[rows + 1] - starts[rows])])
    postings = postings[np.minimum(np.arange(n_blocks + 1) * block_size, len(rows))]
    exact = fit_single_precision(counts)
    layout = Documents(
        starts,
        words,
        counts,
        rows,
        n_words,
        block_size,
        entry_words=np.empty(entries[-1], dtype=np.int32),
        entry_starts=np.empty(entries[-1] + 1, dtype=np.int64),
        range_words=edges,
        entry_ranges=np.empty((n_blocks, N_RANGES + 1), dtype=np.int64),
        posting_documents=np.empty(postings[-1], dtype=np.uint16),
        posting_counts=np.empty(postings[-1], dtype=np.float32 if exact else np.float64),
    )
    layout.entry_starts[-1] = postings[-1]
    counters = np.zeros(2, dtype=np.int64)
    run_together(fill_entries, (layout, entries, postings, counters), n_threads, counters[1:], n_blocks)
    return layout


def _block_size(n_documents: int, n_columns: int) -> int:
    """Whole pieces, as many as fit the cache, and not more than there are documents or than 16 bits can count."""
    fitting = BLOCK_BYTES // (8 * padded_width(n_columns) * PIECE)
    return PIECE * max(1, min(fitting, 2**16 // PIECE, -(-n_documents // PIECE)))


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
def fit_single_precision(counts: FloatArray) -> bool:
    """Whether single precision holds every count exactly."""
    exact = True
    for count in counts:
        exact = exact and count < _SINGLE_LIMIT and np.float64(np.float32(count)) == count
    return exact


@compiled()
def word_frequency(starts: IntArray, words: AnyArray, rows: IntArray, n_words: int) -> IntArray:
    """In how many of the rows each word occurs."""
    frequency = np.zeros(n_words, np.int64)
    for row in rows:
        for position in range(starts[row], starts[row + 1]):
            frequency[words[position]] += 1
    return frequency


@compiled()
def count_entries(
    starts: IntArray,
    words: AnyArray,
    rows: IntArray,
    n_words: int,
    block_size: int,
    n_entries: IntArray,
    counters: IntArray,
) -> None:
    """How many different words every block holds; what one of the threads does."""
    last_seen = np.full(n_words, -1, np.int64)
    while True:
        block = fetch_and_add(counters, 0, 1)
        if block >= len(n_entries):
            return
        entries = 0
        for row in rows[block * block_size : (block + 1) * block_size]:
            for position in range(starts[row], starts[row + 1]):
                if last_seen[words[position]] != block:
                    last_seen[words[position]] = block
                    entries += 1
        n_entries[block] = entries
        fetch_and_add(counters, 1, 1)


@compiled()
def fill_entries(layout: Documents, first_entry: IntArray, first_posting: IntArray, counters: IntArray) -> None:
    """Write the entries and postings of every block; what one of the threads does."""
    while True:
        block = fetch_and_add(counters, 0, 1)
        if block >= len(layout.entry_ranges):
            return
        fill_block(layout, block, first_entry[block], first_posting[block])
        fetch_and_add(counters, 1, 1)


@compiled()
def fill_block(layout: Documents, block: int, entry: int, posting: int) -> None:
    """Write the entries and postings of one block, from `entry` and `posting` on."""
    rows = layout.rows[block * layout.block_size : (block + 1) * layout.block_size]
    cursor = np.zeros(layout.n_words, np.int64)
    for row in rows:
        for position in range(layout.starts[row], layout.starts[row + 1]):
            cursor[layout.words[position]] += 1
    for part in range(N_RANGES):
        layout.entry_ranges[block, part] = entry
        for word in range(layout.range_words[part], layout.range_words[part + 1]):
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
        for position in range(layout.starts[row], layout.starts[row + 1]):
            word = layout.words[position]
            layout.posting_documents[cursor[word]] = document
            layout.posting_counts[cursor[word]] = layout.counts[position]
            cursor[word] += 1


class Evidence(NamedTuple):
    """What is known of the class of every row of the CSR matrix, and how much it counts."""

    # (n_rows,): The class; -1: nothing is known; at most -2: row ``-2 - code`` of `candidate_weights`.
    codes: IntArray
    candidate_weights: FloatArray  # (n_ambiguous, n_classes): The likelihood of the evidence in every class.
    row_weights: FloatArray  # (n_rows,): How much each row counts.


class Known(NamedTuple):
    """What does not change from pass to pass: sums over the rows whose class was seen."""

    class_weights: FloatArray  # (n_classes,): Their weights.
    # (n_stored,): Where they have counts in a table of `padded_width` columns per word, flat, ascending.
    positions: IntArray
    counts: FloatArray  # (n_stored,): Their weighted counts there.


def sum_known(documents: Documents, evidence: Evidence, rows: AnyArray, n_classes: int) -> Known:
    """Sum the counts of rows whose class was seen, each times its weight, once for all passes."""
    class_weights, table = np.zeros(n_classes), np.zeros((documents.n_words, padded_width(n_classes)))
    seen = np.ascontiguousarray(rows, dtype=np.int64)
    add_known(documents.starts, documents.words, documents.counts, evidence, seen, class_weights, table)
    return known_of(class_weights, table)


def known_of(class_weights: FloatArray, table: FloatArray) -> Known:
    """What was summed up, without the zeros."""
    positions = np.flatnonzero(table)
    return Known(class_weights, positions, table.ravel()[positions])


@compiled()
def add_known(
    starts: IntArray,
    words: AnyArray,
    counts: FloatArray,
    evidence: Evidence,
    rows: IntArray,
    class_weights: FloatArray,
    table: FloatArray,
) -> None:
    """Add the weights and counts of rows of a CSR matrix to the sums of their classes, `table` a row per word."""
    for row in rows:
        label, weight = evidence.codes[row], evidence.row_weights[row]
        class_weights[label] += weight
        for position in range(starts[row], starts[row + 1]):
            table[words[position], label] += weight * counts[position]


@compiled()
def start_counts(known: Known, first: int, last: int, word_counts: FloatArray) -> None:
    """Write what is known into the positions `first` to `last` of a table of zeros."""
    begin, end = np.searchsorted(known.positions, first), np.searchsorted(known.positions, last)
    for stored in range(begin, end):
        word_counts[known.positions[stored]] = known.counts[stored]


@compiled()
def known_likelihood(known: Known, first: int, last: int, log_words: FloatArray) -> float:
    """The part of the log-likelihood that what is known has at the positions `first` to `last`."""
    begin, end = np.searchsorted(known.positions, first), np.searchsorted(known.positions, last)
    total = 0.0
    for stored in range(begin, end):
        total += known.counts[stored] * log_words[known.positions[stored]]
    return total
