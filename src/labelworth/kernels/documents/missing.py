"""The missing-information product: what hidden labels take away, applied to vectors without forming a matrix."""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.documents.layout import N_RANGES, PIECE, Documents
from labelworth.kernels.documents.responsibilities import Responsibilities
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.threads import (
    BUFFERS,
    FINISHED,
    ROWS,
    draw,
    finish,
    n_threads_for,
    new_counters,
    run_schedule,
)
from labelworth.kernels.rows.row_sums import NARROW, gather_listed, scatter_listed

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
    class_out[...] = 0.0
    product = Product(
        row_weights,
        word_scale.reshape(-1),
        word_vectors.reshape(-1),
        class_vectors,
        buffers,
        word_out.reshape(-1),
        class_out,
    )
    n_threads = n_threads_for(word_vectors.size) if n_threads is None else n_threads
    arguments = (documents, responsibilities, product, new_counters(n_blocks))
    run_schedule(work_on_product, arguments, N_RANGES + 1, n_threads)


class Product(NamedTuple):
    """What a product reads and writes: the arguments of `missing_product`, those of words flat, and room."""

    row_weights: FloatArray
    word_scale: FloatArray
    word_vectors: FloatArray
    class_vectors: FloatArray
    buffers: FloatArray
    word_out: FloatArray
    class_out: FloatArray


@compiled()
def work_on_product(
    documents: Documents, responsibilities: Responsibilities, product: Product, counters: IntArray
) -> None:
    """What one thread does: rows and postings, until all blocks are done; the classes come after the last range."""
    n_blocks, n_row_pieces = len(documents.entry_ranges), documents.block_size // PIECE
    word_size = product.class_vectors.size
    while True:
        kind, block, number = draw(counters, n_blocks, 0, n_row_pieces, N_RANGES + 1)
        if kind == FINISHED:
            return
        if kind == ROWS:
            center_rows(documents, responsibilities, product, block, number)
        elif number < N_RANGES:
            if block == 0:
                first, last = documents.range_words[number], documents.range_words[number + 1]
                product.word_out[first * word_size : last * word_size] = 0.0
            spread_rows(documents, responsibilities, product, block, number)
        else:
            sum_rows(documents, responsibilities, product, block)
        finish(counters, kind, block)


@compiled()
def center_rows(
    documents: Documents, responsibilities: Responsibilities, product: Product, block: int, number: int
) -> None:
    """Write the weighted M of every document of one piece into the buffer, a row of b numbers per stored class."""
    n_vectors = product.class_vectors.shape[1]
    buffer = product.buffers[block % BUFFERS]
    offset = responsibilities.starts[block * documents.block_size]
    first = block * documents.block_size + number * PIECE
    mean = np.empty(n_vectors)
    for document in range(first, min(first + PIECE, len(documents.rows))):
        begin, end = responsibilities.starts[document], responsibilities.starts[document + 1]
        if end - begin < 2:
            # A posterior that knows the class leaves nothing open.
            buffer[(begin - offset) * n_vectors : (end - offset) * n_vectors] = 0.0
            continue
        row = documents.rows[document]
        gather_row(documents, responsibilities, product, row, begin, end, buffer, (begin - offset) * n_vectors)
        mean[:] = 0.0
        for slot in range(begin, end):
            for column in range(n_vectors):
                mean[column] += responsibilities.values[slot] * buffer[(slot - offset) * n_vectors + column]
        for slot in range(begin, end):
            share = product.row_weights[row] * responsibilities.values[slot]
            target = (slot - offset) * n_vectors
            for column in range(n_vectors):
                buffer[target + column] = share * (buffer[target + column] - mean[column])


@compiled()
def gather_row(
    documents: Documents,
    responsibilities: Responsibilities,
    product: Product,
    row: int,
    begin: int,
    end: int,
    buffer: FloatArray,
    target: int,
) -> None:
    """Write C of one document into the buffer, for its stored classes `begin` to `end`."""
    n_classes, n_vectors = product.class_vectors.shape
    word_size = np.int64(n_classes * n_vectors)
    for slot in range(begin, end):
        label = responsibilities.classes[slot]
        for column in range(n_vectors):
            buffer[target + (slot - begin) * n_vectors + column] = product.class_vectors[label, column]
    last = documents.starts[row + 1] - 1
    for position in range(documents.starts[row], last + 1):
        word, later = documents.words[position], documents.words[min(position + _WORDS_AHEAD, last)]
        for column in range(0, n_vectors, NARROW):
            gather_listed(
                buffer,
                target + column,
                product.word_vectors,
                word * word_size + column,
                later * word_size + column,
                n_vectors,
                responsibilities.classes,
                begin,
                end,
                documents.counts[position],
                product.word_scale,
                word * np.int64(n_classes),
                min(NARROW, n_vectors - column),
            )


@compiled()
def spread_rows(
    documents: Documents, responsibilities: Responsibilities, product: Product, block: int, number: int
) -> None:
    """Add the rows of one block to the words of one range."""
    n_classes, n_vectors = product.class_vectors.shape
    word_size = np.int64(n_classes * n_vectors)
    buffer = product.buffers[block % BUFFERS]
    first_document = block * documents.block_size
    offset = responsibilities.starts[first_document]
    last = documents.entry_ranges[block, number + 1] - 1
    for entry in range(documents.entry_ranges[block, number], last + 1):
        word, later = documents.entry_words[entry], documents.entry_words[min(entry + 1, last)]
        for position in range(documents.entry_starts[entry], documents.entry_starts[entry + 1]):
            document = first_document + documents.posting_documents[position]
            begin, end = responsibilities.starts[document], responsibilities.starts[document + 1]
            if end - begin < 2:
                continue
            for column in range(0, n_vectors, NARROW):
                scatter_listed(
                    buffer,
                    (begin - offset) * n_vectors + column,
                    product.word_out,
                    word * word_size + column,
                    later * word_size + column,
                    n_vectors,
                    responsibilities.classes,
                    begin,
                    end,
                    np.float64(documents.posting_counts[position]),
                    product.word_scale,
                    word * np.int64(n_classes),
                    min(NARROW, n_vectors - column),
                )


@compiled()
def sum_rows(documents: Documents, responsibilities: Responsibilities, product: Product, block: int) -> None:
    """Add the rows of one block to the classes."""
    n_vectors = product.class_out.shape[1]
    buffer = product.buffers[block % BUFFERS]
    first = block * documents.block_size
    last = min(first + documents.block_size, len(documents.rows))
    offset = responsibilities.starts[first]
    for slot in range(offset, responsibilities.starts[last]):
        label = responsibilities.classes[slot]
        for column in range(n_vectors):
            product.class_out[label, column] += buffer[(slot - offset) * n_vectors + column]
