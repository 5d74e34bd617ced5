"""Coordinates in which a fully labeled sequence of a hidden Markov model carries the identity."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.lengths import LengthDistribution
from labelworth.fisher.sequences.position_shares import PositionCounts, row_shares
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.models.chains.words import ChainCounts
from labelworth.policies.policy import Policy


@dataclass(frozen=True, eq=False)
class Whitening:
    r"""One coordinate per named probability, :math:`u_{rw} = \sqrt{N_r / \theta_{rw}}\, d\theta_{rw}`.

    :math:`N_r` is how often row r is drawn from in a sequence. Rows that sum to one make u orthogonal to
    :math:`\sqrt{\theta_r}` within every row. On that tangent space I_everything is the identity, and the score of
    counts c is the projection of :math:`c_{rw} / \sqrt{N_r \theta_{rw}}`.
    """

    model: HiddenMarkovModel
    lengths: LengthDistribution

    @cached_property
    def _row_counts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """N_r of the start, of every transition row and of every emission row."""
        visits, departures = self.model.expected_visits(self.lengths)
        return np.ones(1), departures, visits

    @cached_property
    def probabilities(self) -> FloatArray:
        """All named probabilities behind each other, (n_named,)."""
        return np.concatenate([self.model.start, self.model.transition.ravel(), self.model.emission.ravel()])

    @cached_property
    def counts(self) -> FloatArray:
        """N_r theta_rw, how often every entry is used, (n_named,)."""
        start, departures, visits = self._row_counts
        tables = (
            self.model.start,
            departures[:, None] * self.model.transition,
            visits[:, None] * self.model.emission,
        )
        return np.concatenate([start[0] * tables[0], tables[1].ravel(), tables[2].ravel()])

    @cached_property
    def roots(self) -> FloatArray:
        return np.sqrt(self.counts)

    @cached_property
    def named_scale(self) -> FloatArray:
        """d theta / du = sqrt(theta_rw / N_r)."""
        return self.probabilities / self.roots

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return len(self.probabilities)

    @property
    def n_rows(self) -> int:
        """How many rows of probabilities there are: so many directions are no change at all."""
        return 1 + 2 * self.model.n_classes

    @property
    def n_parameters(self) -> int:
        """The dimension of the tangent space, d."""
        return self.size - self.n_rows

    def log_determinant(self) -> float:
        """log det I_everything in free coordinates: every row gives (V - 1) log N_r - sum_w log theta_rw."""
        start, departures, visits = self._row_counts
        n_labels, n_words = self.model.emission.shape
        repeated = (n_labels - 1) * (np.log(start).sum() + np.log(departures).sum())
        repeated += (n_words - 1) * np.log(visits).sum()
        return float(repeated - np.log(self.probabilities).sum())

    def project(self, block: FloatArray) -> FloatArray:
        """Onto the tangent space, (n_named, b)."""
        result = np.empty_like(block)
        for rows, start, stop in self._tables():
            roots = np.sqrt(self.probabilities[start:stop]).reshape(rows, -1, 1)
            part = block[start:stop].reshape(rows, roots.shape[1], -1)
            result[start:stop] = (part - roots * (roots * part).sum(axis=1, keepdims=True)).reshape(stop - start, -1)
        return result

    @cached_property
    def row_roots(self) -> FloatArray:
        """sqrt(theta_r) of every row r as a column: an orthonormal basis of what is no change, (n_named, n_rows)."""
        result, column = np.zeros((self.size, self.n_rows)), 0
        for rows, start, stop in self._tables():
            width = (stop - start) // rows
            for first in range(start, stop, width):
                result[first : first + width, column] = np.sqrt(self.probabilities[first : first + width])
                column += 1
        return result

    def project_matrix(self, matrix: FloatArray) -> None:
        """P A P for a symmetric matrix A, (n_named, n_named), in its place."""
        roots = self.row_roots
        across = matrix @ roots
        # A - across roots' - roots across' + roots (roots' across) roots', in one product.
        half = across - roots @ (roots.T @ across) / 2
        matrix -= np.hstack([half, roots]) @ np.hstack([roots, half]).T

    def vectors(self, block: FloatArray) -> ChainCounts:
        """Numbers beside counts whose product with the counts is that of the score with `block`."""
        scaled = block / self.roots[:, None]
        n_labels, n_words = self.model.emission.shape
        first = n_labels + n_labels**2
        return ChainCounts(
            scaled[:n_labels],
            scaled[n_labels:first].reshape(n_labels, n_labels, -1),
            scaled[first:].reshape(n_labels, n_words, -1),
        )

    def scores(self, sums: ChainCounts) -> FloatArray:
        """Sums of counts (.., b) as sums of scores, (n_named, b)."""
        n_vectors = sums.start.shape[-1]
        stacked = np.concatenate([np.asarray(table).reshape(-1, n_vectors) for table in sums])
        return self.project(stacked / self.roots[:, None])

    def _tables(self) -> list[tuple[int, int, int]]:
        """How many rows every table has, and where it lies."""
        n_labels, n_words = self.model.emission.shape
        first, second = n_labels, n_labels + n_labels**2
        return [(1, 0, first), (n_labels, first, second), (n_labels, second, second + n_labels * n_words)]


def labeled_shares(whitening: Whitening, policy: Policy) -> FloatArray:
    """The share of the uses of every entry that a policy's labels show, (n_named,), without any draw."""
    model, lengths = whitening.model, whitening.lengths
    shares = row_shares(model, PositionCounts.of_policy(lengths, policy), PositionCounts.of_lengths(lengths))
    return np.concatenate(
        [
            np.full(model.n_classes, shares.start),
            np.repeat(shares.transition, model.n_classes),
            np.repeat(shares.emission, model.n_features),
        ]
    )
