"""One EM pass over documents that come in windows: the bits of `expectation`, with nothing laid out.

A document's words are read twice while they are in the cache, once for its responsibilities and once to add these to
the sums of its words. Both ways add to a sum in the order of the documents, so both give the same bits. One thread
takes a pass from end to end; who has more threads gives each another shard.
"""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.kernels.documents.expectation import (
    N_OPENING,
    gathered,
    opening_words,
    pad_classes,
    read_row,
)
from labelworth.kernels.documents.layout import PIECE, Evidence, Known, known_likelihood, start_counts
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.rows.row_sums import WIDEST, add_to_rows
from labelworth.kernels.rows.tables import aligned_zeros, collect_table, padded_width, spread_logarithms


@compiled()
def are_clean(starts: IntArray, words: AnyArray, counts: FloatArray, n_words: int) -> bool:
    """Whether a CSR matrix is as `labelworth.data.counts.as_counts` would have it, in one look at every value."""
    if starts[0] != 0 or starts[-1] != len(words) or len(counts) != len(words):
        return False
    for row in range(len(starts) - 1):
        if starts[row] > starts[row + 1]:
            return False
    # Without branches, so that whole vectors are compared: words may fall where a row begins, and nowhere else.
    n_wrong, n_falls = 0, 0
    for position in range(len(words)):
        word, count = words[position], counts[position]
        n_wrong += (word < 0) | (word >= n_words) | (not count > 0.0) | (count == np.inf)
    for position in range(len(words) - 1):
        n_falls += words[position + 1] <= words[position]
    for row in range(len(starts) - 1):
        first = starts[row]
        if 0 < first < starts[row + 1]:
            n_falls -= words[first] <= words[first - 1]
    return n_wrong == 0 and n_falls == 0


class WordLogarithms(NamedTuple):
    """The parameters as passes read them; the same for all shards."""

    classes: FloatArray  # (padded_width,)
    words: FloatArray  # (n_words * padded_width,)
    n_words: int
    n_classes: int


def take_logarithms(log_classes: FloatArray, word_probabilities: FloatArray) -> WordLogarithms:
    """Of the logarithms of class probabilities (K,), and of word probabilities (K, V)."""
    n_classes, n_words = word_probabilities.shape
    width = padded_width(n_classes)
    words = aligned_zeros(n_words * width)
    spread_logarithms(word_probabilities, words, width, 0, n_words)
    return WordLogarithms(pad_classes(log_classes), words, n_words, n_classes)


class Walk(NamedTuple):
    """Sums of a pass that is under way."""

    word_counts: FloatArray
    row_sums: FloatArray  # As in `labelworth.kernels.documents.expectation.Workspace`.
    posterior: FloatArray  # Of the document at hand.


def begin_walk(logarithms: WordLogarithms, known: Known, n_documents: int) -> Walk:
    """Sums that begin with what is known, for so many documents whose class is open."""
    width = len(logarithms.classes)
    word_counts = aligned_zeros(len(logarithms.words))
    start_counts(known, 0, len(word_counts), word_counts)
    return Walk(word_counts, np.zeros((-(-n_documents // PIECE), width + 1)), aligned_zeros(width))


@compiled()
def read_window(
    starts: IntArray,
    words: AnyArray,
    counts: FloatArray,
    evidence: Evidence,
    logarithms: WordLogarithms,
    walk: Walk,
    n_before: int,
) -> int:
    """Add what the rows of a window say, behind `n_before` documents; return how many these are by then.

    Rows whose class was seen, and rows that count nothing, are passed over.
    """
    width = len(logarithms.classes)
    for row in range(len(starts) - 1):
        if evidence.codes[row] >= 0 or evidence.row_weights[row] == 0.0:
            continue
        first, last = starts[row], starts[row + 1]
        read_row(
            words,
            counts,
            first,
            last,
            evidence,
            row,
            logarithms.words,
            logarithms.classes,
            walk.posterior,
            0,
            walk.row_sums[n_before // PIECE],
        )
        for column in range(0, width, WIDEST):
            n_columns = min(WIDEST, width - column)
            add_to_rows(
                walk.posterior, column, walk.word_counts, column, width, words, counts, first, last, n_columns
            )
        n_before += 1
    return n_before


def end_walk(walk: Walk, logarithms: WordLogarithms, known: Known) -> tuple[FloatArray, FloatArray, float]:
    """Expected class weights and word counts, and the log-likelihood; see `expectation`.

    Where rows of words are filled up with nothing, the table is that of the walk, whose columns follow each other in
    memory: who adds up many shards has no second one beside it.
    """
    n_classes, n_words, width = logarithms.n_classes, logarithms.n_words, len(logarithms.classes)
    if width == n_classes:
        word_counts = walk.word_counts.reshape(n_words, n_classes).T
    else:
        word_counts = np.empty((n_classes, n_words))
        collect_table(walk.word_counts, word_counts, width, 0, n_words)
    known_sums = np.zeros(N_OPENING)
    add_known_likelihood(known, logarithms, known_sums)
    log_classes = logarithms.classes[: logarithms.n_classes]
    class_weights, log_likelihood = gathered(walk.row_sums, known, known_sums, log_classes)
    return class_weights, word_counts, log_likelihood


@compiled()
def add_known_likelihood(known: Known, logarithms: WordLogarithms, sums: FloatArray) -> None:
    """Piece by piece of the opening, as `expectation` does."""
    width = len(logarithms.classes)
    for number in range(len(sums)):
        first, last = opening_words(logarithms.n_words, number)
        sums[number] = known_likelihood(known, first * width, last * width, logarithms.words)
