"""Rules, policies and lengths as people give them."""

from collections.abc import Mapping, Sequence
from typing import Any

from labelworth.arrays import as_floats
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.policies.spec import parse_policy, parse_rule


def read_rules(rules: Sequence[Rule | str]) -> list[Rule]:
    """Rules, or their text."""
    if isinstance(rules, str) or not len(rules):
        raise InvalidInputError(f"rules must be a list such as ['everything', 'window:5']. Got {rules!r} instead.")
    return [rule if isinstance(rule, Rule) else parse_rule(rule) for rule in rules]


def read_policies(policies: Sequence[Policy | str | Sequence[float]], rules: list[Rule] | None) -> list[Policy]:
    """Policies, their text, or one weight for each of `rules`."""
    if isinstance(policies, str | Policy) or not len(policies):
        raise InvalidInputError(
            "policies must be a list of policies, of texts such as '0.25*everything + 0.75*window:5', or of weights, "
            f"one for each of the rules. Got {policies!r} instead."
        )
    return [_read_policy(policy, rules) for policy in policies]


def _read_policy(policy: Policy | str | Sequence[float], rules: list[Rule] | None) -> Policy:
    if isinstance(policy, str):
        policy = parse_policy(policy)
    if isinstance(policy, Policy):
        if rules is not None:
            policy.weights_over(rules)
        return policy
    if rules is None:
        raise InvalidInputError(f"Weights need rules= to belong to. Got the policy {policy!r} and no rules.")
    weights = as_floats("The weights of a policy", policy, ndim=1)
    if len(weights) != len(rules):
        raise InvalidInputError(
            f"A policy has one weight for each of the {len(rules)} rules. Got {len(weights)} weight(s)."
        )
    return Policy(tuple(rules), tuple(weights.tolist()))


def read_lengths(lengths: LengthDistribution | Mapping[Any, float] | None) -> LengthDistribution | None:
    """A distribution, or a mapping from lengths to probabilities, of which zeros are left out."""
    if lengths is None or isinstance(lengths, LengthDistribution):
        return lengths
    if not isinstance(lengths, Mapping):
        raise InvalidInputError(f"lengths must be a mapping such as {{4: 0.5, 6: 0.5}}. Got {lengths!r} instead.")
    return LengthDistribution.from_mapping(lengths)
