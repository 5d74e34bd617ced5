"""The rules whose information is computed: those asked for, complete labels, and none."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.channels.arm import GOLD, NOTHING, Arm, Nuisance, Outcomes
from labelworth.channels.forms.form import Classes
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.population import Mask
from labelworth.fisher.sequences.asked import AskedRule
from labelworth.policies.catalog import Everything, Nothing
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule


@dataclass(frozen=True)
class RuleList:
    """Distinct rules; complete labels and none are always among them, since figures are measured against them."""

    rules: tuple[Rule, ...]  # Those asked for first, in their order.
    classes: Classes = ()  # Needed where others than gold answer.

    @classmethod
    def of(cls, rules: Sequence[Rule], classes: Classes = ()) -> "RuleList":
        """Leave out what is listed twice, and add what is missing."""
        if not all(isinstance(rule, Rule) for rule in rules):
            raise InvalidInputError(f"Rules must be rules; parse_rule reads text such as 'window:5'. Got {rules!r}.")
        plain = [rule.rule if isinstance(rule, AskedRule) and rule.arm is GOLD else rule for rule in rules]
        return cls(tuple(dict.fromkeys([*plain, Everything(), Nothing()])), tuple(classes))

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

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """What a position can be asked: nothing, its label, then what rules ask of channels."""
        asked = (rule.arm for rule in self.rules if isinstance(rule, AskedRule))
        return tuple(dict.fromkeys([NOTHING, GOLD, *asked]))

    @cached_property
    def _nuisance(self) -> Nuisance:
        return Nuisance.of(self.arms, self.classes)

    @property
    def nuisance(self) -> tuple[str, ...]:
        """The parameters of channels that are estimated, by name."""
        return self._nuisance.parameters

    @cached_property
    def asked(self) -> tuple[Outcomes, ...]:
        """Of every arm: all that can be answered."""
        return tuple(Outcomes.of(arm, self.classes, self._nuisance) for arm in self.arms)

    def arm_of(self, index: int) -> int:
        """Which arm the positions of a rule are asked."""
        rule = self.rules[index]
        return self.arms.index(rule.arm) if isinstance(rule, AskedRule) else 1

    def answers_of(self, index: int) -> Outcomes | None:
        """All that can be answered under a rule; None where its labels are seen and nothing else is estimated."""
        arm = self.arm_of(index)
        return self.asked[arm] if arm > 1 or self.nuisance else None

    def weights_of(self, policy: Policy) -> FloatArray:
        """The weight of every rule in a policy."""
        return policy.weights_over(self.rules)

    def n_sets(self, length: int) -> int:
        """How many sets of positions the rules draw at most at one length."""
        return sum(rule.n_outcomes(length) for rule in self.rules)

    def mask_shares(self, length: int) -> dict[Mask, FloatArray]:
        """As in `RuleSet`."""
        shares: dict[Mask, FloatArray] = {}
        for index, rule in enumerate(self.rules):
            for probability, mask in rule.outcomes(length):
                key = tuple((self.arm_of(index) * mask).tolist())
                share = shares.setdefault(key, np.zeros(len(self.rules)))
                share[index] += probability
        return shares

    def n_seen(self, mask: Mask, n_labels: int) -> float:
        """How many things can be seen of labels where positions are asked that."""
        total = float(n_labels) ** mask.count(1)
        for code in set(mask) - {0, 1}:
            answers = self.asked[code]
            total *= float(len(answers.likelihood) * (n_labels if answers.has_gold else 1)) ** mask.count(code)
        return total

    def expected_labels(self, lengths: LengthDistribution) -> FloatArray:
        """Labels per sequence under every rule, (n_rules,)."""
        return np.array(
            [sum(share * rule.expected_labels(length) for length, share in lengths.items()) for rule in self.rules]
        )
