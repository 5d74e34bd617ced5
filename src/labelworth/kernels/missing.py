"""The missing-information product: what hidden labels take away, applied to vectors without forming a matrix."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.kernels.compilation import compiled
from labelworth.kernels.documents import Documents
from labelworth.kernels.responsibilities import Responsibilities


def missing_product(
    documents: Documents,
    responsibilities: Responsibilities,
    row_weights: FloatArray,
    word_vectors: FloatArray,
    class_vectors: FloatArray,
    word_out: FloatArray,
    class_out: FloatArray,
) -> None:
    r"""Multiply vectors by the variance of the complete-data score given the document, summed over documents.

    The score of document :math:`x` with class :math:`k` has the entries :math:`x_w` at :math:`(w, k)` and 1 at
    :math:`k`. With :math:`C_{dk} = a_k + \sum_w x_{dw} v_{wk}` and responsibilities :math:`r_{dk}`,

    .. math::

        M_{dk} = r_{dk} \bigl(C_{dk} - \sum_j r_{dj} C_{dj}\bigr), \qquad
        \text{word\_out}_{wk} = \sum_d \omega_d x_{dw} M_{dk}, \qquad
        \text{class\_out}_k = \sum_d \omega_d M_{dk}

    for a block of b vectors at once. A caller with another scale of coordinates scales before and after.

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
    """
    word_out[...] = 0.0
    class_out[...] = 0.0
    add_missing_product(documents, responsibilities, row_weights, word_vectors, class_vectors, word_out, class_out)


@compiled()
def add_missing_product(
    documents: Documents,
    responsibilities: Responsibilities,
    row_weights: FloatArray,
    word_vectors: FloatArray,
    class_vectors: FloatArray,
    word_out: FloatArray,
    class_out: FloatArray,
) -> None:
    """Add the product, document by document."""
    n_vectors = class_vectors.shape[1]
    for document in range(len(documents.rows)):
        row = documents.rows[document]
        begin, end = responsibilities.starts[document], responsibilities.starts[document + 1]
        # A posterior that knows the class leaves nothing open.
        if end - begin < 2 or row_weights[row] == 0.0:
            continue
        product = np.empty((end - begin, n_vectors))
        mean = np.zeros(n_vectors)
        for slot in range(begin, end):
            label = responsibilities.classes[slot]
            total = class_vectors[label].copy()
            for place in range(documents.starts[row], documents.starts[row + 1]):
                total += documents.counts[place] * word_vectors[documents.words[place], label]
            product[slot - begin] = total
            mean += responsibilities.values[slot] * total
        for slot in range(begin, end):
            label = responsibilities.classes[slot]
            share = row_weights[row] * responsibilities.values[slot] * (product[slot - begin] - mean)
            class_out[label] += share
            for place in range(documents.starts[row], documents.starts[row + 1]):
                word_out[documents.words[place], label] += documents.counts[place] * share
