"""What samples are worth, at every labeled fraction or under every policy: figures to read, print and store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.by_fraction import FractionInformation
from labelworth.fisher.choice import Chosen
from labelworth.fisher.criteria import CRITERIA, require_n_samples
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.directions import WeakDirection
from labelworth.fisher.information import Figures, GivesFigures, figures_or_refusal, of_fraction

EXCHANGE_RATES: Mapping[str, str] = {
    "unlabeled_per_labeled_example": "unlabeled samples per labeled one",
    "unlabeled_per_label": "unlabeled samples per label",
}
"""At the margin of the total variance: how many unlabeled samples do as much good as one more labeled one, and as a
label on a sample already there, one less; in words."""


@dataclass(frozen=True)
class Asked:
    """A labeled fraction, a policy, or a design over kinds of answers."""

    weights: FloatArray  # (n_rules,): Of all rules whose information is known.
    expected_labels: float  # Labels per sample.
    labeled_fraction: float | None = None  # Of single samples.
    policy: str | None = None  # Of sequences, and of designs: how it is written.
    is_design: bool = False  # Whether the rules are kinds of answers to single samples.
    n_listed: int = 2  # How many rules were asked for; the first of all.

    @classmethod
    def of_fraction(cls, fraction: float) -> "Asked":
        """Single samples, a fraction of them labeled."""
        return cls(of_fraction(fraction), fraction, fraction)

    @classmethod
    def of_design(cls, weights: FloatArray, names: Sequence[str], n_answers: FloatArray) -> "Asked":
        """Single samples, shares of them answered in every way."""
        words = " + ".join(f"{share:g} {name}" for share, name in zip(weights, names, strict=True) if share > 0)
        return cls(weights, float(weights @ n_answers), policy=words, is_design=True, n_listed=len(names))

    def __str__(self) -> str:
        return f"labeled fraction {self.labeled_fraction:g}" if self.policy is None else self.policy


@dataclass(frozen=True)
class InformationPoint:
    """Everything about one labeled fraction, or one policy."""

    asked: Asked
    is_identifiable: bool  # Whether the information is positive definite on the estimable contrasts.
    # In the weakest direction, the share of what complete labels would tell; None where that was not computed.
    smallest_share: float | None
    # Criteria of Cov = I^-1 / n by name; None where the model is not identifiable, or a figure is infinite.
    figures: Mapping[str, float | None]
    standard_errors: Mapping[str, float | None]  # Of the sampled figures; empty if they are exact.
    # What the labels leave open or nearly so; None where they were not looked for.
    weak_directions: tuple[WeakDirection, ...] | None
    refusal: str | None = None  # Why there are no figures, where too few draws are to blame.

    @property
    def labeled_fraction(self) -> float:
        """Of single samples; of sequences, the share that is labeled whole or in part has no one name."""
        if self.asked.labeled_fraction is None:
            kind = "design" if self.asked.is_design else "policy"
            raise InvalidInputError(f"This point is a {kind} ({self.asked}); a {kind} has no labeled fraction.")
        return self.asked.labeled_fraction

    @property
    def policy(self) -> str:
        """How the policy is written."""
        return str(self.asked)

    @property
    def expected_labels(self) -> float:
        return self.asked.expected_labels

    @property
    def weights(self) -> tuple[float, ...]:
        """Of every rule that was listed, in that order."""
        return tuple(self.asked.weights[: self.asked.n_listed].tolist())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; a sampled figure ``x`` stands beside ``x_se``."""
        values: dict[str, Any] = {}
        if self.asked.policy is None:
            values["labeled_fraction"] = self.asked.labeled_fraction
        elif self.asked.is_design:
            values |= {"design": list(self.weights), "smallest_relative_information": self.smallest_share}
        else:
            values |= {"policy": self.asked.policy, "weights": list(self.weights)}
            values["smallest_relative_information"] = self.smallest_share
        counted = "expected_answers_per_sample" if self.asked.is_design else "expected_labels_per_sample"
        values |= {counted: self.expected_labels, "identifiable": self.is_identifiable}
        for name, figure in self.figures.items():
            values[name] = figure
            if name in self.standard_errors:
                values[f"{name}_se"] = self.standard_errors[name]
        directions = self.weak_directions
        values["weak_directions"] = None if directions is None else [_plain(direction) for direction in directions]
        return values


