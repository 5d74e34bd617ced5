"""Answers laid out for many passes: how probable each is for every class, and expected counts of who meant what."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.answers import Answers


class Votes:
    """Answers that say something, row by row.

    `channels` (n_annotators,) is the table of each annotator; several may share one. With a `weight` other than 1 the
    probability of an answer counts as that power of itself.
    """

    def __init__(self, answers: Answers, channels: IntArray, n_channels: int, weight: float = 1.0) -> None:
        self.weight = weight
        telling = np.flatnonzero(answers.is_telling)
        self._answers = answers.at_entries(telling[np.argsort(answers.rows[telling], kind="stable")])
        self.n_channels, self._n_classes = n_channels, self._answers.evidence.n_classes
        self.channel = channels[self._answers.annotators]  # (m,): The table of every answer.
        # (n_rows,): The samples or tokens that have answers, ascending; and the row of every answer among them.
        self.positions, self._first, self.row = np.unique(self._answers.rows, return_index=True, return_inverse=True)

    def only(self, entries: IntArray, code: IntArray, n_channels: int) -> "Votes":
        """These answers alone, each counting whole, with other codes of their tables: `code` of the ones now."""
        answers = self._answers.at_entries(entries)
        channels = np.zeros(len(answers.names), dtype=np.int64)
        channels[answers.annotators] = code[self.channel[entries]]
        return Votes(answers, channels, n_channels)

    @property
    def n_rows(self) -> int:
        return len(self.positions)

    @property
    def evidence(self) -> FloatArray:
        """What every answer says, (m, K)."""
        return self._answers.evidence.dense()

    def likelihood(self, tables: FloatArray) -> FloatArray:
        """P(answer | y) = sum_v e(v) q(v | y) of every answer, (m, K), from the tables q (n_channels, K, K)."""
        by_meaning = np.ascontiguousarray(tables.transpose(0, 2, 1))
        said = np.empty((self._answers.n_answers, self._n_classes))
        plain = self._answers.evidence.is_gold
        said[plain] = by_meaning[self.channel[plain], self._answers.evidence.codes[plain]]
        for channel, entries, weights in self._mixed:
            said[entries] = weights @ by_meaning[channel]
        return said

    def log_by_row(self, likelihood: FloatArray) -> FloatArray:
        """The logarithm of the product over the answers of every row, (n_rows, K); minus infinity for none."""
        if not self.n_rows:
            return np.empty((0, self._n_classes))
        with np.errstate(divide="ignore"):
            return np.asarray(self.weight * np.add.reduceat(np.log(likelihood), self._first, axis=0))

    def counts(self, tables: FloatArray, likelihood: FloatArray, responsibilities: FloatArray) -> FloatArray:
        r"""The expected number of times that v was meant where y is true, (n_channels, K, K).

        .. math:: n_a(y, v) = \sum_j r_j(y)\, e_j(v)\, q_a(v | y) \Big/ \sum_u e_j(u)\, q_a(u | y)

        over the answers j of a, with the weighted responsibilities of their rows (m, K).
        """
        counts = (self._said_plainly @ responsibilities).reshape(self.n_channels, self._n_classes, -1)
        for channel, entries, weights in self._mixed:
            shares = responsibilities[entries]
            shares = np.divide(shares, likelihood[entries], out=np.zeros_like(shares), where=shares > 0)
            counts[channel] += (weights.T @ shares) * tables[channel].T
        return self.weight * np.ascontiguousarray(counts.transpose(0, 2, 1))

    @cached_property
    def _said_plainly(self) -> sp.csr_array:
        """Which answers of every channel were what, (n_channels * K, m)."""
        plain = np.flatnonzero(self._answers.evidence.is_gold)
        called = self.channel[plain] * self._n_classes + self._answers.evidence.codes[plain]
        shape = (self.n_channels * self._n_classes, self._answers.n_answers)
        return sp.csr_array((np.ones(len(called)), (called, plain)), shape=shape)

    @cached_property
    def _mixed(self) -> list[tuple[int, IntArray, FloatArray]]:
        """Answers that name no single class, by channel: which they are, and their evidence."""
        mixed = np.flatnonzero(self._answers.evidence.is_ambiguous)
        weights = self._answers.evidence.take(mixed).weights
        parts = []
        for channel in np.unique(self.channel[mixed]).tolist():
            own = np.flatnonzero(self.channel[mixed] == channel)
            parts.append((channel, mixed[own], weights[own]))
        return parts
