"""Asymptotic accuracy: a criterion of the inverse of the information of all samples, held and new."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray, require_shape
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.fisher.criteria import Criterion, require_criterion
from labelworth.fisher.information import Information
from labelworth.fisher.whitened import FigurePoint
from labelworth.tradeoff.accuracy import Source


@dataclass(frozen=True, eq=False)
class AsymptoticAccuracy:
    r"""The criterion as a function of how many samples go to each arm.

    .. math::

        error(w) = \phi\Bigl(\bigl(\sum_j (h_j + (w S)_j) I_j\bigr)^{-1}\Bigr)

    with h the samples already held under every rule, S what one sample of every arm adds to these (one of its own
    rule; of an arm that asks more about a sample that is held, one under a rule for one under another), on the
    contrasts that complete labels can estimate. Convex in the counts for every criterion: a trace with a positive
    semi-definite weight, the log determinant, the largest eigenvalue.

    Notes
    -----
    Paper: prop:efficiency1, prop:efficiency2.
    """

    information: Information  # However it was computed.
    criterion: str  # A name of `labelworth.fisher.criteria.CRITERIA`.
    arms: tuple[str, ...] = ()  # What can be had; all rules when empty.
    steps: FloatArray | None = None  # (n_arms, n_rules): S. None: arms are rules, by name.
    held: tuple[float, ...] = ()  # Samples already there, by rule; none when empty.
    level: float = 0.0  # What the true model pays, where the figure is a loss as it will be measured.
    shift: float = 0.0  # Moves the figure on the scale on which noise adds, its logarithm: as convex as before.
    _last: dict[bytes, FigurePoint | None] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.information.require_criterion(require_criterion(self.criterion))
        rules = self.information.rules
        n_rules, arms = len(rules), self.arms or rules
        if len(set(arms)) < len(arms):
            raise InvalidInputError(f"Every arm needs a name of its own. Got {', '.join(arms)}.")
        object.__setattr__(self, "arms", arms)
        require_shape("steps", self._steps, (len(arms), n_rules))
        held = self.held or (0.0,) * n_rules
        if len(held) != n_rules or not all(np.isfinite(count) and count >= 0 for count in held):
            raise InvalidInputError(f"held must be a non-negative number for each of {n_rules} rules. Got {held}.")
        object.__setattr__(self, "held", held)

    @classmethod
    def of(
        cls,
        information: Information,
        criterion: str,
        *,
        menu: Sequence[str] | Mapping[str, Mapping[str, float]] | None = None,
        held: Mapping[str, float] | None = None,
        level: float = 0.0,
    ) -> "AsymptoticAccuracy":
        """Arms are the rules of `menu`, by name, all of them when absent; samples are held by rule.

        A menu may also say of every arm what one sample of it adds to the rules.

        Raises
        ------
        InvalidInputError
            If a rule is named whose information is not there.
        """
        rules, names = information.rules, information.rules if menu is None else tuple(menu)
        added = menu if isinstance(menu, Mapping) else {name: {name: 1.0} for name in names}
        named = [rule for own in added.values() for rule in own]
        absent = [name for name in (*named, *(held or ())) if name not in rules]
        if absent or not names:
            raise InvalidInputError(
                f"A menu takes its rules from: {', '.join(rules)}. Got {', '.join(absent or names) or 'nothing'}."
            )
        return cls(
            information,
            criterion,
            names,
            np.array([[added[name].get(rule, 0.0) for rule in rules] for name in names]),
            tuple(float((held or {}).get(name, 0.0)) for name in rules),
            level=level,
        )

    @property
    def labels_per_sample(self) -> FloatArray:
        """Expected labels of one sample of every arm."""
        return np.asarray(self._steps @ self.information.expected_labels)

    @property
    def source(self) -> Source:
        return "asymptotic"

    @property
    def is_convex(self) -> bool:
        """Whether that is a theorem; probes may bend a curve, and sampling make the weight of a trace indefinite."""
        return self.information.is_convex(self._criterion)

    @property
    def has_kinks(self) -> bool:
        """Where largest eigenvalues are equal, and where unused arms would learn the same unknown confusion."""
        return self._criterion.form == "largest" or bool(self.information.nuisance)

    def error(self, counts: FloatArray) -> float:
        """The criterion; infinite where the model is not identified, or that is not known."""
        point = self._at(counts)
        return np.inf if point is None else self.level + self._shifted(point.value)

    def slope(self, counts: FloatArray) -> FloatArray:
        r"""A (sub)gradient: :math:`-\operatorname{tr}(G M^{-1} I_j M^{-1})` for a trace.

        Where the largest eigenvalue is multiple, that of one of its eigenvectors: a subgradient.

        Raises
        ------
        NotIdentifiableError
            Where the error is infinite.
        InvalidInputError
            For the worst direction where its eigenvector is not known.
        """
        point = self._at(counts)
        if point is None:
            raise NotIdentifiableError(
                f"{np.asarray(counts).tolist()} more samples of {', '.join(self.arms)} do not pin the model down, so "
                "there is no slope.",
                self.open_directions(counts),
            )
        if point.slope is None:
            raise InvalidInputError(
                f"Information by {self.information.method} does not give the slope of the worst direction. Take "
                "another criterion, or search without a certificate."
            )
        slope = np.asarray(self._steps @ point.slope)
        return slope if self._criterion.is_logarithmic else slope * float(np.exp(self.shift))

    def standard_error(self, counts: FloatArray) -> float | None:
        """Of the figure, where the information was sampled; None if it is exact, infinite where the error is."""
        return self.information.standard_error(self._criterion, self._total(counts))

    def left_out(self, counts: FloatArray) -> FloatArray:
        """The figure without each batch of sampled information; empty if there are none."""
        return self.information.left_out(self._criterion, self._total(counts))

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """The parameters that change most along directions of which these counts tell nothing."""
        return self.information.open_directions(self._total(counts))

    def apart(self) -> "AsymptoticAccuracy":
        """The same, sharing nothing that is written to: for another thread."""
        return replace(self)

    @cached_property
    def _steps(self) -> FloatArray:
        rules = self.information.rules
        return np.eye(len(rules))[[rules.index(arm) for arm in self.arms]] if self.steps is None else self.steps

    @cached_property
    def _criterion(self) -> Criterion:
        return require_criterion(self.criterion)

    def _shifted(self, value: float) -> float:
        return value + self.shift if self._criterion.is_logarithmic else value * float(np.exp(self.shift))

    def _at(self, counts: FloatArray) -> FigurePoint | None:
        """The figure with its slope, kept for the next question about the same counts."""
        key = np.asarray(counts, dtype=np.float64).tobytes()
        if key not in self._last:
            point = self.information.point(self._criterion, self._total(counts))
            self._last.clear()
            self._last[key] = point
        return self._last[key]

    def _total(self, counts: FloatArray) -> FloatArray:
        """Held and new, by rule."""
        require_shape("counts", np.asarray(counts), (len(self.arms),))
        return np.asarray(np.array(self.held) + counts @ self._steps)
