"""The rules whose information is computed: those asked for, complete labels, and none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.policies.catalog import Everything, Nothing
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule


@dataclass(frozen=True)
class RuleList:
    """Distinct rules; complete labels and none are always among them, since figures are measured against them."""

    rules: tuple[Rule, ...]  # Those asked for first, in their order.

    @classmethod
    def of(cls, rules: Sequence[Rule]) -> "RuleList":
        """Leave out what is listed twice, and add what is missing."""
        if not all(isinstance(rule, Rule) for rule in rules):
            raise InvalidInputError(f"Rules must be rules; parse_rule reads text such as 'window:5'. Got {rules!r}.")
        return cls(tuple(dict.fromkeys([*rules, Everything(), Nothing()])))

    @property
    def specs(self) -> tuple[str, ...]:
        """How the rules are written."""
        return tuple(rule.spec for rule in self.rules)

    @property
    def everything(self) -> int:
        return self.rules.index(Everything())

    @property
    def nothing(self) -> int:
        return self.rules.index(Nothing())

    def weights_of(self, policy: Policy) -> FloatArray:
        """The weight of every rule in a policy."""
        return policy.weights_over(self.rules)

    def n_sets(self, length: int) -> int:
        """How many sets of positions the rules draw at most at one length."""
        return sum(rule.n_outcomes(length) for rule in self.rules)

    def mask_shares(self, length: int) -> dict[tuple[bool, ...], FloatArray]:
        shares: dict[tuple[bool, ...], FloatArray] = {}
        for index, rule in enumerate(self.rules):
            for probability, mask in rule.outcomes(length):
                share = shares.setdefault(tuple(mask.tolist()), np.zeros(len(self.rules)))
                share[index] += probability
        return shares

    def expected_labels(self, lengths: LengthDistribution) -> FloatArray:
        """Labels per sequence under every rule, (n_rules,)."""
        return np.array(
            [sum(share * rule.expected_labels(length) for length, share in lengths.items()) for rule in self.rules]
        )
