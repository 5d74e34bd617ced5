"""The missing-information product: what hidden labels take away, applied to vectors without forming a matrix."""

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.compilation import compiled
from labelworth.kernels.documents import N_RANGES, PIECE, Documents
from labelworth.kernels.responsibilities import Responsibilities
from labelworth.kernels.row_sums import NARROW, gather_listed, scatter_listed
from labelworth.kernels.schedule import BUFFERS, FINISHED, ROWS, draw, finish, new_counters, run_schedule
from labelworth.kernels.threads import n_threads_for

_WORDS_AHEAD = 2


def missing_product(
    documents: Documents,
    responsibilities: Responsibilities,
    row_weights: FloatArray,
    word_vectors: FloatArray,
    class_vectors: FloatArray,
    word_out: FloatArray,
    class_out: FloatArray,
    word_scale: FloatArray | None = None,
    n_threads: int | None = None,
) -> None:
    r"""Multiply vectors by the variance of the complete-data score given the document, summed over documents.

    The score of document :math:`x` with class :math:`k` has the entries :math:`x_w` at :math:`(w, k)` and 1 at
    :math:`k`. With :math:`C_{dk} = a_k + \sum_w x_{dw} s_{wk} v_{wk}` and responsibilities :math:`r_{dk}`,

    .. math::

        M_{dk} = r_{dk} \bigl(C_{dk} - \sum_j r_{dj} C_{dj}\bigr), \qquad
        \text{word\_out}_{wk} = s_{wk} \sum_d \omega_d x_{dw} M_{dk}, \qquad
        \text{class\_out}_k = \sum_d \omega_d M_{dk}

    for a block of b vectors at once, where the scale s turns the caller's coordinates into log-probabilities.

    Parameters
    ----------
    documents : Documents
        The documents whose class was not seen.
    responsibilities : Responsibilities
        Their posteriors, one row per document of the layout.
    row_weights : array of shape (n_rows,)
        :math:`\omega`, how much each row of the CSR matrix counts.
    word_vectors, class_vectors : arrays of shape (n_words, n_classes, b) and (n_classes, b)
        :math:`v` and :math:`a`, contiguous.
    word_out, class_out : arrays of the same shapes
        Overwritten with the product; must not share memory with the vectors.
    word_scale : array of shape (n_words, n_classes), optional
        :math:`s`, contiguous; ones when absent.
    n_threads : int, optional
        How many threads take part, as many as are worth it when None; the product does not depend on it.
    """
    n_blocks = len(documents.entry_ranges)
    n_classes, n_vectors = class_vectors.shape
    word_scale = np.ones((documents.n_words, n_classes)) if word_scale is None else word_scale
    blocks = np.minimum(np.arange(n_blocks + 1) * documents.block_size, len(documents.rows))
    largest = int(np.diff(responsibilities.starts[blocks]).max(initial=0))
    buffers = np.empty((min(BUFFERS, n_blocks), largest * n_vectors))
    word_out[...] = 0.0
    class_out[...] = 0.0
    arguments = (
        documents,
        responsibilities,
        row_weights,
        word_scale.reshape(-1),
        word_vectors.reshape(-1),
        class_vectors,
        buffers,
        word_out.reshape(-1),
        class_out,
        new_counters(n_blocks),
    )
    n_threads = n_threads_for(word_vectors.size) if n_threads is None else n_threads
    run_schedule(work_on_product, arguments, N_RANGES + 1, n_threads)


@compiled()
def work_on_product(
    documents: Documents,
    responsibilities: Responsibilities,
    row_weights: FloatArray,
    word_scale: FloatArray,
    word_vectors: FloatArray,
    class_vectors: FloatArray,
    buffers: FloatArray,
    word_out: FloatArray,
    class_out: FloatArray,
    counters: IntArray,
) -> None:
    """What one thread does: rows and postings of all blocks."""
    n_blocks, n_row_pieces = len(documents.entry_ranges), documents.block_size // PIECE
    while True:
        kind, block, number = draw(counters, n_blocks, 0, n_row_pieces, N_RANGES + 1)
        if kind == FINISHED:
            return
        buffer = buffers[block % BUFFERS]
        if kind == ROWS:
            center_rows(
                documents,
                responsibilities,
                row_weights,
                word_scale,
                word_vectors,
                class_vectors,
                buffer,
                block,
                number,
            )
        elif number < N_RANGES:
            spread_rows(documents, responsibilities, buffer, word_scale, class_out.shape, word_out, block, number)
        else:
            sum_rows(documents, responsibilities, buffer, class_out, block)
        finish(counters, kind, block)


