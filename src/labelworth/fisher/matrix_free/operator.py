"""The information of a policy as a product with vectors: a pass over drawn sequences; and a dense matrix near it."""

from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.fisher.matrix_free.whitening import Whitening
from labelworth.kernels.chains.algebra import WIDEST
from labelworth.kernels.chains.grams import GramSums
from labelworth.kernels.chains.layout import lay_out, owners, unweighted
from labelworth.kernels.chains.products import CountBlock, count_products, empty_block
from labelworth.kernels.rows.tables import padded_width
from labelworth.models.chains.words import ChainCounts, WordChain


class ChainProducts:
    r"""The map from vectors in the space of counts to one number per sequence, and its transpose.

    The rows of the map are :math:`E[T_i | x_i, \text{evidence}_i]`: expected first labels, neighbors and words beside
    labels, where labels leave them open; what stands between known labels alone does not count, and neither do words
    that were not seen (`NO_WORD`). A product costs one recursion per sequence, for any number of vectors at once.

    Notes
    -----
    A block of vectors is a `ChainCounts` of arrays with one axis more, at the end: start (K, b), pairs (K, K, b),
    emission (K, V, b).
    """

    def __init__(self, word_chain: WordChain, sequences: Sequences, n_threads: int | None = None) -> None:
        self._word_chain = word_chain
        tokens = word_chain.tokens(sequences)
        if sequences.weights is None:
            tokens = unweighted(tokens)
        self._layout = lay_out(tokens, word_chain.n_words + 1)
        self._owners = owners(tokens)
        self._n_threads = n_threads
        self._in_use = Lock()

    def inner(self, vectors: ChainCounts) -> FloatArray:
        """<E[T_i], v> for every sequence and vector, (n_sequences, b)."""
        return self._run(vectors, summed=False)[0]

    def gram(self, vectors: ChainCounts) -> tuple[FloatArray, ChainCounts]:
        """u_i = <E[T_i], v>, and sum_i w_i u_i E[T_i] with w the weights of the sequences."""
        return self._run(vectors, summed=True)

    def _run(self, vectors: ChainCounts, *, summed: bool) -> tuple[FloatArray, ChainCounts]:
        """In groups of at most `WIDEST` vectors."""
        parts = [
            self._run_group(ChainCounts(*(table[..., first : first + WIDEST] for table in vectors)), summed)
            for first in range(0, vectors.start.shape[1], WIDEST)
        ]
        sums = ChainCounts(
            *(np.concatenate(tables, axis=-1) for tables in zip(*(part[1] for part in parts), strict=True))
        )
        return np.concatenate([part[0] for part in parts], axis=1), sums

    def _run_group(self, vectors: ChainCounts, summed: bool) -> tuple[FloatArray, ChainCounts]:
        chain, nodes = self._word_chain
        n_vectors = vectors.start.shape[1]
        width = padded_width(n_vectors)
        block = self._padded(vectors, width)
        with self._in_use:
            inner, sums = count_products(self._layout, self._owners, chain, nodes, block, summed, self._n_threads)
        return inner[:, :n_vectors], self._counts(sums, width, n_vectors)

    def _padded(self, vectors: ChainCounts, n_vectors: int) -> CountBlock:
        """In the form of the kernel: labels filled up, words first, a last row of zeros for the word not seen."""
        width = len(self._word_chain.chain.start)
        start, pairs, emission = vectors
        n_labels, n_words, n_given = emission.shape
        block = empty_block(n_words + 1, width, n_vectors)
        block.start.reshape(width, n_vectors)[:n_labels, :n_given] = start
        block.pairs.reshape(width, width, n_vectors)[:n_labels, :n_labels, :n_given] = pairs
        rows = block.rows.reshape(n_words + 1, width, n_vectors)
        rows[:n_words, :n_labels, :n_given] = emission.transpose(1, 0, 2)
        return block

    def _counts(self, block: CountBlock, n_vectors: int, n_kept: int) -> ChainCounts:
        width, n_labels = len(self._word_chain.chain.start), len(self._word_chain.chain.log_start)
        start = block.start.reshape(width, n_vectors)[:n_labels, :n_kept]
        pairs = block.pairs.reshape(width, width, n_vectors)[:n_labels, :n_labels, :n_kept]
        emission = block.rows.reshape(-1, width, n_vectors)[: self._word_chain.n_words, :n_labels, :n_kept]
        return ChainCounts(start, pairs, emission.transpose(1, 0, 2))


_CHUNK = 1 << 12
"""Sequences at a time: their marginals should stay near the processor."""


@dataclass(frozen=True, eq=False)
class Shown:
    r"""Drawn sequences with the labels a policy shows, but for the sequences that it labels whole."""

    whitening: Whitening
    sequences: Sequences
    # (n_named,): :math:`\rho`, the share of the uses of every entry that labels show; the same all along a row.
    shares: FloatArray
    partly: float  # The share of sequences that are not labeled whole; those that are have nothing to sample.

    @property
    def open_shares(self) -> FloatArray:
        """What labels leave open of the uses of every entry, in the sequences that are not labeled whole."""
        return np.asarray((1 - self.shares) / self.partly)


