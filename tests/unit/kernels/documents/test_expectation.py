import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.arrays import FloatArray
from labelworth.kernels.documents import layout as layouts
from labelworth.kernels.documents.expectation import expectation, make_workspace
from labelworth.kernels.documents.layout import Evidence, block_documents, sum_known
from support.plain_documents import Corpus, draw_corpus, plain_expectation

Sums = tuple[FloatArray, FloatArray, float]


def run(corpus: Corpus, *, seen_apart: bool = False, n_threads: int = 1) -> Sums:
    """One pass; with `seen_apart` the gold rows are summed beforehand, otherwise they take part like all others."""
    matrix = sp.csr_array(corpus.counts)
    n_classes = len(corpus.log_classes)
    counted = corpus.row_weights > 0
    gold = np.flatnonzero(counted & (corpus.codes >= 0)) if seen_apart else np.empty(0, dtype=np.int64)
    rows = np.flatnonzero(counted & (corpus.codes < 0)) if seen_apart else None
    layout = block_documents(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1], n_classes, rows)
    evidence = Evidence(corpus.codes, corpus.candidate_weights, corpus.row_weights)
    known = sum_known(layout, evidence, gold, n_classes)
    workspace = make_workspace(layout, n_classes)
    return expectation(layout, workspace, evidence, known, corpus.log_classes, corpus.word_probabilities, n_threads)


def assert_same(ours: Sums, plain: Sums) -> None:
    np.testing.assert_allclose(ours[0], plain[0], rtol=1e-10)
    np.testing.assert_allclose(ours[1], plain[1], rtol=1e-10)
    np.testing.assert_allclose(ours[2], plain[2], rtol=1e-10)


@pytest.mark.parametrize("seen_apart", [False, True])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 8, 13, 20, 49, 50, 52, 53, 60, 70, 107])
def test_pass_equals_the_plain_one_for_any_number_of_classes(n_classes: int, seen_apart: bool) -> None:
    corpus = draw_corpus(40, 11, n_classes)
    assert_same(run(corpus, seen_apart=seen_apart), plain_expectation(corpus))


@pytest.mark.parametrize("n_words", [1, 2, 31, 100])
def test_pass_equals_the_plain_one_for_any_number_of_words(n_words: int) -> None:
    corpus = draw_corpus(150, n_words, 3)
    assert_same(run(corpus), plain_expectation(corpus))


@pytest.mark.parametrize("seen_apart", [False, True])
def test_pass_over_many_blocks_equals_the_plain_one(monkeypatch: pytest.MonkeyPatch, seen_apart: bool) -> None:
    monkeypatch.setattr(layouts, "BLOCK_BYTES", 1)
    corpus = draw_corpus(1000, 7, 3)
    assert_same(run(corpus, seen_apart=seen_apart), plain_expectation(corpus))


@pytest.mark.parametrize("block_bytes", [1, layouts.BLOCK_BYTES])
def test_one_thread_and_many_give_the_same_bits(monkeypatch: pytest.MonkeyPatch, block_bytes: int) -> None:
    monkeypatch.setattr(layouts, "BLOCK_BYTES", block_bytes)
    corpus = draw_corpus(1500, 9, 5)
    alone = run(corpus, seen_apart=True)
    for n_threads in (2, 5):
        together = run(corpus, seen_apart=True, n_threads=n_threads)
        for one, many in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, many)


def test_fractional_and_huge_counts_are_kept_exactly() -> None:
    corpus = draw_corpus(60, 8, 3)
    scale = np.random.default_rng(1).random((60, 1)) * np.where(np.arange(60) % 5 == 0, 1e12, 1.0)[:, None]
    corpus = corpus._replace(counts=corpus.counts * scale)
    assert_same(run(corpus), plain_expectation(corpus))


def test_words_that_a_class_never_uses_rule_it_out() -> None:
    corpus = draw_corpus(200, 12, 5, mean=0.2)
    word_probabilities = corpus.word_probabilities.copy()
    for label in range(4):
        word_probabilities[label, 3 * label : 3 * label + 2] = 0.0
    corpus = corpus._replace(word_probabilities=word_probabilities, codes=np.full(200, -1))
    plain = plain_expectation(corpus)
    assert np.isfinite(plain[2])
    assert (plain[1] == 0).any()
    assert_same(run(corpus), plain)


