import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.arrays import FloatArray
from labelworth.kernels.documents import layout as layouts
from labelworth.kernels.documents.layout import block_documents
from labelworth.kernels.documents.missing import missing_product
from labelworth.kernels.documents.responsibilities import find_responsibilities, keep_undecided
from support.plain_documents import Corpus, draw_corpus, plain_missing_product, plain_posterior


def draw_vectors(n_words: int, n_classes: int, n_vectors: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(2)
    return rng.standard_normal((n_words, n_classes, n_vectors)), rng.standard_normal((n_classes, n_vectors))


def run(
    corpus: Corpus,
    words: FloatArray,
    classes: FloatArray,
    *,
    scale: FloatArray | None = None,
    n_threads: int = 1,
    undecided_only: bool = False,
) -> tuple[FloatArray, FloatArray]:
    matrix = sp.csr_array(corpus.counts)
    layout = block_documents(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1], len(corpus.log_classes))
    table = np.log(corpus.word_probabilities.T).copy()
    stored = find_responsibilities(layout, table, corpus.log_classes, corpus.codes, corpus.candidate_weights)
    if undecided_only:
        layout, stored = keep_undecided(layout, stored)
    word_out, class_out = np.full_like(words, np.nan), np.full_like(classes, np.nan)
    missing_product(layout, stored, corpus.row_weights, words, classes, word_out, class_out, scale, n_threads)
    return word_out, class_out


@pytest.mark.parametrize("undecided_only", [False, True])
@pytest.mark.parametrize(
    ("n_words", "n_classes", "n_vectors"),
    [(1, 2, 1), (13, 5, 3), (9, 1, 2), (7, 6, 10), (4, 3, 14), (3, 2, 16), (3, 4, 17), (2, 3, 35), (5, 40, 7)],
)
def test_product_equals_its_definition(n_words: int, n_classes: int, n_vectors: int, undecided_only: bool) -> None:
    corpus = draw_corpus(31, n_words, n_classes)
    words, classes = draw_vectors(n_words, n_classes, n_vectors)
    ours = run(corpus, words, classes, undecided_only=undecided_only)
    posterior, _ = plain_posterior(corpus)
    plain = plain_missing_product(corpus, posterior, words, classes)
    for product, expected in zip(ours, plain, strict=True):
        np.testing.assert_allclose(product, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max(initial=1e-300))


@pytest.mark.parametrize("block_bytes", [1, layouts.BLOCK_BYTES])
def test_one_thread_and_many_give_the_same_bits(monkeypatch: pytest.MonkeyPatch, block_bytes: int) -> None:
    monkeypatch.setattr(layouts, "BLOCK_BYTES", block_bytes)
    corpus = draw_corpus(1100, 6, 4)
    words, classes = draw_vectors(6, 4, 3)
    alone = run(corpus, words, classes)
    for n_threads in (2, 5):
        for one, many in zip(alone, run(corpus, words, classes, n_threads=n_threads), strict=True):
            np.testing.assert_array_equal(one, many)


def test_many_blocks_give_the_product_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = draw_corpus(1100, 6, 4)
    words, classes = draw_vectors(6, 4, 3)
    whole = run(corpus, words, classes)
    monkeypatch.setattr(layouts, "BLOCK_BYTES", 1)
    for one, other in zip(whole, run(corpus, words, classes), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_known_classes_leave_nothing_missing() -> None:
    corpus = draw_corpus(20, 5, 3)
    corpus = corpus._replace(codes=np.arange(20) % 3)
    for undecided_only in (False, True):
        word_out, class_out = run(corpus, *draw_vectors(5, 3, 4), undecided_only=undecided_only)
        assert not word_out.any()
        assert not class_out.any()


def test_product_is_symmetric_and_positive() -> None:
    corpus = draw_corpus(60, 5, 3)
    words, classes = draw_vectors(5, 3, 6)
    word_out, class_out = run(corpus, words, classes)
    stacked = np.concatenate([words.reshape(-1, 6), classes])
    form = stacked.T @ np.concatenate([word_out.reshape(-1, 6), class_out])
    np.testing.assert_allclose(form, form.T, rtol=1e-10, atol=1e-10)
    assert np.linalg.eigvalsh(form).min() > 0


def test_scale_acts_before_and_after() -> None:
    corpus = draw_corpus(40, 6, 3)
    words, classes = draw_vectors(6, 3, 5)
    scale = np.random.default_rng(3).random((6, 3))
    word_out, class_out = run(corpus, words, classes, scale=scale)
    expected_words, expected_classes = run(corpus, scale[:, :, None] * words, classes)
    np.testing.assert_allclose(word_out, scale[:, :, None] * expected_words, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(class_out, expected_classes, rtol=1e-10, atol=1e-12)
