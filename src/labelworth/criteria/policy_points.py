"""The figures of a chain under every policy, as values to read, print and store."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labelworth.arrays import FloatArray
from labelworth.criteria.plain_figures import plain_figures, plain_table
from labelworth.errors import InvalidInputError
from labelworth.fisher.identifiability import WeakDirection
from labelworth.fisher.rule_information import RuleInformation
from labelworth.policies.policy import Policy


@dataclass(frozen=True)
class PolicyPoint:
    """Everything about one policy.

    Attributes
    ----------
    policy : Policy
    weights : tuple of float
        Of every rule that was listed, in that order.
    expected_labels : float
        Labels per sequence.
    is_identifiable : bool
        Whether its information is positive definite on the estimable contrasts.
    smallest_share : float or None
        In its weakest direction, the share of what complete labels would tell.
    figures : mapping
        Criteria of Cov = I(policy)^-1 / n by name; None where the policy is not identifiable.
    standard_errors : mapping
        Of the sampled figures; empty if they are exact.
    weak_directions : tuple of WeakDirection or None
        What the policy leaves open or nearly so; None where they were not looked for.
    refusal : str or None
        Why there are no figures, where too few draws are to blame.
    """

    policy: Policy
    weights: tuple[float, ...]
    expected_labels: float
    is_identifiable: bool
    smallest_share: float | None
    figures: Mapping[str, float | None]
    standard_errors: Mapping[str, float | None]
    weak_directions: tuple[WeakDirection, ...] | None
    refusal: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a sampled figure ``x`` stands beside ``x_se``."""
        return {
            "policy": self.policy.spec,
            "weights": list(self.weights),
            "expected_labels_per_sample": self.expected_labels,
            "identifiable": self.is_identifiable,
            "smallest_relative_information": self.smallest_share,
            **plain_figures(self.figures, self.standard_errors, self.weak_directions),
        }


@dataclass(frozen=True)
class PolicyTable:
    """The answer of `information` for sequences.

    Attributes
    ----------
    points : tuple of PolicyPoint
        One per policy, in the order asked for.
    n_samples : float
        Sequences.
    method, reason : str
        How the information was computed, and why so.
    notes : tuple of str
        What a reader should know.
    n_parameters, n_estimable : int
        The number of free coordinates, and of directions of them that can be estimated at all.
    information : RuleInformation or None
        For further questions: one matrix per rule; None for models too large for matrices.
    """

    points: tuple[PolicyPoint, ...]
    n_samples: float
    method: str
    reason: str
    notes: tuple[str, ...]
    n_parameters: int
    n_estimable: int
    information: RuleInformation | None

    @property
    def is_identifiable(self) -> bool:
        """Whether at least one point is."""
        return any(point.is_identifiable for point in self.points)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return plain_table(self, n_parameters=self.n_parameters, n_estimable=self.n_estimable)

    def matrices(self) -> dict[str, Any]:
        """The information of every rule with the names of the parameters, in free coordinates."""
        information = self._matrices
        named = zip(information.rules, information.matrices, strict=True)
        return {
            "parameters": information.coordinates.names(),
            "rules": {rule: matrix.tolist() for rule, matrix in named},
        }

    def information_of(self, point: PolicyPoint) -> FloatArray:
        """I(policy) in free coordinates, (d, d)."""
        weight_of = {rule.spec: weight for rule, weight in point.policy.items()}
        return self._matrices.of_policy([weight_of.get(name, 0.0) for name in self._matrices.rules])

    @property
    def _matrices(self) -> RuleInformation:
        if self.information is None:
            raise InvalidInputError(
                f"The matrices would have {self.n_parameters} rows; the {self.method} way does without them."
            )
        return self.information
