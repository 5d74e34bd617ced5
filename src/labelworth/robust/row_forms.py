"""Quadratic forms of the class scores, row by row, holding all scores at once only where they are few."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.samples import Samples
from labelworth.models.protocol import Model


@dataclass(frozen=True, eq=False)
class RowForms:
    """The (K, d) class scores s_i of every row of a population, at one theta, a chunk of rows at a time."""

    model: Model
    population: Samples
    chunk_bytes: int = 32 * 2**20  # Of the scores of a chunk.
    kept_bytes: int = 256 * 2**20  # Up to so many, all scores are kept from one form to the next.

    def chunks(self) -> Iterator[tuple[IntArray, FloatArray]]:
        """Rows and their class scores, (rows, K, d)."""
        if self._row_bytes * self.population.n_samples <= self.kept_bytes:
            yield from self._kept
        else:
            yield from self._computed()

    @property
    def _row_bytes(self) -> int:
        return 8 * self.model.coordinates.n_free * len(self.model.classes)

    @cached_property
    def _kept(self) -> list[tuple[IntArray, FloatArray]]:
        return list(self._computed())

    def _computed(self) -> Iterator[tuple[IntArray, FloatArray]]:
        n_rows = max(1, self.chunk_bytes // self._row_bytes)
        for first in range(0, self.population.n_samples, n_rows):
            rows = np.arange(first, min(first + n_rows, self.population.n_samples))
            yield rows, self.model.class_scores(self.population.take(rows))

    def mean(self, weights: FloatArray) -> FloatArray:
        """sum_i s_i' w_i for weights (n, K), shape (d,)."""
        total = np.zeros(self.model.coordinates.n_free)
        for rows, scores in self.chunks():
            total += np.tensordot(weights[rows], scores, axes=2)
        return total

    def contracted(self, weights: FloatArray) -> FloatArray:
        """s_i' w_i for every row, weights (n, K), shape (n, d)."""
        parts = [np.einsum("nk,nkd->nd", weights[rows], scores) for rows, scores in self.chunks()]
        return np.concatenate(parts)

    def total(self, weights: FloatArray) -> FloatArray:
        """sum_i s_i' W_i s_i for symmetric W (n, K, K), shape (d, d)."""
        d = self.model.coordinates.n_free
        total = np.zeros((d, d))
        for rows, scores in self.chunks():
            weighted = np.matmul(weights[rows], scores)
            total += weighted.reshape(-1, d).T @ scores.reshape(-1, d)
        return (total + total.T) / 2

    def each(self, matrix: FloatArray) -> FloatArray:
        """s_i M s_i' for every row, shape (n, K, K)."""
        n_classes = len(self.model.classes)
        forms = np.empty((self.population.n_samples, n_classes, n_classes))
        for rows, scores in self.chunks():
            # One product of matrices, not one per row.
            images = (scores.reshape(-1, len(matrix)) @ matrix).reshape(scores.shape)
            forms[rows] = np.matmul(images, scores.transpose(0, 2, 1))
        return forms


def class_covariances(posterior: FloatArray) -> FloatArray:
    """diag(p) - p p' of every row of p(y | x), shape (n, K, K)."""
    return np.asarray(posterior[:, :, None] * (np.eye(posterior.shape[1]) - posterior[:, None, :]))
