r"""Figures of an inverse, in coordinates in which complete labels carry the identity.

With W such that :math:`W' I_{everything} W = 1`, a design of counts w has :math:`M = \sum_j w_j W' I_j W`. A root R,
:math:`R R' = M^{-1}`, gives every criterion, and its slope in the counts:

.. math::

    \operatorname{tr} R' G R, \qquad
    \frac{\partial}{\partial w_j} = -\operatorname{tr}\bigl(R (R' G R) R' \, W' I_j W\bigr)
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray
from labelworth.fisher.contrasts import Contrasts
from labelworth.fisher.criteria import Criterion, Weight
from labelworth.linalg.symmetric import Pencil, cholesky, largest_eigenvalue, symmetrized

BLIND = 1e-10
"""A direction of which samples tell less than this share of complete labels is taken for open: it is rounding."""

_FULL_DECOMPOSITION = 200


@dataclass(frozen=True, eq=False)
class FigurePoint:
    """A figure and its slope in the counts, (n_rules,); None where the way it was computed does not give it."""

    value: float
    slope: FloatArray | None


@dataclass(frozen=True, eq=False)
class Whitened:
    """What all rules have in common."""

    contrasts: Contrasts
    basis: FloatArray  # (rank, rank): W, on the contrasts.
    log_determinant: float  # log det I_everything.
    tolerance: float  # How far rounding may have moved a share of what complete labels tell.

    @property
    def blind(self) -> float:
        """Up to where a share is rounding."""
        return max(BLIND, self.tolerance)

    @cached_property
    def vectors(self) -> FloatArray:
        """W in free coordinates, (d, rank)."""
        return self.contrasts.lifted(self.basis)

    def carried(self, draws: FloatArray) -> FloatArray:
        r"""Standard normal directions in free coordinates, (d, n), as directions in the basis, (rank, n).

        With W = P O, P symmetric and O orthogonal, they become :math:`O' z`. Which sign an eigenvector has, and which
        basis stands for equal eigenvalues, is up to rounding; :math:`W D O' z` is the same for all of them.
        """
        return np.asarray(self._turn.T @ draws)

    @cached_property
    def _turn(self) -> FloatArray:
        left, _, right = scipy.linalg.svd(self.vectors, full_matrices=False)
        return np.asarray(left @ right)

    @cached_property
    def named(self) -> FloatArray:
        """J W: as changes of the named tables, (n_named, rank)."""
        return self.contrasts.coordinates.push(self.vectors)

    @cached_property
    def gram(self) -> FloatArray:
        return symmetrized(self.named.T @ self.named)

    def moved(self, matrices: FloatArray) -> FloatArray:
        """W' A W, for matrices in free coordinates, (.., d, d)."""
        return symmetrized(self.vectors.T @ matrices @ self.vectors)

    def left_out(self, criteria: list[Criterion], total: FloatArray, weights: dict[Weight, FloatArray]) -> FloatArray:
        """The figures of many totals near that of the whole, (n, rank, rank), with their own G: (n, n_criteria).

        Raises
        ------
        LinAlgError
            If one is not positive definite.
        """
        lower = np.linalg.cholesky(total)
        half = np.linalg.inv(lower)
        logarithms = 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        return np.stack(
            [
                -logarithms - self.log_determinant
                if criterion.weight is None
                else figure_of_root(criterion, half, weights[criterion.weight])
                for criterion in criteria
            ],
            axis=1,
        )


def figure_of_root(criterion: Criterion, half: FloatArray, weight: FloatArray) -> FloatArray:
    """A trace or a largest eigenvalue from R' = `half`, (.., rank, rank), and G."""
    middle = half @ weight @ np.swapaxes(half, -1, -2)
    if criterion.form == "largest":
        return np.asarray(np.linalg.eigvalsh(middle)[..., -1])
    return np.asarray(criterion.factor * np.trace(middle, axis1=-2, axis2=-1))


