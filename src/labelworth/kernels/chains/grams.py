r"""Sums of products of expected counts with themselves, :math:`\sum_i c_i c_i'`, for many sequences.

A sequence has few of all words: beside first labels and pairs, which all sequences have, only the blocks of its own
words, pair by pair, are added to. That is far less work than a dense product. Counts are those that labels leave
open, as in `chain_products`.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg.blas

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.chains.algebra import WIDEST, spread_rows
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens
from labelworth.kernels.chains.sums import padded_sequence_sums
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import fetch_and_add
from labelworth.kernels.machine.threads import n_threads_for, run_together
from labelworth.kernels.rows.tables import aligned_zeros


@dataclass(frozen=True, eq=False)
class GramSums:
    """Sums over sequences; labels are filled up to `padded_width`."""

    n_words: int  # Rows of nodes beyond the words are not counted.
    width: int
    # (width + width ** 2, width + width ** 2): First labels and pairs with themselves, the lower triangle.
    fronts: FloatArray
    crossed: FloatArray  # First labels and pairs with the labels beside a word.
    # flat array of n_words * (n_words + 1) / 2 blocks (width, width): The labels beside a word with those
    # beside another that is not behind it, word by word.
    words: FloatArray
    front_counts: FloatArray  # (width + width ** 2,), flat array of n_words * width: Sums of the counts themselves.
    word_counts: FloatArray

    @classmethod
    def empty(cls, n_words: int, width: int) -> "GramSums":
        front = width + width * width
        return cls(
            n_words,
            width,
            np.zeros((front, front), order="F"),
            aligned_zeros(n_words * front * width),
            aligned_zeros(n_words * (n_words + 1) // 2 * width * width),
            np.zeros(front),
            np.zeros(n_words * width),
        )

    def add(self, chain: Chain, nodes: Nodes, tokens: Tokens) -> None:
        """Add sequences; the sums are the same for any number of threads."""
        _, marginals, pairs = padded_sequence_sums(chain, nodes, tokens)
        fronts = np.empty((len(pairs), len(self.fronts)))
        fill_fronts(tokens.codes, tokens.offsets, marginals, pairs, fronts)
        scipy.linalg.blas.dsyrk(1.0, fronts.T, beta=1.0, c=self.fronts, lower=1, overwrite_c=1)
        self.front_counts[:] += fronts.sum(axis=0)
        by_word = np.argsort(tokens.rows, kind="stable")
        starts = np.searchsorted(tokens.rows[by_word], np.arange(self.n_words + 1))
        owners = np.repeat(np.arange(len(pairs)), np.diff(tokens.offsets))
        counters = np.zeros(2, dtype=np.int64)
        arguments = (
            tokens.codes, tokens.rows, tokens.offsets, owners, by_word, starts, fronts.reshape(-1), marginals,
            self.width, self.crossed, self.words, self.word_counts, counters,
        )  # fmt: skip
        size = len(tokens.codes) * self.width * len(self.fronts)
        run_together(work_on_words, arguments, n_threads_for(size), counters[1:], self.n_words)

    def matrix(self, n_labels: int) -> tuple[FloatArray, FloatArray]:
        """All of it, (size, size), and the sums of the counts, (size,): first labels, pairs, words label by label."""
        width, n_words, front = self.width, self.n_words, n_labels + n_labels**2
        kept = np.concatenate(
            [np.arange(n_labels), width + np.add.outer(width * np.arange(n_labels), np.arange(n_labels)).ravel()]
        )
        result = np.empty((front + n_labels * n_words,) * 2)
        lower = np.tril(self.fronts[np.ix_(kept, kept)])
        result[:front, :front] = lower + np.tril(lower, -1).T
        crossed = self.crossed.reshape(n_words, -1, width)[:, kept, :n_labels]
        result[:front, front:] = crossed.transpose(1, 2, 0).reshape(front, -1)
        result[front:, :front] = result[:front, front:].T
        beside = result[front:, front:].reshape(n_labels, n_words, n_labels, n_words)
        words, start = self.words.reshape(-1, width, width)[:, :n_labels, :n_labels], 0
        for word in range(n_words):
            blocks = words[start : start + word + 1]
            beside[:, : word + 1, :, word] = blocks.transpose(2, 0, 1)
            beside[:, word, :, : word + 1] = blocks.transpose(1, 2, 0)
            start += word + 1
        counts = self.word_counts.reshape(n_words, width)[:, :n_labels].T.ravel()
        return result, np.concatenate([self.front_counts[kept], counts])


@compiled()
def fill_fronts(
    codes: IntArray, offsets: IntArray, marginals: FloatArray, pairs: FloatArray, fronts: FloatArray
) -> None:
    """First labels and pairs of every sequence, without those that are known."""
    width = pairs.shape[1]
    for sequence in range(len(fronts)):
        first, last = offsets[sequence], offsets[sequence + 1]
        for label in range(width):
            fronts[sequence, label] = marginals[first * width + label] if codes[first] < 0 else 0.0
            for following in range(width):
                fronts[sequence, width + label * width + following] = pairs[sequence, label, following]
        for token in range(first + 1, last):
            if codes[token - 1] >= 0 and codes[token] >= 0:
                fronts[sequence, width + codes[token - 1] * width + codes[token]] -= 1.0


@compiled()
def work_on_words(
    codes: IntArray,
    rows: IntArray,
    offsets: IntArray,
    owners: IntArray,
    by_word: IntArray,
    starts: IntArray,
    fronts: FloatArray,
    marginals: FloatArray,
    width: int,
    crossed: FloatArray,
    words: FloatArray,
    word_counts: FloatArray,
    counters: IntArray,
) -> None:
    """What one thread does: words, until there is none left."""
    n_words, front = len(starts) - 1, width + width * width
    while True:
        word = fetch_and_add(counters, 0, 1)
        if word >= n_words:
            return
        for position in range(starts[word], starts[word + 1]):
            token = by_word[position]
            if codes[token] >= 0:
                continue
            sequence, own = owners[token], token * width
            for label in range(width):
                word_counts[word * width + label] += marginals[own + label]
            add_outer(crossed, word * front * width, fronts, sequence * front, marginals, own, front, width)
            for other in range(offsets[sequence], offsets[sequence + 1]):
                if rows[other] <= word and codes[other] < 0:
                    target = (word * (word + 1) // 2 + rows[other]) * width * width
                    add_outer(words, target, marginals, own, marginals, other * width, width, width)
        fetch_and_add(counters, 1, 1)


@compiled()
def add_outer(
    target: FloatArray,
    target_start: int,
    column: FloatArray,
    column_start: int,
    row: FloatArray,
    row_start: int,
    n_rows: int,
    n_columns: int,
) -> None:
    """Add a column times a row to a block."""
    if n_columns <= WIDEST:
        spread_rows(target, target_start, column, column_start, row, row_start, n_rows, n_columns)
        return
    for position in range(n_rows):
        start, factor = target_start + position * n_columns, column[column_start + position]
        for other in range(n_columns):
            target[start + other] += factor * row[row_start + other]
