import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.arrays import FloatArray
from labelworth.kernels.documents import block_documents
from labelworth.kernels.missing import missing_product
from labelworth.kernels.responsibilities import find_responsibilities


def plain_product(
    counts: FloatArray, posterior: FloatArray, weights: FloatArray, words: FloatArray, classes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The product by its definition: the posterior covariance of the score of every document, one after the other."""
    n_words, n_classes, n_vectors = words.shape
    stacked = np.concatenate([words.reshape(-1, n_vectors), classes])
    total = np.zeros_like(stacked)
    for row, posterior_row, weight in zip(counts, posterior, weights, strict=True):
        scores = np.zeros((n_classes, len(stacked)))
        for label in range(n_classes):
            table = np.zeros((n_words, n_classes))
            table[:, label] = row
            scores[label] = np.concatenate([table.ravel(), np.eye(n_classes)[label]])
        centered = scores - posterior_row @ scores
        total += weight * centered.T @ (posterior_row[:, None] * (centered @ stacked))
    return total[: n_words * n_classes].reshape(words.shape), total[n_words * n_classes :]


@pytest.mark.parametrize(("n_words", "n_classes", "n_vectors"), [(1, 2, 1), (13, 5, 3), (9, 1, 2), (7, 6, 10)])
def test_missing_product_equals_its_definition(n_words: int, n_classes: int, n_vectors: int) -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, size=(31, n_words)).astype(float)
    log_words = np.log(rng.dirichlet(np.ones(n_words), n_classes)).T.copy()
    log_classes = np.log(rng.dirichlet(np.ones(n_classes)))
    joint = counts @ log_words + log_classes
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    words = rng.standard_normal((n_words, n_classes, n_vectors))
    classes = rng.standard_normal((n_classes, n_vectors))
    weights = rng.random(31)
    weights[3] = 0.0

    matrix = sp.csr_array(counts)
    documents = block_documents(matrix.indptr, matrix.indices, matrix.data, n_words, n_classes)
    codes = np.full(31, -1)
    responsibilities = find_responsibilities(documents, log_words, log_classes, codes, np.empty((0, n_classes)))
    word_out, class_out = np.full_like(words, np.nan), np.full_like(classes, np.nan)
    missing_product(documents, responsibilities, weights, words, classes, word_out, class_out)

    expected_words, expected_classes = plain_product(counts, posterior, weights, words, classes)
    np.testing.assert_allclose(word_out, expected_words, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(class_out, expected_classes, rtol=1e-10, atol=1e-12)