@dataclass(frozen=True, eq=False)
class PencilRules(Whitened):
    r"""Complete labels and none, diagonal at once: every design costs O(d).

    The generalized eigenproblem :math:`(I_{everything} - I_{nothing}) W = I_{everything} W \operatorname{diag}(\mu)`
    makes :math:`M = \operatorname{diag}(w_{everything} + w_{nothing} (1 - \mu))`, written without the cancellation
    that a :math:`\mu` of one and few labels would bring.
    """

    lost: FloatArray  # (rank,): The eigenvalues mu, ascending.
    everything: int  # Which of the two rules is that of complete labels.

    @classmethod
    def of(cls, contrasts: Contrasts, complete: FloatArray, missing: FloatArray, everything: int) -> "PencilRules":
        """Decompose; both matrices are (d, d).

        Raises
        ------
        SingularMatrixError
            If the complete information is singular.
        """
        pencil = Pencil.of(contrasts.restricted(missing), contrasts.restricted(complete))
        return cls(contrasts, pencil.vectors, pencil.log_determinant, pencil.tolerance, pencil.values, everything)

    @cached_property
    def arms(self) -> FloatArray:
        """The diagonals of the two rules, (2, rank)."""
        both = [np.ones_like(self.lost), 1 - self.lost]
        return np.stack(both if self.everything == 0 else both[::-1])

    def is_convex(self, criterion: Criterion) -> bool:
        """Whether G is positive semi-definite: observed information below the fitted fraction may not be."""
        return criterion.form != "trace" or bool(self._diagonal(criterion).min() >= -self.tolerance)

    def point(self, criterion: Criterion, counts: FloatArray) -> FigurePoint | None:
        """The figure of a design; None where its information is singular."""
        total = counts @ self.arms
        # Where there are labels rounding decides nothing: M is at least as much as theirs.
        least = 0.0 if counts[self.everything] > 0 else self.blind * float(counts.sum())
        if not total.min() > least:
            return None
        value, slope = self._figure(criterion, total)
        return FigurePoint(value, slope)

    def shares(self, weights: FloatArray, most: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Of what complete labels tell, ascending, and the first `most` directions on the contrasts, (rank, most)."""
        total = weights @ self.arms
        order = np.argsort(total, kind="stable")
        return total[order], self.basis[:, order[:most]]

    def values(self, criteria: list[Criterion], weights: FloatArray) -> FloatArray:
        """Of information that is positive definite."""
        return np.array([self._figure(criterion, weights @ self.arms)[0] for criterion in criteria])

    def _figure(self, criterion: Criterion, total: FloatArray) -> tuple[float, FloatArray]:
        inverse = 1 / total
        if criterion.form == "log det":
            return -float(np.log(total).sum()) - self.log_determinant, -(self.arms @ inverse)
        if criterion.form == "largest":
            half = self.named * np.sqrt(inverse)
            value, vector = largest_eigenvalue(lambda block: half.T @ (half @ block), len(total))
            return value, -value * (self.arms @ (inverse * np.square(vector)))
        weight = self._diagonal(criterion)
        return float(weight @ inverse), -(self.arms @ (weight * np.square(inverse)))

    def _diagonal(self, criterion: Criterion) -> FloatArray:
        """Of G of a trace, (rank,)."""
        if criterion.weight is Weight.NAMED:
            return criterion.factor * self._named_weights
        lost = self.lost
        diagonals = {Weight.COMPLETE: np.ones_like(lost), Weight.MISSING: lost, Weight.MARGINAL: 1 - lost}
        return criterion.factor * diagonals[criterion.weight or Weight.NAMED]

    @cached_property
    def _named_weights(self) -> FloatArray:
        return np.asarray(np.square(self.named).sum(axis=0))


@dataclass(frozen=True, eq=False)
class MatrixRules(Whitened):
    """Any rules: O(d^3) per design."""

    arms: FloatArray  # (n_rules, rank, rank)
    nothing: int  # Which of them is that without labels.

    @classmethod
    def of(cls, contrasts: Contrasts, matrices: FloatArray, everything: int, nothing: int) -> "MatrixRules":
        """Whiten matrices of shape (n_rules, d, d).

        Raises
        ------
        SingularMatrixError
            If that of complete labels is singular on the contrasts.
        """
        lower, condition = cholesky(contrasts.restricted(matrices[everything]))

        def whitened(matrix: FloatArray) -> FloatArray:
            half = scipy.linalg.solve_triangular(lower, contrasts.restricted(matrix), lower=True)
            return symmetrized(scipy.linalg.solve_triangular(lower, half.T, lower=True))

        basis = scipy.linalg.solve_triangular(lower, np.eye(len(lower)), lower=True, trans="T")
        tolerance = 16 * len(lower) * float(np.finfo(float).eps) / condition
        arms = np.stack([whitened(matrix) for matrix in matrices])
        return cls(contrasts, basis, 2 * float(np.log(np.diag(lower)).sum()), tolerance, arms, nothing)

    def is_convex(self, criterion: Criterion) -> bool:
        """Whether G is positive semi-definite: sampling may have made it indefinite."""
        if criterion.weight is None:
            return True
        smallest = scipy.linalg.eigvalsh(self._weights[criterion.weight], subset_by_index=[0, 0])[0]
        return bool(smallest >= -self.tolerance)

    def point(self, criterion: Criterion, counts: FloatArray) -> FigurePoint | None:
        """The figure of a design; None where its information is singular."""
        total = np.tensordot(counts, self.arms, axes=1)
        try:
            lower = scipy.linalg.cholesky(total, lower=True)
        except np.linalg.LinAlgError:
            return None
        norm = float(np.abs(total).sum(axis=0).max())
        if scipy.linalg.lapack.dpocon(lower, norm, uplo="L")[0] <= self.blind:
            return None
        # The BLAS's own inverse: the triangular solver of LAPACK wakes threads for the smallest matrix.
        half, _ = scipy.linalg.lapack.dtrtri(lower, lower=1)
        if criterion.weight is None:
            value = -2 * float(np.log(np.diag(lower)).sum()) - self.log_determinant
            return FigurePoint(value, -np.tensordot(self.arms, half.T @ half, axes=2))
        middle = half @ self._weights[criterion.weight] @ half.T
        if criterion.form == "largest":
            value, vector = _largest(symmetrized(middle))
            direction = half.T @ vector
            return FigurePoint(value, -value * ((self.arms @ direction) @ direction))
        slope = -criterion.factor * np.tensordot(self.arms, half.T @ middle @ half, axes=2)
        return FigurePoint(criterion.factor * float(np.trace(middle)), slope)

    def shares(self, weights: FloatArray, most: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Of what complete labels tell, ascending, and the first `most` directions on the contrasts, (rank, most)."""
        values, vectors = scipy.linalg.eigh(np.tensordot(weights, self.arms, axes=1))
        return values, self.basis @ vectors[:, :most]

    def values(self, criteria: list[Criterion], weights: FloatArray) -> FloatArray:
        """Of information that is positive definite."""
        shares, vectors = scipy.linalg.eigh(np.tensordot(weights, self.arms, axes=1))
        half = (vectors / np.sqrt(shares)).T
        return np.array(
            [
                -np.log(shares).sum() - self.log_determinant
                if criterion.weight is None
                else figure_of_root(criterion, half, self._weights[criterion.weight])
                for criterion in criteria
            ]
        )

    @cached_property
    def _weights(self) -> dict[Weight, FloatArray]:
        identity, seen = np.eye(len(self.basis)), self.arms[self.nothing]
        return {
            Weight.NAMED: self.gram,
            Weight.COMPLETE: identity,
            Weight.MISSING: identity - seen,
            Weight.MARGINAL: seen,
        }


def _largest(matrix: FloatArray) -> tuple[float, FloatArray]:
    """The largest eigenvalue and an eigenvector."""
    if len(matrix) > _FULL_DECOMPOSITION:
        return largest_eigenvalue(lambda block: matrix @ block, len(matrix))
    # All of them: where the largest ones are equal, as they are at an optimum, LAPACK may find none of a subset.
    values, vectors = np.linalg.eigh(matrix)
    return float(values[-1]), np.asarray(vectors[:, -1])