@dataclass(frozen=True)
class InformationTable:
    """The answer of `information`."""

    points: tuple[InformationPoint, ...]  # One per labeled fraction, policy or design, in the order asked for.
    n_samples: float  # Samples, or sequences.
    method: str  # How the information was computed.
    reason: str  # Why so.
    notes: tuple[str, ...]  # What a reader should know.
    information: GivesFigures  # For further questions.

    @property
    def is_of_sequences(self) -> bool:
        """Whether points are policies."""
        return self.points[0].asked.policy is not None and not self.is_of_designs

    @property
    def is_of_designs(self) -> bool:
        """Whether points are designs over kinds of answers."""
        return self.points[0].asked.is_design

    @property
    def is_identifiable(self) -> bool:
        """Whether at least one point is."""
        return any(point.is_identifiable for point in self.points)

    @property
    def n_parameters(self) -> int:
        """The number of free coordinates."""
        return self.information.n_parameters

    @property
    def n_estimable(self) -> int:
        """The number of directions of them that can be estimated at all."""
        return self.information.n_estimable

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        sizes = {"n_parameters": self.n_parameters}
        if self.is_of_sequences:
            sizes["n_estimable"] = self.n_estimable
        return {
            "method": self.method,
            "method_reason": self.reason,
            "n_samples": self.n_samples,
            **sizes,
            "notes": list(self.notes),
            "points": [point.to_dict() for point in self.points],
        }

    def matrices(self) -> dict[str, Any]:
        """The information with the names of the parameters, in free coordinates.

        Of single samples complete, missing and marginal; of sequences that of every rule, and of designs that of
        every kind of answer, where the parameters of channels that are estimated stand behind those of the model.
        """
        dense = self.dense
        names: dict[str, Any] = {"parameters": dense.parameter_names}
        if self.is_of_sequences or self.is_of_designs:
            named = {rule: matrix.tolist() for rule, matrix in zip(dense.rules, dense.matrices, strict=True)}
            return names | {"kinds" if self.is_of_designs else "rules": named}
        return names | {
            "complete": dense.complete.tolist(),
            "missing": dense.missing.tolist(),
            "marginal": (dense.complete - dense.missing).tolist(),
        }

    def information_of(self, point: InformationPoint) -> FloatArray:
        """I(policy), or I(f), in free coordinates, (d, d)."""
        return self.dense.of_policy(point.asked.weights)

    @property
    def dense(self) -> DenseInformation:
        """The matrices, for further questions; refused where there are none."""
        dense = self.information
        if isinstance(dense, FractionInformation):
            dense = dense.dense or dense
        if not isinstance(dense, DenseInformation):
            raise InvalidInputError(
                f"The matrices would have {self.n_parameters} rows; the {self.method} way does without them."
            )
        return dense


def tabulate(
    chosen: Chosen, asked: Sequence[Asked], n_samples: float, *, relative_error: float = 0.01
) -> InformationTable:
    """Ask for everything about every labeled fraction or policy.

    Raises
    ------
    MoreSamplesNeededError
        If the draws tell enough of none of them.
    """
    information, n = chosen.information, require_n_samples(n_samples)
    answers = [_answered(information, item) for item in asked]
    refusals = [f"{item}: {answer.refusal}" for item, answer in zip(asked, answers, strict=True) if answer.refusal]
    if len(refusals) == len(asked):
        raise MoreSamplesNeededError(" ".join(refusals))
    points = tuple(
        _point(item, answer, n, information.n_estimable) for item, answer in zip(asked, answers, strict=True)
    )
    notes = [*_order_note(points), *refusals, *information.notes(answers, relative_error)]
    return InformationTable(points, n, information.method, chosen.reason, tuple(notes), information)


def _answered(information: GivesFigures, asked: Asked) -> Figures:
    answer = figures_or_refusal(information, asked.weights)
    if asked.policy is not None or not isinstance(information, DenseInformation | FractionInformation):
        return answer
    rate, error = float("nan"), None if not answer.errors else float("nan")
    if answer.is_identifiable:
        rate, error = information.exchange_rate(CRITERIA["total_variance"], asked.weights)
    values, errors = dict(zip(EXCHANGE_RATES, (rate, rate - 1), strict=True)), {}
    if error is not None:
        errors = dict.fromkeys(EXCHANGE_RATES, error)
    return replace(answer, values={**answer.values, **values}, errors={**answer.errors, **errors})


def _point(asked: Asked, answer: Figures, n_samples: float, n_directions: int) -> InformationPoint:
    values, errors = dict(answer.values), dict(answer.errors)
    for name, criterion in CRITERIA.items():
        if name in values:
            values[name] = criterion.of_samples(values[name], n_samples, n_directions)
        if name in errors:
            errors[name] = criterion.error_of_samples(errors[name], n_samples)
    return InformationPoint(
        asked,
        answer.is_identifiable,
        answer.smallest_share,
        {name: _finite_or_none(value) for name, value in values.items()},
        {name: _finite_or_none(error) for name, error in errors.items()},
        answer.weak_directions,
        answer.refusal,
    )


def _order_note(points: Sequence[InformationPoint]) -> list[str]:
    if points[0].asked.is_design:
        return []
    if any(point.expected_labels == 0 and point.is_identifiable for point in points):
        called = "classes" if points[0].asked.policy is None else "labels"
        return [f"Without any label the {called} are found only up to their order."]
    return []


def _finite_or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _plain(direction: WeakDirection) -> dict[str, Any]:
    return {
        "relative_information": direction.relative_information,
        "parameters": list(direction.parameters),
        "weights": list(direction.weights),
    }
