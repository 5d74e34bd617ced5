"""Asymptotic accuracy from one information matrix per arm."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray, as_floats, require_shape
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.jackknife import Jackknife, leave_one_out
from labelworth.fisher.policy_figures import FIGURES
from labelworth.fisher.rule_information import RuleInformation
from labelworth.tradeoff.accuracy import Source
from labelworth.tradeoff.inverse_figure import FigurePoint, InverseFigure


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
    Paper: prop:efficiency2.
    """

    information: RuleInformation
    criterion: str
    chosen: tuple[int, ...] = ()
    held: FloatArray | None = None
    reason: str = "The information of every arm is known, so the error of every design follows."
    _last: dict[bytes, FigurePoint | None] = field(default_factory=dict, init=False, repr=False)

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
        return self._figure.is_convex

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
        left_out = np.array([replicate.error(counts) for replicate in replicates])
        noise = Jackknife.of(self.error(counts), left_out)
        return float(np.sqrt(noise.variance + noise.correction**2))

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """The parameters that change most along directions of which these counts tell nothing."""
        return self._figure.open_directions(self._checked(counts))

    @cached_property
    def _figure(self) -> InverseFigure:
        return InverseFigure(self.information, self.criterion, self.chosen, self.held)

    def _at(self, counts: FloatArray) -> FigurePoint | None:
        """The figure with its slope, kept for the next question about the same counts."""
        key = np.asarray(counts, dtype=np.float64).tobytes()
        if key not in self._last:
            point = self._figure.at(self._checked(counts))
            self._last.clear()
            self._last[key] = point
        return self._last[key]

    def _checked(self, counts: FloatArray) -> FloatArray:
        require_shape("counts", np.asarray(counts), (len(self.chosen),))
        return counts

    @cached_property
    def _replicates(self) -> tuple["MatrixAccuracy", ...]:
        """The same without one batch each."""
        batches = self.information.batches
        if batches is None:
            return ()
        return tuple(replace(self, information=self._without(mean)) for mean in leave_one_out(batches))

    def _without(self, matrices: FloatArray) -> RuleInformation:
        left = replace(self.information, matrices=matrices, batches=None)
        # The contrasts are those of the whole: a replicate that found others would be of another figure.
        left.__dict__["contrasts"] = self.information.contrasts
        return left
