"""The information of a policy as a product with vectors: a pass over drawn sequences, and groups of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.fisher.rule_shares import unmet_shares
from labelworth.fisher.rule_whitening import Whitening
from labelworth.models.chain_counts import ChainCounts
from labelworth.models.chain_products import ChainProducts

GROUPS = 8
"""Groups of draws whose differences show how noisy figures are."""

PARTS = 1 + GROUPS
"""All draws, and every group."""

_CHUNK = 1 << 22


class PolicyOperator:
    r"""Whitened information of a policy, from all draws and from every group of them at once.

    .. math:: M = e + (1 - e) \Bigl(\frac{1}{n} \sum_i s_i s_i' + \operatorname{diag}(u)\Bigr)

    e is the weight of complete labels, whose information is the identity and is not sampled; the scores s are those
    of the rest of the policy, and u is what its labels should have shown and by accident did not, see `unmet_shares`.

    Parameters
    ----------
    whitening : Whitening
    seen : Sequences
        Drawn sequences, with the labels the rest of the policy shows.
    whole : float
        e.
    """

    def __init__(self, whitening: Whitening, seen: Sequences, whole: float) -> None:
        self._whitening, self._whole, self._n_sequences = whitening, whole, seen.n_sequences
        parts = [seen.take(rows) for rows in np.array_split(np.arange(seen.n_sequences), GROUPS)]
        self._groups = [ChainProducts(whitening.model.word_chain, part) for part in parts]
        self._unmet = [unmet_shares(whitening, part) for part in parts]

    def __call__(self, block: FloatArray) -> FloatArray:
        """The product with a block (n_named, PARTS * b): b vectors for all draws, b for each group."""
        n_vectors = block.shape[1] // PARTS
        everywhere = block[:, :n_vectors]
        result = np.zeros_like(block)
        for place, (group, unmet) in enumerate(zip(self._groups, self._unmet, strict=True)):
            own = slice((place + 1) * n_vectors, (place + 2) * n_vectors)
            vectors = np.concatenate([everywhere, block[:, own]], axis=1)
            sums = self._whitening.scores(group.gram(self._whitening.vectors(vectors))[1]) / group.n_sequences
            sums += self._whitening.project(unmet[:, None] * vectors)
            result[:, :n_vectors] += sums[:, :n_vectors] * (group.n_sequences / self._n_sequences)
            result[:, own] = sums[:, n_vectors:]
        return self._whole * block + (1 - self._whole) * result


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
    def of(cls, whitening: Whitening, seen: Sequences, whole: float) -> "DenseNeighbor":
        """From these sequences."""
        total = np.zeros((whitening.size, whitening.size))
        most = max(1, _CHUNK // whitening.size)
        for start in range(0, seen.n_sequences, most):
            part = seen.take(np.arange(start, min(start + most, seen.n_sequences)))
            first, pairs, emission = whitening.model.word_chain.counts_by_sequence(part)
            words = whitening.model.n_features
            counts = ChainCounts(first.T, np.moveaxis(pairs, 0, -1), np.moveaxis(emission[:, :, :words], 0, -1))
            # A neighbor need not be exact: single precision halves the work.
            scores = whitening.scores(counts).astype(np.float32)
            total += scores @ scores.T
        total /= seen.n_sequences
        total[np.diag_indices_from(total)] += unmet_shares(whitening, seen)
        # Rounding leaves the tangent space, where an operator that is zero across it would find it.
        total = whitening.project(whitening.project(total).T)
        normals = whitening.normals()
        tangent = np.eye(whitening.size) - normals
        return cls(whitening, whole * tangent + (1 - whole) * total + normals)

    @cached_property
    def lower(self) -> FloatArray:
        """The Cholesky factor."""
        return np.asarray(scipy.linalg.cholesky(self.matrix, lower=True, check_finite=False))

    @cached_property
    def inverse(self) -> FloatArray:
        """On the tangent space alone, (n_named, n_named)."""
        upper, _ = scipy.linalg.lapack.dpotri(self.lower, lower=1)
        whole = np.tril(upper) + np.tril(upper, -1).T
        return np.asarray(whole - self.whitening.normals())

    def solve(self, block: FloatArray) -> FloatArray:
        """The product with the inverse, on the tangent space."""
        return self.whitening.project(scipy.linalg.cho_solve((self.lower, True), block, check_finite=False))

    def root(self, block: FloatArray) -> FloatArray:
        """The product with a root R, R R' = matrix."""
        return np.asarray(self.lower @ block)

    def log_determinant(self) -> float:
        """Of the matrix on the tangent space."""
        return 2 * float(np.log(np.diag(self.lower)).sum())
