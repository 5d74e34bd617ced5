import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.kernels.documents import layout as layouts
from labelworth.kernels.documents.layout import Documents, block_documents
from labelworth.kernels.documents.responsibilities import Responsibilities, find_responsibilities, keep_undecided
from support.plain_documents import Corpus, draw_corpus, plain_posterior


def find(corpus: Corpus, rows: np.ndarray | None = None) -> tuple[Documents, Responsibilities]:
    matrix = sp.csr_array(corpus.counts)
    n_classes = len(corpus.log_classes)
    layout = block_documents(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1], n_classes, rows)
    table = np.log(corpus.word_probabilities.T).copy()
    stored = find_responsibilities(layout, table, corpus.log_classes, corpus.codes, corpus.candidate_weights)
    return layout, stored


def spelled_out(stored: Responsibilities, n_classes: int) -> np.ndarray:
    shape = (len(stored.starts) - 1, n_classes)
    return sp.csr_array((stored.values, stored.classes, stored.starts), shape=shape).toarray()


@pytest.mark.parametrize("block_bytes", [1, layouts.BLOCK_BYTES])
@pytest.mark.parametrize("n_classes", [1, 2, 5, 60])
def test_responsibilities_equal_the_plain_ones(
    monkeypatch: pytest.MonkeyPatch, n_classes: int, block_bytes: int
) -> None:
    monkeypatch.setattr(layouts, "BLOCK_BYTES", block_bytes)
    corpus = draw_corpus(300, 9, n_classes)
    rows = np.flatnonzero(np.arange(300) % 3)
    _, stored = find(corpus, rows)
    expected = plain_posterior(corpus)[0][rows]
    np.testing.assert_allclose(spelled_out(stored, n_classes), expected, rtol=1e-10, atol=1e-17)


def test_classes_far_below_the_best_are_not_stored() -> None:
    corpus = draw_corpus(4, 2, 3)._replace(
        counts=np.array([[1.0, 0.0], [10.0, 0.0], [100.0, 0.0], [0.0, 0.0]]),
        codes=np.full(4, -1),
        log_classes=np.log(np.full(3, 1 / 3)),
        word_probabilities=np.array([[0.9, 0.1], [0.9, 0.1], [0.01, 0.99]]),
    )
    _, stored = find(corpus)
    assert np.diff(stored.starts).tolist() == [3, 2, 2, 3]
    assert stored.classes.tolist() == [0, 1, 2, 0, 1, 0, 1, 0, 1, 2]


def test_undecided_documents_are_those_with_two_possible_classes() -> None:
    corpus = draw_corpus(200, 9, 4)
    layout, stored = find(corpus)
    kept_layout, kept = keep_undecided(layout, stored)
    posterior, _ = plain_posterior(corpus)
    undecided = np.flatnonzero((posterior > 1e-17).sum(axis=1) > 1)
    assert 0 < len(undecided) < 200
    np.testing.assert_array_equal(kept_layout.rows, undecided)
    np.testing.assert_allclose(spelled_out(kept, 4), posterior[undecided], rtol=1e-10, atol=1e-17)


def test_no_document_is_no_difficulty() -> None:
    corpus = draw_corpus(5, 3, 2)
    layout, stored = find(corpus, np.empty(0, dtype=np.int64))
    assert stored.starts.tolist() == [0]
    kept_layout, kept = keep_undecided(layout, stored)
    assert len(kept_layout.rows) == 0
    assert kept.starts.tolist() == [0]
