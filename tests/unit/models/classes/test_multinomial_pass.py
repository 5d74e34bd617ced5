"""The E-step over sparse counts against sums written out, and the same bits for any number of workers."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.models.classes.multinomial import MultinomialModel, MultinomialPass
from labelworth.models.protocol import Expectation
from support.oracles import dense_evidence


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def draw(
    rng: np.random.Generator, n_documents: int, n_words: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    counts = rng.poisson(0.7, size=(n_documents, n_words)).astype(float)
    codes = rng.integers(-1, 3, size=n_documents)
    codes[:4] = [-2, -3, -4, -5]
    weights = np.array([[1.0, 1, 0], [0, 0.3, 2.0], [1, 0, 0], [0.1, 0.1, 0.1]])
    return counts, codes, weights, rng.uniform(0.1, 3.0, size=n_documents)


def expected(
    counts: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    row_weights: np.ndarray,
    priors: np.ndarray,
    words: np.ndarray,
    n_threads: int | None = None,
) -> Expectation:
    classes = tuple("abc"[: len(priors)])
    evidence = Evidence(codes, classes, weights)
    model = MultinomialModel(classes, priors, words, LengthDistribution.single(3))
    return MultinomialPass(sp.csr_array(counts), evidence, row_weights, n_threads).expectation(model)


def test_expected_counts_equal_dense_sums(rng: np.random.Generator) -> None:
    counts, codes, weights, row_weights = draw(rng, 30, 6)
    priors, words = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(6), size=3)
    joint = priors * np.prod(words[None] ** counts[:, None, :], axis=2) * dense_evidence(codes, 3, weights)
    posterior = row_weights[:, None] * joint / joint.sum(axis=1, keepdims=True)
    result = expected(counts, codes, weights, row_weights, priors, words)
    np.testing.assert_allclose(result.statistics["class_weights"], posterior.sum(axis=0), rtol=1e-11)
    np.testing.assert_allclose(result.statistics["word_counts"], posterior.T @ counts, rtol=1e-11)
    np.testing.assert_allclose(result.log_likelihood, row_weights @ np.log(joint.sum(axis=1)), rtol=1e-11)


def test_zero_probabilities_are_exact(rng: np.random.Generator) -> None:
    counts = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    words = np.array([[1.0, 0.0], [0.5, 0.5]])
    result = expected(counts, np.full(3, -1), np.empty((0, 2)), np.ones(3), [0.5, 0.5], words)
    np.testing.assert_allclose(result.statistics["word_counts"], [[2 / 3, 0.0], [4 / 3, 3.0]], rtol=1e-13)
    np.testing.assert_allclose(result.log_likelihood, np.log(0.75) + 2 * np.log(0.125), rtol=1e-13)


def test_an_impossible_document_makes_the_likelihood_zero() -> None:
    words = np.array([[1.0, 0.0], [1.0, 0.0]])
    counts = np.array([[0.0, 1.0], [1.0, 0.0]])
    result = expected(counts, np.full(2, -1), np.empty((0, 2)), np.ones(2), [0.5, 0.5], words)
    assert np.isneginf(result.log_likelihood)
    assert np.isfinite(result.statistics["word_counts"]).all()


def test_the_number_of_workers_changes_no_bit(rng: np.random.Generator) -> None:
    counts, codes, weights, row_weights = draw(rng, 3000, 100)
    priors, words = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(100), size=3)
    results = [expected(counts, codes, weights, row_weights, priors, words, n_threads) for n_threads in (1, 2)]
    for other in results[1:]:
        np.testing.assert_array_equal(other.statistics["word_counts"], results[0].statistics["word_counts"])
        assert other.log_likelihood == results[0].log_likelihood
