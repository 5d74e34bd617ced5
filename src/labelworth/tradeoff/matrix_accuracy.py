"""Asymptotic accuracy from one information matrix per arm."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray, as_floats, require_shape
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.policy_figures import BLIND, FIGURES
from labelworth.fisher.rule_information import RuleInformation
from labelworth.linalg.symmetric import SingularMatrixError, cholesky, largest_eigenvalue, symmetrized
from labelworth.tradeoff.accuracy import Source

_MOST_DIRECTIONS = 6
_FULL_DECOMPOSITION = 200


@dataclass(frozen=True, eq=False)
class MatrixAccuracy:
    r"""The criterion of the inverse of the information of all samples, held and new.

    .. math::

        error(w) = \phi\Bigl(\bigl(M_{held} + \sum_j w_j I_j\bigr)^{-1}\Bigr)

    on the contrasts that complete labels can estimate. Convex in the counts for every criterion it offers: a trace
    with a positive semi-definite weight, the log determinant, the largest eigenvalue.

    Attributes
    ----------
    information : RuleInformation
        One matrix per rule.
    criterion : str
        A name of `labelworth.criteria.asymptotic.CRITERIA`.
    chosen : tuple of int
        The places of the arms among the rules; all rules when empty.
    held : array of shape (d, d), optional
        Information already there, of pilot labels, unlabeled samples or a prior, in free coordinates.
    reason : str
        Why asymptotic accuracy, in words.

    Notes
    -----
    Everything is computed in coordinates in which complete labels carry the identity: O(d^3) per evaluation.

    Paper: prop:efficiency2.
    """

    information: RuleInformation
    criterion: str
    chosen: tuple[int, ...] = ()
    held: FloatArray | None = None
    reason: str = "The information of every arm is known, so the error of every design follows."
    _last: dict[bytes, "_Point | None"] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.criterion not in FIGURES:
            raise InvalidInputError(f"criterion must be one of {', '.join(FIGURES)}. Got {self.criterion!r}.")
        n_rules, d = len(self.information.rules), self.information.n_parameters
        chosen = self.chosen or tuple(range(n_rules))
        if len(set(chosen)) < len(chosen) or not set(chosen) <= set(range(n_rules)):
            raise InvalidInputError(f"chosen must be distinct places of {n_rules} rules. Got {self.chosen}.")
        object.__setattr__(self, "chosen", chosen)
        if self.held is not None:
            held = as_floats("held", self.held, ndim=2)
            require_shape("held", held, (d, d))
            object.__setattr__(self, "held", held)

    @classmethod
    def of_rules(
        cls,
        information: RuleInformation,
        criterion: str,
        *,
        menu: Sequence[str] | None = None,
        held: FloatArray | None = None,
    ) -> "MatrixAccuracy":
        """Arms are the rules of `menu`, by name; all of them when absent.

        Raises
        ------
        InvalidInputError
            If the menu names a rule whose information is not there.
        """
        names = information.rules if menu is None else tuple(menu)
        absent = [name for name in names if name not in information.rules]
        if absent or not names:
            listed = ", ".join(information.rules)
            raise InvalidInputError(f"A menu takes its rules from: {listed}. Got {', '.join(names) or 'nothing'}.")
        return cls(information, criterion, tuple(information.rules.index(name) for name in names), held)

    @classmethod
    def of_fractions(
        cls,
        information: FractionInformation,
        criterion: str,
        *,
        held_labeled: float = 0.0,
        held_unlabeled: float = 0.0,
    ) -> "MatrixAccuracy":
        """Classification: the arms "everything" (a labeled example) and "nothing" (an unlabeled one)."""
        complete, batches = information.complete, information.missing_batches
        matrices = np.stack([complete, complete - information.missing])
        stacked = (
            None if batches is None else np.stack([np.broadcast_to(complete, batches.shape), complete - batches], 1)
        )
        rules = RuleInformation(
            information.coordinates,
            ("everything", "nothing"),
            matrices,
            0,
            1,
            np.array([1.0, 0.0]),
            information.method,
            stacked,
        )
        return cls(rules, criterion, held=held_labeled * matrices[0] + held_unlabeled * matrices[1])

    @property
    def arms(self) -> tuple[str, ...]:
        """The rules on the menu."""
        return tuple(self.information.rules[place] for place in self.chosen)

    @property
    def labels_per_sample(self) -> FloatArray:
        """Expected labels of one sample of every arm."""
        return self.information.expected_labels[list(self.chosen)]

    @property
    def source(self) -> Source:
        """Asymptotic."""
        return "asymptotic"

    @property
    def is_convex(self) -> bool:
        """Yes, unless sampling made the weight matrix of a trace indefinite."""
        if self._weight is None:
            return True
        return bool(scipy.linalg.eigvalsh(self._weight, subset_by_index=[0, 0])[0] >= -self._tolerance)

    def error(self, counts: FloatArray) -> float:
        """The criterion; infinite where the information is singular."""
        point = self._at(counts)
        return np.inf if point is None else point.value

    def slope(self, counts: FloatArray) -> FloatArray:
        r"""A (sub)gradient: :math:`-\operatorname{tr}(G M^{-1} I_j M^{-1})` for a trace.

        Where the largest eigenvalue is multiple, that of one of its eigenvectors: a subgradient.

        Raises
        ------
        NotIdentifiableError
            Where the error is infinite.
        """
        point = self._at(counts)
        if point is None:
            raise NotIdentifiableError(
                "These counts do not pin the model down, so there is no slope.", self.open_directions(counts)
            )
        return point.slope

    def standard_error(self, counts: FloatArray) -> float | None:
        """By the jackknife over the batches of sampled information; None if it is exact."""
        replicates = self._replicates
        if not replicates:
            return None
        figure, count = self.error(counts), len(replicates)
        left_out = np.array([replicate.error(counts) for replicate in replicates])
        correction = (count - 1) * (figure - left_out.mean())
        return float(np.sqrt((count - 1) ** 2 / count * left_out.var(ddof=1) + correction**2))

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """The parameters that change most along directions of which these counts tell nothing."""
        values, vectors = scipy.linalg.eigh(self._total(counts))
        is_open = values <= self._blind * max(float(values[-1]), 0.0)
        whitened = scipy.linalg.solve_triangular(self._factor[0], vectors[:, is_open], lower=True, trans="T")
        directions = self.information.contrasts.basis @ whitened
        places = np.argmax(np.abs(directions), axis=0)[:_MOST_DIRECTIONS] if directions.size else []
        return tuple(dict.fromkeys(self.information.coordinates.name(int(place)) for place in places))

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
        require_shape("counts", np.asarray(counts), (len(self.chosen),))
        total: FloatArray = self._held + np.tensordot(counts, self._arms, axes=1)
        return total

    def _at(self, counts: FloatArray) -> "_Point | None":
        """The figure with its slope, kept for the next question about the same counts."""
        key = np.asarray(counts, dtype=np.float64).tobytes()
        if key not in self._last:
            point = self._computed(self._total(counts))
            self._last.clear()
            self._last[key] = point
        return self._last[key]

    def _computed(self, total: FloatArray) -> "_Point | None":
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
            return _Point(-log_determinant, -np.tensordot(self._arms, half.T @ half, axes=2))
        middle = half @ self._weight @ half.T
        if self.criterion == "worst_direction":
            value, vector = _largest(symmetrized(middle))
            direction = half.T @ vector
            return _Point(value, -value * ((self._arms @ direction) @ direction))
        return _Point(float(np.trace(middle)), -np.tensordot(self._arms, half.T @ middle @ half, axes=2))

    @cached_property
    def _replicates(self) -> tuple["MatrixAccuracy", ...]:
        """The same without one batch each."""
        batches = self.information.batches
        if batches is None:
            return ()
        means = (batches.sum(axis=0) - batches) / (len(batches) - 1)
        return tuple(replace(self, information=self._without(mean)) for mean in means)

    def _without(self, matrices: FloatArray) -> RuleInformation:
        left = replace(self.information, matrices=matrices, batches=None)
        # The contrasts are those of the whole: a replicate that found others would be of another figure.
        left.__dict__["contrasts"] = self.information.contrasts
        return left


def _largest(matrix: FloatArray) -> tuple[float, FloatArray]:
    """The largest eigenvalue and an eigenvector."""
    if len(matrix) > _FULL_DECOMPOSITION:
        return largest_eigenvalue(lambda block: matrix @ block, len(matrix))
    # All of them: where the largest ones are equal, as they are at an optimum, LAPACK may find none of a subset.
    values, vectors = np.linalg.eigh(matrix)
    return float(values[-1]), np.asarray(vectors[:, -1])


@dataclass(frozen=True, eq=False)
class _Point:
    """A figure and its slope."""

    value: float
    slope: FloatArray
