"""Figures of one policy: criteria of the inverse of its information, on the estimable contrasts."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import NotIdentifiableError
from labelworth.fisher.identifiability import WEAK, WeakDirection
from labelworth.fisher.rule_contrasts import Contrasts
from labelworth.linalg.pencil import Pencil
from labelworth.linalg.symmetric import SingularMatrixError, largest_eigenvalue

BLIND = 1e-10
"""A direction of which a policy tells less than this share of complete labels is taken for open: it is rounding."""

FIGURES = (
    "total_variance",
    "worst_direction",
    "excess_log_loss",
    "excess_joint_log_loss",
    "excess_marginal_log_loss",
    "log_volume",
)
r"""By name, in the order in which they are reported; all of :math:`Cov = I(policy)^{-1}`, that of one sequence:
:math:`tr(J\,Cov\,J')` and the largest eigenvalue of it, J the Jacobian of the named tables; half the trace with
:math:`I_{everything} - I_{nothing}`, :math:`I_{everything}` and :math:`I_{nothing}`; the log determinant."""

_MOST_DIRECTIONS = 20


@dataclass(frozen=True, eq=False)
class PolicyFigures:
    r"""A policy's information against that of complete labels.

    On the estimable contrasts the generalized eigenproblem :math:`I W = I_{everything} W \operatorname{diag}(\nu)`,
    :math:`W' I_{everything} W = 1`, gives :math:`Cov = W \operatorname{diag}(1/\nu) W'` (times 1/n), and with it
    every figure as a sum over directions.

    Attributes
    ----------
    contrasts : Contrasts
    pencil : Pencil
        Its values are :math:`\nu`, ascending: the share of what complete labels would tell, in [0, 1].
    seen, unseen : array of shape (rank,)
        The diagonals of :math:`W' I_{nothing} W` and of :math:`W' (I_{everything} - I_{nothing}) W`.
    """

    contrasts: Contrasts
    pencil: Pencil
    seen: FloatArray
    unseen: FloatArray

    @classmethod
    def of(
        cls, contrasts: Contrasts, policy: FloatArray, everything: FloatArray, nothing: FloatArray
    ) -> "PolicyFigures":
        """Decompose; all matrices are (d, d).

        Raises
        ------
        NotIdentifiableError
            If even complete labels tell so little of a direction that it is lost in rounding.
        """
        try:
            pencil = Pencil.of(contrasts.restricted(policy), contrasts.restricted(everything))
        except SingularMatrixError as error:
            raise NotIdentifiableError(
                "Some events of this model are so certain, or so rare, that even complete labels tell less of a "
                "parameter than rounding hides. Use weights nearer to each other, or probabilities farther from zero."
            ) from error
        vectors = contrasts.basis @ pencil.vectors
        seen, unseen = (
            np.einsum("ai,ai->i", vectors, matrix @ vectors) for matrix in (nothing, everything - nothing)
        )
        return cls(contrasts, pencil, seen, unseen)

    @property
    def smallest(self) -> float:
        """The smallest share of what complete labels would tell: how weak the weakest direction is."""
        return float(self.pencil.values[0])

    @property
    def blind(self) -> float:
        """Up to where a share is rounding."""
        return max(BLIND, self.pencil.tolerance)

    def values(self) -> FloatArray:
        """All figures of one sequence, in the order of `FIGURES`."""
        shares = self.pencil.values
        half = self._named_vectors / np.sqrt(shares)
        worst, _ = largest_eigenvalue(lambda block: half.T @ (half @ block), self.contrasts.rank)
        return np.array(
            [
                np.square(half).sum(),
                worst,
                (self.unseen / shares).sum() / 2,
                (1 / shares).sum() / 2,
                (self.seen / shares).sum() / 2,
                -np.log(shares).sum() - self.pencil.log_determinant,
            ]
        )

    def replicates(self, policy: FloatArray, everything: FloatArray, nothing: FloatArray) -> FloatArray:
        """The same figures of other matrices near these, each (n, d, d), in the eigenbasis of these: (n, n_figures).

        Raises
        ------
        LinAlgError
            If one of the policy's matrices is not positive definite.
        """
        vectors = self.contrasts.basis @ self.pencil.vectors
        policy, everything, nothing = (vectors.T @ stack @ vectors for stack in (policy, everything, nothing))
        lower = np.linalg.cholesky(policy)
        half = np.linalg.inv(lower)
        inverse = half.swapaxes(1, 2) @ half
        gram = self._named_vectors.T @ self._named_vectors
        worst = np.linalg.eigvalsh(half @ gram @ half.swapaxes(1, 2))[:, -1]
        joint, marginal = (np.einsum("nij,nij->n", inverse, stack) / 2 for stack in (everything, nothing))
        log_determinants = 2 * np.log(np.einsum("nii->ni", lower)).sum(axis=1)
        return np.stack(
            [
                np.einsum("nij,ij->n", inverse, gram),
                worst,
                joint - marginal,
                joint,
                marginal,
                -log_determinants - self.pencil.log_determinant,
            ],
            axis=1,
        )

    @property
    def covariance(self) -> FloatArray:
        """Cov of one sequence in free coordinates, (d, d); zero along what nothing can estimate."""
        half = self.contrasts.basis @ self.pencil.vectors / np.sqrt(self.pencil.values)
        return half @ half.T

    @property
    def _named_vectors(self) -> FloatArray:
        return self.contrasts.named_basis @ self.pencil.vectors

    def weak_directions(self, threshold: float = WEAK) -> tuple[WeakDirection, ...]:
        """Directions of which the policy tells less than `threshold` of what complete labels would, weakest first.

        Paper: def:identifiable.
        """
        shares = self.pencil.values
        chosen = np.flatnonzero(shares < threshold)[:_MOST_DIRECTIONS]
        return tuple(
            self.contrasts.entries.direction(
                0.0 if abs(shares[place]) <= self.blind else float(shares[place]),
                self.contrasts.named_basis @ self.pencil.vectors[:, place],
            )
            for place in chosen
        )
