"""Which way of computing the information per rule suits a chain, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from labelworth.errors import InvalidInputError
from labelworth.fisher.chain_population import ChainPopulation
from labelworth.fisher.rule_enumeration import enumerated_rules, enumeration_work, n_outcomes
from labelworth.fisher.rule_information import RuleInformation
from labelworth.fisher.rule_list import RuleList
from labelworth.fisher.rule_sampling import sampled_rules
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, Progress

RuleMethod = Literal["auto", "enumeration", "sampling"]

_QUICK_WORK = 4e9
"""Enumeration is chosen while its products stay below some seconds of work."""


@dataclass(frozen=True)
class ChosenRules:
    """Information per rule and, for people, why it was computed that way."""

    information: RuleInformation
    reason: str


def choose_rules(
    population: ChainPopulation,
    rules: Sequence[Rule],
    policies: Sequence[Policy],
    method: RuleMethod,
    rng: np.random.Generator,
    *,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> ChosenRules:
    """Compute the information per rule by `method`; "auto" prefers enumeration to sampling.

    Raises
    ------
    InvalidInputError
        If the method does not exist, or there is too much to enumerate.
    """
    if method not in get_args(RuleMethod):
        raise InvalidInputError(
            f"method must be one of {', '.join(get_args(RuleMethod))} for sequences. Got {method!r} instead."
        )
    reason = "asked for"
    if method == "auto":
        count = n_outcomes(population)
        small = enumeration_work(population, RuleList.of(rules)) <= _QUICK_WORK
        method = "enumeration" if small else "sampling"
        amount = "only " if small else ""
        reason = (
            f"there are {amount}{count:.3g} sequences of words and labels{'' if small else ', too many'} to sum over"
        )
    if method == "enumeration":
        return ChosenRules(enumerated_rules(population, rules), reason)
    sampled = sampled_rules(
        population, rules, policies, rng, relative_error=relative_error, max_draws=max_draws, progress=progress
    )
    return ChosenRules(sampled, reason)
