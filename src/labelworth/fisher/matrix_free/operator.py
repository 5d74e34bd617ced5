"""The information of a policy as a product with vectors: a pass over drawn sequences; and a dense matrix near it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.fisher.matrix_free.whitening import Whitening
from labelworth.kernels.chains.grams import GramSums
from labelworth.models.chains.products import ChainProducts

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
