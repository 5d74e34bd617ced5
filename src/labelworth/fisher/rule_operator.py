"""The information of a policy as a product with vectors: a pass over drawn sequences, and groups of them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg

from labelworth.arrays import BoolArray, FloatArray
from labelworth.data.sequences import Sequences
from labelworth.fisher.rule_shares import labeled_shares, rarely_met
from labelworth.fisher.rule_whitening import Whitening
from labelworth.models.chain_products import ChainProducts

GROUPS = 8
"""Groups of draws whose differences show how noisy figures are."""

PARTS = 1 + GROUPS
"""All draws, and every group."""

_CHUNK = 1 << 24


@dataclass(frozen=True, eq=False)
class Shown:
    r"""Drawn sequences with the labels a policy shows, but for the sequences that it labels whole.

    Attributes
    ----------
    whitening : Whitening
    sequences : Sequences
    whole : float
        e, the share of sequences labeled whole: their information is the identity, and is not sampled.
    shares : array of shape (n_named,)
        What labels show of every entry, as expected.
    rare : boolean array of shape (n_named,)
        Entries so rarely labeled that the draws hardly meet them. A matrix of draws would be singular along one that
        none shows, and noise along one that few show; each is counted by its expected share alone, and `doubt` says
        by how much that may be too little information.
    """

    whitening: Whitening
    sequences: Sequences
    whole: float
    shares: FloatArray
    rare: BoolArray

    @classmethod
    def of(cls, whitening: Whitening, sequences: Sequences, whole: float) -> "Shown":
        """Find the rare entries."""
        shares = labeled_shares(whitening, sequences)
        rare = rarely_met(whitening, shares, sequences.n_sequences // GROUPS)
        return cls(whitening, sequences, whole, shares, rare)

    def first(self, count: int) -> "Shown":
        """Fewer sequences, the same entries."""
        few = self.sequences.take(np.arange(min(count, self.sequences.n_sequences)))
        return replace(self, sequences=few)

    def doubt(self) -> FloatArray:
        """How much more variance each rare entry was given than complete labels would leave it, (n_named,).

        Neighbors and unlabeled words tell of an entry, too: the truth lies between.
        """
        known = self.whole + (1 - self.whole) * self.shares
        return np.where(self.rare, 1 / np.where(self.rare, known, 1.0) - 1, 0.0)

    def kept(self, block: FloatArray) -> FloatArray:
        """Zeros along what is rare."""
        return np.asarray(np.where(self.rare[:, None], 0.0, block))


class PolicyOperator:
    r"""Whitened information of a policy, from all draws and from every group of them at once.

    .. math:: M = e + (1 - e) \Bigl(K \frac{1}{n} \sum_i s_i s_i' K + \operatorname{diag}(\rho)(1 - K)\Bigr)

    with K the entries that are not rare and :math:`\rho` the expected shares; see `Shown`.
    """

    def __init__(self, shown: Shown) -> None:
        self.shown, sequences = shown, shown.sequences
        self._groups = [
            ChainProducts(shown.whitening.model.word_chain, sequences.take(rows))
            for rows in np.array_split(np.arange(sequences.n_sequences), GROUPS)
        ]

    def __call__(self, block: FloatArray) -> FloatArray:
        """The product with a block (n_named, PARTS * b) of tangent vectors: b for all draws, b for each group."""
        shown, white, n_vectors = self.shown, self.shown.whitening, block.shape[1] // PARTS
        kept = white.project(shown.kept(block))
        result = np.zeros_like(block)
        for place, group in enumerate(self._groups):
            own = slice((place + 1) * n_vectors, (place + 2) * n_vectors)
            vectors = white.vectors(np.concatenate([kept[:, :n_vectors], kept[:, own]], axis=1))
            sums = white.scores(group.gram(vectors)[1]) / group.n_sequences
            result[:, :n_vectors] += sums[:, :n_vectors] * (group.n_sequences / shown.sequences.n_sequences)
            result[:, own] = sums[:, n_vectors:]
        rare = np.where(shown.rare, shown.shares, 0.0)[:, None] * block
        return shown.whole * block + (1 - shown.whole) * white.project(shown.kept(result) + rare)


@dataclass(frozen=True, eq=False)
class DenseNeighbor:
    """A dense matrix near an operator, from fewer draws: it preconditions, and its traces are exact.

    Attributes
    ----------
    whitening : Whitening
    matrix : array of shape (n_named, n_named)
        On the tangent space the information of a policy; the identity across it.
    """

    whitening: Whitening
    matrix: FloatArray

    @classmethod
    def of(cls, shown: Shown) -> "DenseNeighbor":
        """From these sequences."""
        white = shown.whitening
        # A neighbor need not be exact: single precision halves the work.
        squares = np.zeros((white.size, white.size), dtype=np.float32)
        most = max(1, _CHUNK // white.size)
        for start in range(0, shown.sequences.n_sequences, most):
            rows = np.arange(start, min(start + most, shown.sequences.n_sequences))
            first, pairs, emission = white.model.word_chain.counts_by_sequence(shown.sequences.take(rows))
            narrow = white.narrow_scores(first, pairs, emission[:, :, : white.model.n_features])
            squares += narrow.T @ narrow
        # Scores are the projections of scaled counts; what is rare is taken out of them.
        total = white.project_matrix(squares.astype(np.float64) / shown.sequences.n_sequences)
        if shown.rare.any():
            total[shown.rare], total[:, shown.rare] = 0.0, 0.0
            total[np.diag_indices_from(total)] += np.where(shown.rare, shown.shares, 0.0)
            total = white.project_matrix(total)
        total *= 1 - shown.whole
        total[np.diag_indices_from(total)] += shown.whole
        total += (1 - shown.whole) * (white.row_roots @ white.row_roots.T)
        return cls(white, total)

    @cached_property
    def lower(self) -> FloatArray:
        """The Cholesky factor."""
        return np.asarray(scipy.linalg.cholesky(self.matrix, lower=True, check_finite=False))

    def inverse_diagonal(self) -> FloatArray:
        """The diagonal of the inverse on the tangent space alone, (n_named,)."""
        half, _ = scipy.linalg.lapack.dtrtri(self.lower, lower=1)
        return np.asarray(np.einsum("ij,ij->j", half, half) - self.whitening.probabilities)

    def inverse_trace(self, other: "DenseNeighbor") -> float:
        """The trace of the inverse times another, on the tangent space alone."""
        lower, _ = scipy.linalg.lapack.dpotri(self.lower, lower=1)
        # Only the lower triangle is filled; both matrices are the identity across the tangent space.
        twice = 2 * float(np.einsum("ij,ij->", np.tril(lower, -1), other.matrix))
        return twice + float(np.diag(lower) @ np.diag(other.matrix)) - self.whitening.n_rows

    def solve(self, block: FloatArray) -> FloatArray:
        """The product with the inverse, on the tangent space."""
        return self.whitening.project(scipy.linalg.cho_solve((self.lower, True), block, check_finite=False))

    def root(self, block: FloatArray) -> FloatArray:
        """The product with a root R, R R' = matrix."""
        return np.asarray(self.lower @ block)

    def log_determinant(self) -> float:
        """Of the matrix on the tangent space."""
        return 2 * float(np.log(np.diag(self.lower)).sum())