class PolicyOperator:
    r"""Whitened information of a policy.

    The score of a sequence is a sum over its steps - a first label, a next label, a word - each with mean zero given
    those before. With L the part of steps whose labels are seen and :math:`U = E[S - L \mid X, Y_S]` what is gathered
    of the others, :math:`E[L U'] = E[L (S - L)'] = 0` and :math:`E[L L']` is known:

    .. math:: M = \operatorname{diag}(\rho) + \frac{e}{n} \sum_i U_i U_i'

    with e the share of sequences not labeled whole. Only what labels leave open is sampled.
    """

    def __init__(self, shown: Shown, products: ChainProducts | None = None) -> None:
        self.shown = shown
        self._products = products or ChainProducts(shown.whitening.model.word_chain, shown.sequences)

    def weighted(self, shares: FloatArray, partly: float) -> "PolicyOperator":
        """The same sequences beside others that are labeled whole."""
        return PolicyOperator(replace(self.shown, shares=shares, partly=partly), self._products)

    def __call__(self, block: FloatArray) -> FloatArray:
        """The product with a block (n_named, b) of tangent vectors."""
        return self.gram(block)[1]

    def gram(self, block: FloatArray) -> tuple[FloatArray, FloatArray]:
        """U_i' v of every sequence and vector (n, b), and M v (n_named, b)."""
        shown, white = self.shown, self.shown.whitening
        inner, sums = self._products.gram(white.vectors(block))
        return inner, shown.shares[:, None] * block + shown.partly / len(inner) * white.scores(sums)

    def inner(self, block: FloatArray) -> FloatArray:
        """U_i' v of every sequence and vector, (n, b)."""
        return self._products.inner(self.shown.whitening.vectors(block))


@dataclass(frozen=True, eq=False)
class DenseNeighbor:
    """A dense matrix near an operator, from fewer draws: it preconditions, and its traces are exact."""

    whitening: Whitening
    # (n_named, n_named): On the tangent space the information of a policy; the identity across it.
    matrix: FloatArray
    # (n_named,): Of every entry, what these draws showed of its open uses, relative to what is expected.
    met: FloatArray

    @classmethod
    def of(cls, shown: Shown, n_draws: int) -> "DenseNeighbor":
        """From the first of the sequences."""
        white = shown.whitening
        chain, nodes = white.model.word_chain
        n_draws = min(n_draws, shown.sequences.n_sequences)
        sums = GramSums.empty(white.model.n_features, len(chain.start))
        for start in range(0, n_draws, _CHUNK):
            part = shown.sequences.take(np.arange(start, min(start + _CHUNK, n_draws)))
            sums.add(chain, nodes, white.model.word_chain.tokens(part))
        matrix, counts = sums.matrix(white.model.n_classes)
        del sums  # as large as the matrix
        factors = np.sqrt(shown.partly / n_draws) / white.roots
        matrix *= factors
        matrix *= factors[:, None]
        white.project_matrix(matrix)
        _complete(matrix, white, shown.shares, 0.0)
        expected = n_draws * white.counts * shown.open_shares
        met = np.divide(counts, expected, out=np.ones_like(counts), where=expected > 0)
        return cls(white, matrix, met)

    def weighted(self, shares: FloatArray, partly: float) -> "DenseNeighbor":
        """Of the same sequences, without labels here, beside others that are labeled whole."""
        matrix = partly * self.matrix
        _complete(matrix, self.whitening, shares, partly)
        return replace(self, matrix=matrix)

    @cached_property
    def lower(self) -> FloatArray:
        return np.asarray(scipy.linalg.cholesky(self.matrix, lower=True, check_finite=False))

    @cached_property
    def _inverse_lower(self) -> FloatArray:
        """The inverse of the Cholesky factor."""
        return np.asarray(scipy.linalg.lapack.dtrtri(self.lower, lower=1)[0])

    def inverse_diagonal(self) -> FloatArray:
        """The diagonal of the inverse on the tangent space alone, (n_named,)."""
        half = self._inverse_lower
        return np.asarray(np.einsum("ij,ij->j", half, half) - self.whitening.probabilities)

    def inverse_trace(self, other: "DenseNeighbor") -> float:
        """The trace of the inverse times another, on the tangent space alone."""
        lower = scipy.linalg.lapack.dlauum(self._inverse_lower, lower=1)[0]
        total = float(np.diag(lower) @ np.diag(other.matrix))
        for column in range(len(lower)):
            total += 2 * float(lower[column + 1 :, column] @ other.matrix[column, column + 1 :])
        # Both are the identity across the tangent space.
        return total - self.whitening.n_rows

    def solve(self, block: FloatArray) -> FloatArray:
        """The product with the inverse, on the tangent space."""
        white = self.whitening
        return white.project(scipy.linalg.cho_solve((self.lower, True), white.project(block), check_finite=False))

    def root(self, block: FloatArray) -> FloatArray:
        """The product with a root R, R R' = matrix, on the tangent space."""
        return self.whitening.project(self.lower @ block)

    def log_determinant(self) -> float:
        """Of the matrix on the tangent space."""
        return 2 * float(np.log(np.diag(self.lower)).sum())


def _complete(matrix: FloatArray, whitening: Whitening, shares: FloatArray, across: float) -> None:
    """Add what labels show on the tangent space, and across it what `across` lacks to one."""
    roots = whitening.row_roots
    matrix[np.diag_indices_from(matrix)] += shares
    matrix += (roots * (1 - across - shares @ np.square(roots))) @ roots.T
