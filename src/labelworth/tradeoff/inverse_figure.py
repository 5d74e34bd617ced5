"""A criterion of the inverse of the information of a design, with its slope."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray
from labelworth.errors import NotIdentifiableError
from labelworth.fisher.identifiability import most_changed
from labelworth.fisher.policy_figures import BLIND
from labelworth.fisher.rule_information import RuleInformation
from labelworth.linalg.symmetric import SingularMatrixError, cholesky, largest_eigenvalue, symmetrized

_MOST_DIRECTIONS = 6
_FULL_DECOMPOSITION = 200


@dataclass(frozen=True, eq=False)
class FigurePoint:
    """A figure and its slope in the counts."""

    value: float
    slope: FloatArray


@dataclass(frozen=True, eq=False)
class InverseFigure:
    r"""The criterion :math:`\phi(M^{-1})` of :math:`M = M_{held} + \sum_j w_j I_j`, on the estimable contrasts.

    Everything is computed in coordinates in which complete labels carry the identity: O(d^3) per design.

    Attributes
    ----------
    information : RuleInformation
    criterion : str
        A name of `labelworth.fisher.policy_figures.FIGURES`.
    chosen : tuple of int
        The places of the arms among the rules.
    held : array of shape (d, d), optional
    """

    information: RuleInformation
    criterion: str
    chosen: tuple[int, ...]
    held: FloatArray | None

    @property
    def is_convex(self) -> bool:
        """Yes, unless sampling made the weight matrix of a trace indefinite."""
        if self._weight is None:
            return True
        return bool(scipy.linalg.eigvalsh(self._weight, subset_by_index=[0, 0])[0] >= -self._tolerance)

    def at(self, counts: FloatArray) -> FigurePoint | None:
        """The figure of a design; None where its information is singular."""
        total = self._total(counts)
        try:
            lower = scipy.linalg.cholesky(total, lower=True)
        except np.linalg.LinAlgError:
            return None
        norm = float(np.abs(total).sum(axis=0).max())
        if scipy.linalg.lapack.dpocon(lower, norm, uplo="L")[0] <= self._blind:
            return None
        # The BLAS's own inverse: the triangular solver of LAPACK wakes threads for the smallest matrix.
        half, _ = scipy.linalg.lapack.dtrtri(lower, lower=1)
        if self._weight is None:
            log_determinant = 2 * float(np.log(np.diag(lower)).sum() + np.log(np.diag(self._factor[0])).sum())
            return FigurePoint(-log_determinant, -np.tensordot(self._arms, half.T @ half, axes=2))
        middle = half @ self._weight @ half.T
        if self.criterion == "worst_direction":
            value, vector = _largest(symmetrized(middle))
            direction = half.T @ vector
            return FigurePoint(value, -value * ((self._arms @ direction) @ direction))
        return FigurePoint(float(np.trace(middle)), -np.tensordot(self._arms, half.T @ middle @ half, axes=2))

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """The parameters that change most along directions of which these counts tell nothing."""
        values, vectors = scipy.linalg.eigh(self._total(counts))
        is_open = values <= self._blind * max(float(values[-1]), 0.0)
        whitened = scipy.linalg.solve_triangular(self._factor[0], vectors[:, is_open], lower=True, trans="T")
        directions = self.information.contrasts.basis @ whitened[:, :_MOST_DIRECTIONS]
        return most_changed(self.information.coordinates, directions)

    @cached_property
    def _factor(self) -> tuple[FloatArray, float]:
        contrasts = self.information.contrasts
        try:
            return cholesky(contrasts.restricted(self.information.matrices[self.information.everything]))
        except SingularMatrixError as error:
            raise NotIdentifiableError(
                "Even complete labels tell less of some parameter than rounding hides. Use probabilities farther "
                "from zero, or weights nearer to each other."
            ) from error

    @property
    def _tolerance(self) -> float:
        return 16 * len(self._factor[0]) * float(np.finfo(float).eps) / self._factor[1]

    @property
    def _blind(self) -> float:
        return max(BLIND, self._tolerance)

    def _whitened(self, matrix: FloatArray) -> FloatArray:
        lower = self._factor[0]
        half = scipy.linalg.solve_triangular(lower, self.information.contrasts.restricted(matrix), lower=True)
        return symmetrized(scipy.linalg.solve_triangular(lower, half.T, lower=True))

    @cached_property
    def _arms(self) -> FloatArray:
        return np.stack([self._whitened(self.information.matrices[place]) for place in self.chosen])

    @cached_property
    def _held(self) -> FloatArray:
        rank = len(self._factor[0])
        return np.zeros((rank, rank)) if self.held is None else self._whitened(self.held)

    @cached_property
    def _weight(self) -> FloatArray | None:
        """G of a trace, or J'J of the worst direction; None for the log volume."""
        rank = len(self._factor[0])
        if self.criterion == "log_volume":
            return None
        if self.criterion in ("total_variance", "worst_direction"):
            lower, named = self._factor[0], self.information.contrasts.named_basis
            half = scipy.linalg.solve_triangular(lower, named.T, lower=True)
            return symmetrized(half @ half.T)
        seen = self._whitened(self.information.matrices[self.information.nothing])
        weights = {
            "excess_log_loss": np.eye(rank) - seen,
            "excess_joint_log_loss": np.eye(rank),
            "excess_marginal_log_loss": seen,
        }
        return weights[self.criterion] / 2

    def _total(self, counts: FloatArray) -> FloatArray:
        total: FloatArray = self._held + np.tensordot(counts, self._arms, axes=1)
        return total


def _largest(matrix: FloatArray) -> tuple[float, FloatArray]:
    """The largest eigenvalue and an eigenvector."""
    if len(matrix) > _FULL_DECOMPOSITION:
        return largest_eigenvalue(lambda block: matrix @ block, len(matrix))
    # All of them: where the largest ones are equal, as they are at an optimum, LAPACK may find none of a subset.
    values, vectors = np.linalg.eigh(matrix)
    return float(values[-1]), np.asarray(vectors[:, -1])
