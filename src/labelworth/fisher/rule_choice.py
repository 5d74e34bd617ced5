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
from labelworth.fisher.rule_matrix_free import FEWEST_PARAMETERS, MatrixFree, matrix_free_policies
from labelworth.fisher.rule_sampling import MAX_PARAMETERS, sampled_rules
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, Progress

RuleMethod = Literal["auto", "enumeration", "sampling", "matrix-free"]

_QUICK_WORK = 4e9
"""Enumeration is chosen while its products stay below some seconds of work."""


@dataclass(frozen=True)
class ChosenRules:
    """Information per rule, or figures without it, and, for people, why it was computed that way."""

    information: RuleInformation | MatrixFree
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
    """Compute the information per rule by `method`; "auto" prefers enumeration to sampling, and matrices to none.

    "matrix-free" is "sampling" where there are few parameters.

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
        method, reason = _automatic(population, rules)
    elif method == "matrix-free" and population.model.coordinates.n_free < FEWEST_PARAMETERS:
        method, reason = "sampling", "there are so few parameters that matrices of them tell more than random probes"
    if method == "enumeration":
        return ChosenRules(enumerated_rules(population, rules), reason)
    if method == "matrix-free":
        figures = matrix_free_policies(population, policies, rng, n_draws=max_draws, progress=progress)
        return ChosenRules(figures, reason)
    sampled = sampled_rules(
        population, rules, policies, rng, relative_error=relative_error, max_draws=max_draws, progress=progress
    )
    return ChosenRules(sampled, reason)


def _automatic(population: ChainPopulation, rules: Sequence[Rule]) -> tuple[RuleMethod, str]:
    count, d = n_outcomes(population), population.model.coordinates.n_free
    if enumeration_work(population, RuleList.of(rules)) <= _QUICK_WORK:
        return "enumeration", f"there are only {count:.3g} sequences of words and labels to sum over"
    reason = f"there are {count:.3g} sequences of words and labels, too many to sum over"
    if d > MAX_PARAMETERS and isinstance(population.model, HiddenMarkovModel):
        return "matrix-free", f"{reason}, and {d} parameters, too many for matrices of them"
    return "sampling", reason
