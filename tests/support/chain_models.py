"""The models of the package from plain tables."""

from typing import Any

from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.models.chains.protocol import ChainModel

LABELS = ("A", "B", "C", "D")


def chain_model(kind: str, tables: dict[str, Any]) -> ChainModel:
    """A chain of a kind of the specification; log-weights without "start" have no such table."""
    classes = LABELS[: len(tables["emission"])]
    start, transition, emission = tables.get("start"), tables["transition"], tables["emission"]
    if kind == "hidden-markov":
        return HiddenMarkovModel(classes, start, transition, emission)
    if kind == "boltzmann-chain":
        return BoltzmannChainModel(classes, start, transition, emission)
    return ConditionalRandomFieldModel(classes, start, transition, emission)
