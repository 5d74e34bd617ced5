"""Specifications of chains: the model, and what is asked of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, as_floats, require_probabilities
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.models.chains.protocol import ChainModel
from labelworth.report.spec_limits import (
    MOST_TOKENS,
    require_workable_lengths,
    require_workable_probabilities,
    require_workable_weights,
)


def chain_question(document: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked of a chain."""
    names = ("policies", "rules", "n_samples", "method", "input_probabilities")
    question = {name: document[name] for name in names if name in document}
    lengths = LengthDistribution.from_mapping(document["lengths"])
    require_workable_lengths(lengths, MOST_TOKENS)
    return question | {"lengths": lengths}


def chain_model(document: Mapping[str, Any]) -> ChainModel:
    """The chain with the parameters taken for true."""
    parameters, kind = document["parameters"], document["model"]
    start = None if "start" not in parameters else as_floats("start", parameters["start"], ndim=1)
    transition = as_floats("transition", parameters["transition"], ndim=2)
    emission = as_floats("emission", parameters["emission"], ndim=2)
    names = tuple(document.get("words") or (f"word {code}" for code in range(emission.shape[1])))
    classes = tuple(document.get("classes") or (f"label {code}" for code in range(len(emission))))
    if len(classes) != len(emission) or len(names) != emission.shape[1]:
        raise InvalidInputError(
            f"There must be a name for each of the {len(emission)} labels and {emission.shape[1]} words of emission. "
            f"Got {len(classes)} classes and {len(names)} words."
        )
    if kind != "hidden-markov":
        for name, table in (("start", start), ("transition", transition), ("emission", emission)):
            if table is not None:
                require_workable_weights(name, table)
    if kind == "boltzmann-chain":
        return BoltzmannChainModel(classes, start, transition, emission, names)
    if kind == "conditional-random-field":
        return ConditionalRandomFieldModel(classes, start, transition, _all_stored(emission), names)
    if start is None:
        raise InvalidInputError('A hidden-markov model needs "start": the probability of every first label.')
    # A probability of zero is at the edge of the parameter space, where the theory does not hold.
    for name, table in (("start", start), ("transition", transition), ("emission", emission)):
        require_probabilities(name, table, positive=True)
        require_workable_probabilities(name, table)
    return HiddenMarkovModel(classes, start, transition, emission, names)


def _all_stored(table: FloatArray) -> sp.csc_array:
    """A sparse table that stores every entry, zeros too: each is a parameter."""
    n_rows, n_columns = table.shape
    rows = np.tile(np.arange(n_rows), n_columns)
    return sp.csc_array((table.T.ravel(), rows, n_rows * np.arange(n_columns + 1)), table.shape)
