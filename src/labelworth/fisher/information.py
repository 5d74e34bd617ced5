"""What every way of computing information offers: figures of designs over labeling rules."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray, as_floats, require_between
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.criteria import CRITERIA, Criterion, Estimate, require_n_samples
from labelworth.fisher.directions import WeakDirection
from labelworth.fisher.whitened import FigurePoint

DOCUMENT_RULES = ("everything", "nothing")
"""The rules of single samples: labeled or not. A labeled fraction f is the weights (f, 1 - f)."""


@dataclass(frozen=True)
class Figures:
    """What is known of one sample under one policy."""

    is_identifiable: bool  # Whether the information is positive definite on the estimable contrasts.
    # Of what complete labels would tell, in the weakest direction; None where that was not computed.
    smallest_share: float | None
    values: Mapping[str, float]  # By the names in `CRITERIA`; NaN where the policy is not identifiable.
    errors: Mapping[str, float]  # Standard errors; empty if figures are exact.
    weak_directions: tuple[WeakDirection, ...] | None  # None where they were not looked for.
    refusal: str | None = None  # Why nothing is known.

    @classmethod
    def refused(cls, refusal: str) -> "Figures":
        """Of a policy of which the draws do not tell enough."""
        nothing = dict.fromkeys(CRITERIA, float("nan"))
        return cls(False, None, nothing, nothing, None, refusal)

    def relative_errors(self, n_directions: int, rounding: float = 0.0) -> dict[str, float]:
        """Standard errors of the criteria relative to their figures; that of the log volume per direction.

        Where labels hardly matter an excess log-loss is no more than `rounding` per direction: no draw tells more.
        """
        ratios, least = {}, rounding * n_directions
        for name, criterion in CRITERIA.items():
            error = self.errors.get(name, 0.0)
            scale = n_directions if criterion.is_logarithmic else abs(self.values.get(name, 0.0))
            if error > (0.0 if criterion.factor == 1 else least):
                ratios[name] = error / scale
        return ratios


class GivesFigures(Protocol):
    """What a table of answers needs."""

    @property
    def n_parameters(self) -> int:
        """The number of free coordinates, d."""

    @property
    def n_estimable(self) -> int:
        """How many independent directions of them can be estimated at all."""

    @property
    def method(self) -> str:
        """How it was computed: enumeration, formula, sampling, observed or matrix-free."""

    def figures(self, weights: FloatArray) -> Figures:
        """Everything about one policy.

        Raises
        ------
        MoreSamplesNeededError
            If the draws do not tell whether the policy is identifiable.
        """

    def notes(self, figures: Sequence[Figures], relative_error: float) -> list[str]:
        """What a reader should know of figures whose standard errors were to be `relative_error` of them."""


class Information(GivesFigures, Protocol):
    r"""The information of one sample under every rule, and so of every design.

    .. math:: M(w) = \sum_j w_j I_j

    for w samples of every rule; of a policy the w are probabilities.
    """

    @property
    def rules(self) -> tuple[str, ...]:
        """What the rules are called, complete labels and none among them."""

    @property
    def everything(self) -> int:
        """The index of complete labels among the rules."""

    @property
    def nothing(self) -> int:
        """The index of no labels among them."""

    @property
    def nuisance(self) -> tuple[str, ...]:
        """What rules bring that is estimated without being asked for, as the confusion of a channel, by name."""

    @property
    def expected_labels(self) -> FloatArray:
        """Labels per sample under every rule, (n_rules,)."""

    @property
    def n_replicates(self) -> int:
        """How many batches, each left out in turn, tell of bias and noise; 0 if there are none."""

    def require_criterion(self, criterion: Criterion) -> None:
        """Refuse a criterion that this way of computing cannot give."""

    def is_convex(self, criterion: Criterion) -> bool:
        """Whether the figure is convex in the counts, as a theorem."""

    def point(self, criterion: Criterion, counts: FloatArray) -> FigurePoint | None:
        """The figure of a design with its slope, both plugged in; None where the model is not identified."""

    def left_out(self, criterion: Criterion, counts: FloatArray) -> FloatArray:
        """The figure without each batch, (n_replicates,)."""

    def standard_error(self, criterion: Criterion, counts: FloatArray) -> float | None:
        """Of the figure of a design; None where it is exact, infinite where the model is not identified."""

    def estimate(self, criterion: Criterion, weights: FloatArray) -> tuple[float, float | None]:
        """The figure of one sample without the bias of sampling, and its standard error; NaN if not identified."""

    def exchange_rate(self, criterion: Criterion, weights: FloatArray) -> tuple[float, float | None]:
        """How many unlabeled samples take as much off a trace as a labeled one, and its standard error."""

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """What a design leaves open, by the names of the parameters; empty if nothing, or if it is not known."""


def draw_notes(n_drawn: int, needed: int, relative_error: float) -> list[str]:
    """That standard errors are larger than was asked for; nothing if they are not."""
    if needed <= n_drawn:
        return []
    return [
        f"After {n_drawn} draws some standard errors exceed {relative_error:.2g} of their figure; about {needed} "
        "draws would do."
    ]


def draws_needed(
    figures: Sequence[Figures],
    n_drawn: int,
    n_directions: int,
    relative_error: float,
    *,
    rounding: float = 0.0,
    criteria: Collection[str] = tuple(CRITERIA),
) -> int:
    """How many draws bring every figure's standard error down to `relative_error`; `n_drawn` if it is there."""
    relative = [item.relative_errors(n_directions, rounding) for item in figures if item.is_identifiable]
    ratios = [ratio for item in relative for name, ratio in item.items() if name in criteria]
    return int(np.ceil(n_drawn * max(1.0, (max(ratios, default=0.0) / relative_error) ** 2)))


def figures_or_refusal(information: GivesFigures, weights: FloatArray) -> Figures:
    """Everything about one policy, or why nothing is known."""
    try:
        return information.figures(weights)
    except MoreSamplesNeededError as error:
        return Figures.refused(str(error))


def of_fraction(fraction: float) -> FloatArray:
    """The weights of `DOCUMENT_RULES`."""
    return np.array([fraction, 1 - fraction])


def require_fractions(fractions: ArrayLike) -> FloatArray:
    """Labeled fractions as an array; refuse numbers that are no fractions."""
    values = as_floats("labeled_fractions", fractions, ndim=1)
    if not values.size:
        raise InvalidInputError("labeled_fractions must not be empty; for example [1, 0.5, 0.1].")
    for value in values:
        require_between("A labeled_fraction", float(value), 0.0, 1.0)
    return values


def over_fractions(
    information: Information, criterion: str, fractions: FloatArray, *, n_samples: float = 1.0
) -> Estimate:
    """One criterion of n samples at every labeled fraction: of Cov = I(f)^-1 / n.

    Paper: prop:efficiency1.
    """
    kind, n = CRITERIA[criterion], require_n_samples(n_samples)
    pairs = [information.estimate(kind, of_fraction(fraction)) for fraction in require_fractions(fractions)]
    values = np.array([kind.of_samples(value, n, information.n_estimable) for value, _ in pairs])
    errors = [kind.error_of_samples(error, n) for _, error in pairs if error is not None]
    return Estimate(values, np.array(errors) if errors else None)
