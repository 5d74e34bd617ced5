r"""What the label of one row would buy a linear model of p(y | x), such as logistic regression.

The score of row x with label y is :math:`(1_y - p) \otimes x`, p the probabilities of the classes: its variance
given x, :math:`V_i V_i' = (\operatorname{diag} p_i - p_i p_i') \otimes x_i x_i'`, is what a label tells, and nothing
is told by rows without one. With a ridge :math:`\rho`, the inverse of scikit-learn's C,

.. math:: M = \rho + \sum_{\text{labeled}} V_i V_i', \qquad G = \tfrac1n \sum_i V_i V_i'

and gains are as in `labelworth.fisher.documents.worth`, whose greedy step this is for BAIT's own models.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.linalg.conjugate_gradients import LockstepConjugateGradients

_N_PROBES = 64
_PRECISION = 1e-3  # of the solutions, relative to the right sides: far below the noise of probes
_MOST_STEPS = 500
_NUMBERS = 4_000_000  # in a block of vectors


@dataclass(frozen=True, eq=False)
class ConditionalWorth:
    r"""By random probes, without a matrix.

    :math:`M^{-1} G M^{-1}` is the mean of z z' with :math:`z = M^{-1} g` and :math:`E[g g'] = G`, and
    :math:`M^{-1}` that of w w' with :math:`w = M^{-1} m` and :math:`E[m m'] = M`: both g and m are sums of signed
    scores of labels drawn by p. The intercept has the ridge of all other weights, which matters little once there are
    labels.
    """

    features: Any  # (n, d): Sparse or dense, a column of ones for the intercept among them.
    probabilities: FloatArray  # (n, K): p(y | x) at the fit.
    is_labeled: BoolArray  # (n,)
    ridge: float
    seed: int = 0

    @classmethod
    def at(
        cls, features: Any, probabilities: FloatArray, is_labeled: BoolArray, ridge: float, seed: int = 0
    ) -> "ConditionalWorth":
        ones = np.ones((len(probabilities), 1))
        if hasattr(features, "tocsr"):
            stacked: Any = sp.hstack([features, sp.csr_array(ones)])
            return cls(stacked.tocsr(), probabilities, is_labeled, ridge, seed)
        whole = np.hstack([np.asarray(features, dtype=np.float64), ones])
        return cls(whole, probabilities, is_labeled, ridge, seed)

    def gains(self) -> FloatArray:
        """By how many nats per row the label of every row lowers the excess log-loss, (n,); 0 of labeled rows."""
        n_classes, gains = self.probabilities.shape[1], np.zeros(len(self.probabilities))
        rows = np.flatnonzero(~self.is_labeled)
        bent, told = (self._squares(rows, block) for block in self._solved)
        gains[rows] = 0.5 * np.trace(np.linalg.solve(np.eye(n_classes) + told, bent), axis1=1, axis2=2)
        return gains

    def _squares(self, rows: IntArray, block: FloatArray) -> FloatArray:
        """The mean of V' z z' V over probes, (n_rows, K, K)."""
        shares = self.probabilities[rows]
        seen = self._products(self.features[rows], block)
        seen -= np.einsum("nk,nkb->nb", shares, seen)[:, None, :]
        seen *= np.sqrt(shares)[:, :, None]
        return np.asarray(seen @ seen.transpose(0, 2, 1) / seen.shape[2])

    @cached_property
    def _solved(self) -> tuple[FloatArray, FloatArray]:
        """M^-1 g and M^-1 m, (d, K, b) each."""
        n_samples, n_classes = self.probabilities.shape
        n_features = self.features.shape[1]
        n_probes = int(np.clip(_NUMBERS // (n_features * n_classes), 8, _N_PROBES))
        rng = np.random.default_rng([self.seed, n_probes])
        every, labeled = np.arange(n_samples), np.flatnonzero(self.is_labeled)
        right = np.empty((n_features, n_classes, 2 * n_probes))
        for probe in range(n_probes):
            right[:, :, probe] = self._drawn(every, rng) / np.sqrt(n_samples)
            noise = rng.standard_normal((n_features, n_classes))
            right[:, :, n_probes + probe] = self._drawn(labeled, rng) + np.sqrt(self.ridge) * noise
        known, shares = self.features[labeled], self.probabilities[labeled]

        def operator(flat: FloatArray) -> FloatArray:
            block = flat.reshape(right.shape)
            seen = self._products(known, block)
            seen -= np.einsum("nk,nkb->nb", shares, seen)[:, None, :]
            seen *= shares[:, :, None]
            told = known.T @ seen.reshape(len(labeled), -1)
            return np.asarray(self.ridge * flat + told.reshape(flat.shape))

        run = LockstepConjugateGradients(operator, lambda block: block, right.reshape(n_features * n_classes, -1))
        aim = _PRECISION * np.linalg.norm(run.right, axis=0)
        while run.n_steps < _MOST_STEPS and (np.linalg.norm(run.residuals, axis=0) > aim).any():
            run.step()
        solutions = run.solutions.reshape(right.shape)
        return solutions[:, :, :n_probes], solutions[:, :, n_probes:]

    def _drawn(self, rows: IntArray, rng: np.random.Generator) -> FloatArray:
        """The sum of signed scores of labels drawn for these rows, (d, K)."""
        shares = self.probabilities[rows]
        below = np.cumsum(shares, axis=1)
        labels = (rng.random(len(rows))[:, None] * below[:, -1:] >= below[:, :-1]).sum(axis=1)
        scores = -shares
        scores[np.arange(len(rows)), labels] += 1.0
        scores *= 2.0 * rng.integers(0, 2, size=(len(rows), 1)) - 1
        return np.asarray(self.features[rows].T @ scores)

    @staticmethod
    def _products(features: Any, block: FloatArray) -> FloatArray:
        """x' z for every row, class and probe, (n, K, b)."""
        return np.asarray(features @ block.reshape(block.shape[0], -1)).reshape(-1, *block.shape[1:])
