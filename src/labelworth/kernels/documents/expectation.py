"""One EM pass over documents: expected counts of words in classes, and the log-likelihood."""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.kernels.documents.layout import (
    N_RANGES,
    PIECE,
    Documents,
    Evidence,
    Known,
    known_likelihood,
    start_counts,
)
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import prefetch
from labelworth.kernels.machine.threads import (
    BUFFERS,
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
from labelworth.kernels.rows.softmax import normalize
from labelworth.kernels.rows.tables import aligned_zeros, collect_table, padded_width, spread_logarithms

N_OPENING = 64
"""Into how many pieces the words are cut whose logarithms are taken before all else."""
_LINE = 8
_NEXT_ENTRY = 2
_UNLABELED = -1


class Workspace(NamedTuple):
    """Memory that a pass writes to, kept from pass to pass; one pass at a time."""

    log_words: FloatArray  # The parameters as the E-step reads them, the sums as the M-step writes them.
    word_counts: FloatArray
    posteriors: FloatArray  # The responsibilities of the blocks under way, times the row weights.
    row_sums: FloatArray  # (n_pieces, padded_width + 1): For every piece of rows: class weights and log-likelihood.


def make_workspace(documents: Documents, n_classes: int, n_buffers: int = BUFFERS) -> Workspace:
    """Memory for passes over these documents."""
    width = padded_width(n_classes)
    n_blocks = len(documents.entry_ranges)
    return Workspace(
        aligned_zeros(documents.n_words * width),
        aligned_zeros(documents.n_words * width),
        aligned_zeros(min(n_buffers, n_blocks) * documents.block_size * width),
        np.zeros((n_blocks * documents.block_size // PIECE, width + 1)),
    )


def pad_classes(log_classes: FloatArray) -> FloatArray:
    """Fill up to `padded_width` with classes that cannot be."""
    padded = np.full(padded_width(len(log_classes)), -np.inf)
    padded[: len(log_classes)] = log_classes
    return padded


def expectation(
    documents: Documents,
    workspace: Workspace,
    evidence: Evidence,
    known: Known,
    log_classes: FloatArray,
    word_probabilities: FloatArray,
    n_threads: int | None = None,
) -> tuple[FloatArray, FloatArray, float]:
    r"""Expected class weights and word counts, and the log-likelihood.

    .. math::

        r_{dk} \propto w_d(k)\, \pi_k \prod_v \theta_{kv}^{x_{dv}}, \qquad
        N_{kv} = \sum_d \omega_d r_{dk} x_{dv}, \qquad
        \ell = \sum_d \omega_d \log \sum_k w_d(k)\, \pi_k \prod_v \theta_{kv}^{x_{dv}}

    The same bits for any number of threads. A document that no class can have produced counts nowhere and makes the
    log-likelihood minus infinity.

    Parameters
    ----------
    documents, workspace : Documents, Workspace
        The documents whose class is open, and room for the pass.
    evidence : Evidence
        What is known of them all the same; rows outside the layout are not read.
    known : Known
        Sums over the documents whose class was seen; they are added.
    log_classes, word_probabilities : arrays of shape (K,) and (K, V)
        :math:`\log \pi` and :math:`\theta`; a probability may be zero.
    n_threads : int, optional
        How many threads take part; as many as are worth it when None.

    Returns
    -------
    class_weights : array of shape (K,)
    word_counts : array of shape (K, V)
    log_likelihood : float
    """
    width = padded_width(len(log_classes))
    workspace.row_sums[...] = 0.0
    known_sums = np.zeros(N_OPENING)
    word_counts = np.empty(word_probabilities.shape)
    arguments = (
        documents,
        workspace,
        evidence,
        known,
        pad_classes(log_classes),
        word_probabilities,
        word_counts,
        known_sums,
        new_counters(len(documents.entry_ranges)),
    )
    size = (len(documents.posting_counts) + documents.n_words) * width
    run_schedule(work, arguments, N_RANGES, n_threads_for(size) if n_threads is None else n_threads)
    class_weights, log_likelihood = gathered(workspace.row_sums, known, known_sums, log_classes)
    return class_weights, word_counts, log_likelihood


def gathered(
    row_sums: FloatArray, known: Known, known_sums: FloatArray, log_classes: FloatArray
) -> tuple[FloatArray, float]:
    """Class weights and log-likelihood, of what the pieces of rows say and of what is known."""
    sums, seen = row_sums.sum(axis=0), known.class_weights > 0
    log_likelihood = float(sums[-1] + known_sums.sum() + known.class_weights[seen] @ log_classes[seen])
    return sums[: len(log_classes)] + known.class_weights, log_likelihood


@compiled()
def work(
    documents: Documents,
    workspace: Workspace,
    evidence: Evidence,
    known: Known,
    log_classes: FloatArray,
    word_probabilities: FloatArray,
    word_counts: FloatArray,
    known_sums: FloatArray,
    counters: IntArray,
) -> None:
    """What one thread does: logarithms, rows and postings, until all blocks are done.

    Sums over a range of words begin with what is known when its first postings come, and are handed back after its
    last ones, while they are in the cache.
    """
    width = len(log_classes)
    n_blocks, n_row_pieces = len(documents.entry_ranges), documents.block_size // PIECE
    while True:
        kind, block, number = draw(counters, n_blocks, N_OPENING, n_row_pieces, N_RANGES)
        if kind == FINISHED:
            return
        if kind == OPENING:
            first, last = opening_words(documents.n_words, number)
            spread_logarithms(word_probabilities, workspace.log_words, width, first, last)
            known_sums[number] = known_likelihood(known, first * width, last * width, workspace.log_words)
        elif kind == ROWS:
            read_rows(documents, workspace, evidence, log_classes, block, number)
        else:
            first, last = documents.range_words[number], documents.range_words[number + 1]
            if block == 0:
                workspace.word_counts[first * width : last * width] = 0.0
                start_counts(known, first * width, last * width, workspace.word_counts)
            read_postings(documents, workspace, width, block, number)
            if block == n_blocks - 1:
                collect_table(workspace.word_counts, word_counts, width, first, last)
        finish(counters, kind, block)


@compiled()
def opening_words(n_words: int, number: int) -> tuple[int, int]:
    """The words of one piece of the opening: the first, and the one past the last."""
    return n_words * number // N_OPENING, n_words * (number + 1) // N_OPENING


@compiled()
def read_rows(
    documents: Documents,
    workspace: Workspace,
    evidence: Evidence,
    log_classes: FloatArray,
    block: int,
    number: int,
) -> None:
    """The E-step for one piece of a block: responsibilities into the buffer, their sums beside."""
    width = len(log_classes)
    first = block * documents.block_size + number * PIECE
    n_buffers = len(workspace.posteriors) // (documents.block_size * width)
    target = (block % n_buffers * documents.block_size + number * PIECE) * width
    posteriors, log_words, row_sums = workspace.posteriors, workspace.log_words, workspace.row_sums[first // PIECE]
    rows, starts, words, counts = documents.rows, documents.starts, documents.words, documents.counts
    for document in range(first, min(first + PIECE, len(rows))):
        row = rows[document]
        if evidence.row_weights[row] == 0.0:
            posteriors[target : target + width] = 0.0
        else:
            read_row(
                words,
                counts,
                starts[row],
                starts[row + 1],
                evidence,
                row,
                log_words,
                log_classes,
                posteriors,
                target,
                row_sums,
            )
        target += width


@compiled(fastmath={"contract"})
def read_row(
    words: AnyArray,
    counts: FloatArray,
    first: int,
    last: int,
    evidence: Evidence,
    row: int,
    log_words: FloatArray,
    log_classes: FloatArray,
    posteriors: FloatArray,
    target: int,
    row_sums: FloatArray,
) -> None:
    """The E-step for one document, whose words are those from `first` to `last`: its responsibilities to `target`."""
    width, weight = len(log_classes), evidence.row_weights[row]
    for column in range(width):
        posteriors[target + column] = log_classes[column]
    for column in range(0, width, WIDEST):
        n_columns = min(WIDEST, width - column)
        add_rows(posteriors, target + column, log_words, column, width, words, counts, first, last, n_columns)
    if evidence.codes[row] != _UNLABELED:
        restrict(posteriors, target, evidence, evidence.codes[row])
    row_sums[width] += weight * normalize(posteriors, target, width, weight, row_sums)


@compiled()
def restrict(posteriors: FloatArray, target: int, evidence: Evidence, code: int) -> None:
    """Add the log-likelihood of what is known of the class."""
    for label in range(evidence.candidate_weights.shape[1]):
        weight = 1.0 if code == label else 0.0
        if code < _UNLABELED:
            weight = evidence.candidate_weights[-2 - code, label]
        posteriors[target + label] += np.log(weight) if weight > 0 else -np.inf


@compiled()
def read_postings(documents: Documents, workspace: Workspace, width: int, block: int, number: int) -> None:
    """The M-step for the words of one range in one block."""
    n_buffers = len(workspace.posteriors) // (documents.block_size * width)
    buffer = block % n_buffers * documents.block_size * width
    word_counts, posteriors = workspace.word_counts, workspace.posteriors
    entry_words, entry_starts = documents.entry_words, documents.entry_starts
    posting_documents, posting_counts = documents.posting_documents, documents.posting_counts
    last = documents.entry_ranges[block, number + 1]
    for entry in range(documents.entry_ranges[block, number], last):
        target = entry_words[entry] * np.int64(width)
        later = entry_words[min(entry + _NEXT_ENTRY, last - 1)] * np.int64(width)
        for column in range(0, width, _LINE):
            prefetch(word_counts, later + column)
        for column in range(0, width, WIDEST):
            n_columns = min(WIDEST, width - column)
            add_rows(
                word_counts,
                target + column,
                posteriors,
                buffer + column,
                width,
                posting_documents,
                posting_counts,
                entry_starts[entry],
                entry_starts[entry + 1],
                n_columns,
            )