def test_class_of_probability_zero_gets_nothing() -> None:
    corpus = draw_corpus(30, 6, 3)
    corpus = corpus._replace(log_classes=np.array([np.log(0.25), np.log(0.75), -np.inf]), codes=np.full(30, -1))
    class_weights, word_counts, log_likelihood = run(corpus)
    assert class_weights[2] == 0
    assert not word_counts[2].any()
    assert np.isfinite(log_likelihood)


@pytest.mark.parametrize("seen_apart", [False, True])
def test_impossible_document_counts_nowhere_and_makes_the_likelihood_zero(seen_apart: bool) -> None:
    corpus = draw_corpus(30, 6, 3)
    word_probabilities = corpus.word_probabilities.copy()
    word_probabilities[:, 2] = 0.0
    codes, counts, row_weights = corpus.codes.copy(), np.minimum(corpus.counts, [9, 9, 0, 9, 9, 9]), np.ones(30)
    codes[5], counts[5, 2] = -1, 1.0
    corpus = corpus._replace(
        word_probabilities=word_probabilities, counts=counts, codes=codes, row_weights=row_weights
    )
    ours, without = run(corpus, seen_apart=seen_apart), row_weights.copy()
    without[5] = 0.0
    assert ours[2] == -np.inf
    plain = plain_expectation(corpus._replace(row_weights=without))
    np.testing.assert_allclose(ours[0], plain[0], rtol=1e-10)
    np.testing.assert_allclose(ours[1], plain[1], rtol=1e-10)


def test_impossible_document_of_weight_zero_does_no_harm() -> None:
    corpus = draw_corpus(30, 6, 3)
    word_probabilities = corpus.word_probabilities.copy()
    word_probabilities[:, 2] = 0.0
    row_weights = np.where(corpus.counts[:, 2] > 0, 0.0, 1.0)
    corpus = corpus._replace(word_probabilities=word_probabilities, row_weights=row_weights)
    assert_same(run(corpus), plain_expectation(corpus))


def test_stored_zeros_do_not_meet_minus_infinity() -> None:
    corpus = draw_corpus(20, 5, 2)
    word_probabilities = corpus.word_probabilities.copy()
    word_probabilities[0, 1] = 0.0
    corpus = corpus._replace(word_probabilities=word_probabilities, codes=np.full(20, -1), row_weights=np.ones(20))
    starts, words = np.arange(21) * 5, np.tile(np.arange(5), 20)
    layout = block_documents(starts, words, corpus.counts.ravel(), 5, 2)
    evidence = Evidence(corpus.codes, corpus.candidate_weights, corpus.row_weights)
    known = sum_known(layout, evidence, np.empty(0, dtype=np.int64), 2)
    ours = expectation(
        layout, make_workspace(layout, 2), evidence, known, corpus.log_classes, corpus.word_probabilities
    )
    assert_same(ours, plain_expectation(corpus))


@pytest.mark.parametrize("code", [0, -1])
def test_documents_of_one_kind_alone(code: int) -> None:
    corpus = draw_corpus(25, 6, 2)
    corpus = corpus._replace(codes=np.full(25, code))
    assert_same(run(corpus, seen_apart=True), plain_expectation(corpus))


def test_pass_can_be_repeated_in_the_same_workspace() -> None:
    corpus, other = draw_corpus(50, 9, 4), draw_corpus(50, 9, 4, seed=1)
    matrix = sp.csr_array(corpus.counts)
    layout = block_documents(matrix.indptr, matrix.indices, matrix.data, 9, 4)
    evidence = Evidence(corpus.codes, corpus.candidate_weights, corpus.row_weights)
    known, workspace = sum_known(layout, evidence, np.empty(0, dtype=np.int64), 4), make_workspace(layout, 4)
    expectation(layout, workspace, evidence, known, other.log_classes, other.word_probabilities)
    again = expectation(layout, workspace, evidence, known, corpus.log_classes, corpus.word_probabilities)
    assert_same(again, plain_expectation(corpus))
