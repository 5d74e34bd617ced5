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
from labelworth.errors import MoreSamplesNeededError
from labelworth.fisher.contrasts import Contrasts
from labelworth.fisher.criteria import Criterion, Weight
from labelworth.linalg.symmetric import Pencil, cholesky, equilibration, largest_eigenvalue, symmetrized

BLIND = 1e-10
"""A direction of which samples tell less than this share of complete labels is taken for open: it is rounding."""

NUISANCE_BLIND = 1.5e-8
"""The same where nuisance parameters are estimated too: the root of a double's precision, as squares are known."""

_FULL_DECOMPOSITION = 200

_UNSEEN = 1e-14
"""A nuisance direction with less than this, at unit diagonal, times their number, is rounding of one nobody sees.

Low: what is kept though it is rounding adds rounding, what is dropped though it is real claims what is not known."""

_ROUNDINGS = 32
"""So many units in the last place, times the number of parameters, may be lost in sums."""

_BELOW_ZERO = 1e-9
"""An eigenvalue at unit diagonal below minus this is no rounding."""


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

    def blind_at(self, counts: FloatArray) -> float:
        """Up to where a share of a design, relative to its samples, is rounding."""
        return self.blind

    @property
    def n_nuisance(self) -> int:
        """How many parameters, behind those of the model, are estimated without being asked for."""
        return 0

    def moved(self, matrices: FloatArray) -> FloatArray:
        """W' A W, for matrices in free coordinates, (.., d, d), nuisance parameters as they are."""
        vectors = scipy.linalg.block_diag(self.vectors, np.eye(self.n_nuisance))
        return symmetrized(vectors.T @ matrices @ vectors)

    def told(self, totals: FloatArray) -> FloatArray:
        """What whitened totals, (n, rank + p, rank + p), tell of the model's own parameters, (n, rank, rank)."""
        if not self.n_nuisance:
            return totals
        return np.stack([without_nuisance(total, len(self.basis))[0] for total in totals])

    def direction(self, counts: FloatArray, vector: FloatArray) -> FloatArray:
        """A direction on the contrasts, (rank,), in free coordinates; nuisance parameters give way as they like."""
        return self.contrasts.lifted(vector[:, None])[:, 0]

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
    r"""Any rules: O(d^3) per design.

    Where rules bring p nuisance parameters of their own, such as the confusion of a channel, their matrices are of
    the model's parameters and those, and M is what is left of the model's when the others are estimated too; see
    `without_nuisance`. With K as there, :math:`\partial M / \partial w_j = (1, -K')\, I_j\, (1, -K')'`.
    """

    arms: FloatArray  # (n_rules, rank + p, rank + p)
    nothing: int  # Which of them is that without labels.
    everything: int  # Which of them is that of complete labels.

    @classmethod
    def of(cls, contrasts: Contrasts, matrices: FloatArray, everything: int, nothing: int) -> "MatrixRules":
        """Whiten matrices of shape (n_rules, d + p, d + p).

        Raises
        ------
        SingularMatrixError
            If that of complete labels is singular on the contrasts.
        """
        lower, condition = cholesky(
            contrasts.restricted(matrices[everything][: len(contrasts.basis), : len(contrasts.basis)])
        )

        d = len(contrasts.basis)

        def whitened(matrix: FloatArray) -> FloatArray:
            half = scipy.linalg.solve_triangular(lower, contrasts.restricted(matrix[:d, :d]), lower=True)
            own = symmetrized(scipy.linalg.solve_triangular(lower, half.T, lower=True))
            if len(matrix) == d:
                return own
            mixed = scipy.linalg.solve_triangular(lower, contrasts.basis.T @ matrix[:d, d:], lower=True)
            return np.block([[own, mixed], [mixed.T, symmetrized(matrix[d:, d:])]])

        basis = scipy.linalg.solve_triangular(lower, np.eye(len(lower)), lower=True, trans="T")
        tolerance = 16 * len(lower) * float(np.finfo(float).eps) / condition
        arms = np.stack([whitened(matrix) for matrix in matrices])
        log_determinant = 2 * float(np.log(np.diag(lower)).sum())
        return cls(contrasts, basis, log_determinant, tolerance, arms, nothing, everything)

    def is_convex(self, criterion: Criterion) -> bool:
        """Whether G is positive semi-definite: sampling may have made it indefinite."""
        if criterion.weight is None:
            return True
        smallest = scipy.linalg.eigvalsh(self._weights[criterion.weight], subset_by_index=[0, 0])[0]
        return bool(smallest >= -self.tolerance)

    def point(self, criterion: Criterion, counts: FloatArray) -> FigurePoint | None:
        """The figure of a design; None where its information is singular."""
        root = self.root(counts)
        if root is None:
            return None
        lower, half, arms = root
        if criterion.weight is None:
            value = -2 * float(np.log(np.diag(lower)).sum()) - self.log_determinant
            return FigurePoint(value, -np.tensordot(arms, half.T @ half, axes=2))
        middle = half @ self._weights[criterion.weight] @ half.T
        if criterion.form == "largest":
            value, vector = _largest(symmetrized(middle))
            direction = half.T @ vector
            return FigurePoint(value, -value * ((arms @ direction) @ direction))
        slope = -criterion.factor * np.tensordot(arms, half.T @ middle @ half, axes=2)
        return FigurePoint(criterion.factor * float(np.trace(middle)), slope)

    def root(self, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """M = L L' of a design, the inverse of L, and what M gains with every count; None where M is singular."""
        try:
            total, arms = self._told(counts)
            lower = scipy.linalg.cholesky(total, lower=True)
        except (np.linalg.LinAlgError, MoreSamplesNeededError):
            return None
        norm = float(np.abs(total).sum(axis=0).max())
        # Where there are complete labels the share is at least theirs, whatever rounding does to the rest.
        blind = self.blind if counts[self.everything] > 0 else self.blind_at(counts)
        if scipy.linalg.lapack.dpocon(lower, norm, uplo="L")[0] <= blind:
            return None
        # The BLAS's own inverse: the triangular solver of LAPACK wakes threads for the smallest matrix.
        return lower, scipy.linalg.lapack.dtrtri(lower, lower=1)[0], arms

    def shares(self, weights: FloatArray, most: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Of what complete labels tell, ascending, and the first `most` directions on the contrasts, (rank, most)."""
        values, vectors = scipy.linalg.eigh(self._told(weights)[0])
        return values, self.basis @ vectors[:, :most]

    def values(self, criteria: list[Criterion], weights: FloatArray) -> FloatArray:
        """Of information that is positive definite."""
        shares, vectors = scipy.linalg.eigh(self._told(weights)[0])
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
        rank = len(self.basis)
        identity, seen = np.eye(rank), self.arms[self.nothing][:rank, :rank]
        return {
            Weight.NAMED: self.gram,
            Weight.COMPLETE: identity,
            Weight.MISSING: identity - seen,
            Weight.MARGINAL: seen,
        }

    @property
    def n_nuisance(self) -> int:
        """How many parameters the rules bring."""
        return int(self.arms.shape[1] - len(self.basis))

    def direction(self, counts: FloatArray, vector: FloatArray) -> FloatArray:
        """With the nuisance parameters behind."""
        own = super().direction(counts, vector)
        return own if not self.n_nuisance else np.concatenate([own, -self._given_way(counts)[1] @ vector])

    def blind_at(self, counts: FloatArray) -> float:
        """More where what is known of nuisance parameters is nearly nothing."""
        if not self.n_nuisance:
            return self.blind
        total = np.tensordot(counts, self.arms, axes=1)
        follow = without_nuisance(total, len(self.basis))[1]
        return max(
            NUISANCE_BLIND,
            self.blind,
            rounding_share(follow, total[len(self.basis) :, len(self.basis) :], counts.sum()),
        )

    def _told(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What a design tells of the model's parameters, (rank, rank), and its slope in the counts, stacked."""
        if not self.n_nuisance:
            return np.tensordot(counts, self.arms, axes=1), self.arms
        rank = len(self.basis)
        total, follow = self._given_way(counts)
        crossed = self.arms[:, :rank, rank:] @ follow
        inner = follow.T @ self.arms[:, rank:, rank:] @ follow
        return total, self.arms[:, :rank, :rank] - crossed - np.swapaxes(crossed, 1, 2) + inner

    def _given_way(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        total = np.tensordot(counts, self.arms, axes=1)
        return without_nuisance(total, len(self.basis), self.arms.mean(axis=0))


def _largest(matrix: FloatArray) -> tuple[float, FloatArray]:
    """The largest eigenvalue and an eigenvector."""
    if len(matrix) > _FULL_DECOMPOSITION:
        return largest_eigenvalue(lambda block: matrix @ block, len(matrix))
    # All of them: where the largest ones are equal, as they are at an optimum, LAPACK may find none of a subset.
    values, vectors = np.linalg.eigh(matrix)
    return float(values[-1]), np.asarray(vectors[:, -1])


def without_nuisance(
    total: FloatArray, n_own: int, further: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    r"""What information of (own, nuisance) parameters leaves of the own ones when the others are estimated too.

    .. math::

        \begin{pmatrix} A & B \\ B' & C \end{pmatrix} \mapsto A - B K, \qquad K = C^+ B'

    the Schur complement on the range of C: its inverse is the own block of the inverse, and a nuisance parameter of
    which nothing is seen costs nothing.

    Parameters
    ----------
    total : array of shape (n_own + p, n_own + p)
        Positive semi-definite.
    n_own : int
    further : array like total, optional
        What a few more samples would add. Along what C does not see K is any number; it is chosen so that these few
        tell least, which is the limit of their going to zero. The slope with that K is a subgradient, and the
        derivative where only one sort of new samples sees those parameters.

    Returns
    -------
    told : array of shape (n_own, n_own)
    follow : array of shape (p, n_own)
        K: by how much the nuisance parameters follow when the own ones move.

    Raises
    ------
    MoreSamplesNeededError
        If sampling has left C with a negative eigenvalue.
    """
    own, mixed = total[:n_own, :n_own], total[:n_own, n_own:]
    inverse, null = inverse_on_range(total[n_own:, n_own:])
    follow = inverse @ mixed.T
    told = symmetrized(own - mixed @ follow)
    if further is not None:
        follow = followed(follow, null, further[n_own:, :n_own], further[n_own:, n_own:])
    return told, follow


def rounding_share(follow: FloatArray, rest: FloatArray, n_samples: float) -> float:
    r"""How far rounding may have moved a Schur complement, as a share of what n labeled samples tell.

    To first order :math:`\delta(A - B K) = \delta A - \delta B K - K' \delta B' + K' \delta C K`, and with C at unit
    diagonal its rounding is that of ones.
    """
    reach = np.linalg.norm(np.sqrt(np.diag(rest).clip(0.0))[:, None] * follow, 2) if follow.size else 0.0
    return float(_ROUNDINGS * len(rest) * np.finfo(float).eps * reach**2 / n_samples)


def inverse_on_range(information: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The inverse of the information of nuisance parameters where it sees them, and the directions that it does not.

    Raises
    ------
    MoreSamplesNeededError
        If it has a negative eigenvalue.
    """
    factors = equilibration(information)
    values, vectors = np.linalg.eigh(symmetrized(information * factors * factors[:, None]))
    if values.min(initial=0.0) < -_BELOW_ZERO:
        raise MoreSamplesNeededError(
            "The draws do not tell how well the answers of a channel can be estimated: its sampled information is "
            f"not positive ({values[0]:.2g} of the largest). Draw more, or use method='enumeration' if the model is "
            "small."
        )
    vectors = vectors * factors[:, None]
    is_seen = values > _UNSEEN * len(values)
    seen = vectors[:, is_seen]
    return (seen / values[is_seen]) @ seen.T, vectors[:, ~is_seen]


def followed(follow: FloatArray, null: FloatArray, mixed: FloatArray, rest: FloatArray) -> FloatArray:
    """K, (p, n_own), along unseen directions such that samples with these blocks tell least; `without_nuisance`."""
    if not null.size:
        return follow
    wanted = null.T @ (mixed - rest @ follow)
    return follow + null @ np.linalg.lstsq(null.T @ rest @ null, wanted, rcond=1e-12)[0]