@compiled()
def center_rows(
    documents: Documents,
    responsibilities: Responsibilities,
    row_weights: FloatArray,
    word_scale: FloatArray,
    word_vectors: FloatArray,
    class_vectors: FloatArray,
    buffer: FloatArray,
    block: int,
    number: int,
) -> None:
    """Write the weighted M of every document of one piece into the buffer, a row of b numbers per stored class."""
    n_classes, n_vectors = class_vectors.shape
    offset = responsibilities.starts[block * documents.block_size]
    first = block * documents.block_size + number * PIECE
    word_size = np.int64(n_classes * n_vectors)
    mean = np.empty(n_vectors)
    for document in range(first, min(first + PIECE, len(documents.rows))):
        begin, end = responsibilities.starts[document], responsibilities.starts[document + 1]
        row = documents.rows[document]
        # A posterior that knows the class leaves nothing open.
        if end - begin < 2:
            buffer[(begin - offset) * n_vectors : (end - offset) * n_vectors] = 0.0
            continue
        for slot in range(begin, end):
            for column in range(n_vectors):
                buffer[(slot - offset) * n_vectors + column] = class_vectors[responsibilities.classes[slot], column]
        last_place = documents.starts[row + 1] - 1
        for place in range(documents.starts[row], last_place + 1):
            later = documents.words[min(place + _WORDS_AHEAD, last_place)]
            for column in range(0, n_vectors, NARROW):
                gather_listed(
                    buffer,
                    (begin - offset) * n_vectors + column,
                    word_vectors,
                    documents.words[place] * word_size + column,
                    later * word_size + column,
                    n_vectors,
                    responsibilities.classes,
                    begin,
                    end,
                    documents.counts[place],
                    word_scale,
                    documents.words[place] * np.int64(n_classes),
                    min(NARROW, n_vectors - column),
                )
        mean[:] = 0.0
        for slot in range(begin, end):
            for column in range(n_vectors):
                mean[column] += responsibilities.values[slot] * buffer[(slot - offset) * n_vectors + column]
        for slot in range(begin, end):
            share = row_weights[row] * responsibilities.values[slot]
            target = (slot - offset) * n_vectors
            for column in range(n_vectors):
                buffer[target + column] = share * (buffer[target + column] - mean[column])


@compiled()
def spread_rows(
    documents: Documents,
    responsibilities: Responsibilities,
    buffer: FloatArray,
    word_scale: FloatArray,
    shape: tuple[int, int],
    word_out: FloatArray,
    block: int,
    number: int,
) -> None:
    """Add the rows of one block to the words of one range."""
    n_classes, n_vectors = shape
    first_document = block * documents.block_size
    offset = responsibilities.starts[first_document]
    word_size = np.int64(n_classes * n_vectors)
    last_entry = documents.entry_ranges[block, number + 1] - 1
    for entry in range(documents.entry_ranges[block, number], last_entry + 1):
        target = documents.entry_words[entry] * word_size
        ahead = documents.entry_words[min(entry + 1, last_entry)] * word_size
        for place in range(documents.entry_starts[entry], documents.entry_starts[entry + 1]):
            document = first_document + documents.posting_documents[place]
            begin, end = responsibilities.starts[document], responsibilities.starts[document + 1]
            if end - begin < 2:
                continue
            count = np.float64(documents.posting_counts[place])
            for column in range(0, n_vectors, NARROW):
                scatter_listed(
                    buffer,
                    (begin - offset) * n_vectors + column,
                    word_out,
                    target + column,
                    ahead + column,
                    n_vectors,
                    responsibilities.classes,
                    begin,
                    end,
                    count,
                    word_scale,
                    documents.entry_words[entry] * np.int64(n_classes),
                    min(NARROW, n_vectors - column),
                )


@compiled()
def sum_rows(
    documents: Documents, responsibilities: Responsibilities, buffer: FloatArray, class_out: FloatArray, block: int
) -> None:
    """Add the rows of one block to the classes."""
    n_vectors = class_out.shape[1]
    first = block * documents.block_size
    last = min(first + documents.block_size, len(documents.rows))
    offset = responsibilities.starts[first]
    for slot in range(offset, responsibilities.starts[last]):
        label = responsibilities.classes[slot]
        for column in range(n_vectors):
            class_out[label, column] += buffer[(slot - offset) * n_vectors + column]
