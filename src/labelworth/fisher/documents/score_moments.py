"""Moments of the scores over given samples: what is lost with the label, and what is left."""

from collections.abc import Iterator

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.samples import Samples
from labelworth.models.protocol import Model

_SCORES_PER_CHUNK = 4_000_000
"""How many numbers a block of scores may hold (32 MB)."""


def chunks(model: Model, n_samples: int) -> Iterator[IntArray]:
    """Cut samples into runs whose scores (n, K, d) fit comfortably in memory."""
    size = max(1, _SCORES_PER_CHUNK // (len(model.classes) * model.coordinates.n_free))
    for start in range(0, n_samples, size):
        yield np.arange(start, min(start + size, n_samples))


def marginal_scores(scores: FloatArray, responsibilities: FloatArray) -> FloatArray:
    """E[S | x], the score of p(x) by Fisher's identity, shape (n, d)."""
    averaged: FloatArray = np.matmul(responsibilities[:, None, :], scores)[:, 0, :]
    return averaged


def score_spread(
    scores: FloatArray, responsibilities: FloatArray, means: FloatArray, weights: FloatArray
) -> FloatArray:
    r"""The sum of weighted conditional variances of the score, shape (d, d).

    .. math:: \sum_i w_i \sum_k r_{ik} (s_{ik} - \bar s_i)(s_{ik} - \bar s_i)'
    """
    rows = scores - means[:, None, :]
    rows *= np.sqrt(weights[:, None] * responsibilities)[:, :, None]
    rows = rows.reshape(-1, rows.shape[2])
    spread: FloatArray = rows.T @ rows
    return spread


def summed_spread(model: Model, samples: Samples, responsibilities: FloatArray, weights: FloatArray) -> FloatArray:
    """`score_spread` over all samples, in chunks."""
    d = model.coordinates.n_free
    total = np.zeros((d, d))
    for part in chunks(model, samples.n_samples):
        scores = model.class_scores(samples.take(part))
        means = marginal_scores(scores, responsibilities[part])
        total += score_spread(scores, responsibilities[part], means, weights[part])
    return total
