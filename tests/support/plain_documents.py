"""Passes over documents as anybody would write them: dense arrays, no blocks. Imports nothing from the kernels."""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import FloatArray, IntArray


class Corpus(NamedTuple):
    """Documents, evidence and parameters for one pass."""

    counts: FloatArray
    codes: IntArray
    candidate_weights: FloatArray
    row_weights: FloatArray
    log_classes: FloatArray
    word_probabilities: FloatArray


def draw_corpus(n_documents: int, n_words: int, n_classes: int, seed: int = 0, *, mean: float = 0.7) -> Corpus:
    """Documents of every kind: gold, unlabeled and ambiguous, of weight zero, and empty."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(mean, size=(n_documents, n_words)).astype(float)
    counts[2::9] = 0.0
    codes = rng.integers(-1, n_classes, size=n_documents)
    codes[rng.random(n_documents) < 0.6] = -1
    ambiguous = np.flatnonzero(rng.random(n_documents) < 0.2)
    codes[ambiguous] = -2 - np.arange(len(ambiguous))
    candidate_weights = rng.random((len(ambiguous), n_classes)) * (rng.random((len(ambiguous), n_classes)) < 0.7)
    candidate_weights[np.arange(len(ambiguous)), rng.integers(0, n_classes, len(ambiguous))] = 0.5
    row_weights = rng.random(n_documents)
    row_weights[::7] = 0.0
    return Corpus(
        counts,
        codes,
        candidate_weights,
        row_weights,
        np.log(rng.dirichlet(np.ones(n_classes))),
        rng.dirichlet(np.full(n_words, 0.5) + 0.1, size=n_classes),
    )


def plain_posterior(corpus: Corpus) -> tuple[FloatArray, FloatArray]:
    """p(y | x, evidence), (n, K), and log p(evidence, x), (n,); a document no class can have produced gets zeros."""
    n_documents, n_classes = len(corpus.counts), len(corpus.log_classes)
    posterior, log_evidence = np.zeros((n_documents, n_classes)), np.empty(n_documents)
    with np.errstate(divide="ignore"):
        log_words = np.log(corpus.word_probabilities)
    for row, (words, code) in enumerate(zip(corpus.counts, corpus.codes, strict=True)):
        present = words > 0
        log_joint = corpus.log_classes + log_words[:, present] @ words[present]
        weights = np.ones(n_classes)
        if code >= 0:
            weights = np.eye(n_classes)[code]
        elif code <= -2:
            weights = corpus.candidate_weights[-2 - code]
        log_joint[weights == 0] = -np.inf
        log_joint[weights > 0] += np.log(weights[weights > 0])
        best = log_joint.max()
        if best == -np.inf:
            log_evidence[row] = -np.inf
            continue
        shares = np.exp(log_joint - best)
        posterior[row] = shares / shares.sum()
        log_evidence[row] = best + np.log(shares.sum())
    return posterior, log_evidence


def plain_expectation(corpus: Corpus) -> tuple[FloatArray, FloatArray, float]:
    """Class weights (K,), word counts (K, V) and log-likelihood; rows of weight zero do not count at all."""
    posterior, log_evidence = plain_posterior(corpus)
    counted = corpus.row_weights > 0
    weighted = corpus.row_weights[:, None] * posterior
    return (
        weighted.sum(axis=0),
        weighted.T @ corpus.counts,
        float(corpus.row_weights[counted] @ log_evidence[counted]),
    )


def plain_missing_product(
    corpus: Corpus, posterior: FloatArray, words: FloatArray, classes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The posterior covariance of the score of every document times vectors, one document after the other."""
    n_words, n_classes, n_vectors = words.shape
    stacked = np.concatenate([words.reshape(-1, n_vectors), classes])
    total = np.zeros_like(stacked)
    for row, shares, weight in zip(corpus.counts, posterior, corpus.row_weights, strict=True):
        scores = np.zeros((n_classes, len(stacked)))
        for label in range(n_classes):
            table = np.zeros((n_words, n_classes))
            table[:, label] = row
            scores[label] = np.concatenate([table.ravel(), np.eye(n_classes)[label]])
        centered = scores - shares @ scores
        total += weight * centered.T @ (shares[:, None] * (centered @ stacked))
    return total[: n_words * n_classes].reshape(words.shape), total[n_words * n_classes :]
