"""Which way of computing the information suits a population, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.errors import InvalidInputError
from labelworth.fisher.enumeration import enumerated
from labelworth.fisher.information import GivesFigures
from labelworth.fisher.population import Population, RulesT
from labelworth.fisher.sampling import sampled
from labelworth.progress import SILENT, Progress


@dataclass(frozen=True)
class Chosen:
    """Information, and, for people, why it was computed that way."""

    information: GivesFigures
    reason: str


def choose(
    population: Population[RulesT],
    rules: RulesT,
    policies: Sequence[Any],
    method: str,
    rng: np.random.Generator,
    *,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> Chosen:
    """Compute the information by `method`.

    Parameters
    ----------
    policies : sequence
        Those that will be asked about, as `rules` take them: mixtures of rules, or labeled fractions.
    method : str
        One of the population's.
    relative_error, max_draws, progress
        As in `sampled`.

    Raises
    ------
    InvalidInputError
        If the method does not exist, or not for this population.
    """
    if method not in population.methods:
        raise InvalidInputError(
            f"method must be one of {', '.join(population.methods)} for {population.noun}. Got {method!r} instead."
        )
    way = population.way(method, rules)
    if way.method == "enumeration":
        return Chosen(enumerated(population, rules), way.reason)
    if way.method != "sampling":
        special = population.without_matrices(way.method, rules, policies, rng, max_draws, progress)
        return Chosen(special, way.reason)
    weights = [rules.weights_of(policy) for policy in policies]
    information = sampled(
        population, rules, weights, rng, relative_error=relative_error, max_draws=max_draws, progress=progress
    )
    return Chosen(information, way.reason)
