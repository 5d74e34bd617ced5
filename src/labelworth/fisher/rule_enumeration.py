"""Exact information per rule for small chains: sum over every input, every labeling and every set of positions."""

from collections.abc import Sequence

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.fisher.chain_population import ChainPopulation
from labelworth.fisher.rule_information import RuleInformation
from labelworth.fisher.rule_list import RuleList
from labelworth.policies.rule import Rule

OUTCOME_LIMIT = 4_000_000
"""How many (x, y) are enumerated at most."""

SET_LIMIT = 1 << 14
"""How many sets of positions are gone through at most, over all lengths."""

_CHUNK = 1 << 21
_MASS_TOLERANCE = 1e-9

Mask = tuple[bool, ...]


def enumerated_rules(population: ChainPopulation, rules: Sequence[Rule]) -> RuleInformation:
    r"""One information matrix per rule, without any sampling.

    By Fisher's identity the score of what is seen is the mean of the complete score S given what is seen, so the
    table of S over all (x, y) gives every set of positions by sums over the labels that are hidden:

    .. math::

        \operatorname{Var}(\nabla \log p(Y_S, X)) = \sum_{x, y_S} \frac{g g'}{p(x, y_S)}, \qquad
        g = \sum_{y_{\bar S}} p(x, y)\, S(x, y)

    Parameters
    ----------
    population : ChainPopulation
    rules : sequence of Rule

    Raises
    ------
    InvalidInputError
        If there is too much to enumerate.

    Notes
    -----
    Sets of positions that several rules share are gone through once. A conditional model tells nothing where nothing
    is labeled, p(no label | x) = 1, so its information is zero there, exactly.

    Paper: prop:efficiency2.
    """
    listed = RuleList.of(rules)
    _require_small(population, listed)
    d = population.model.coordinates.n_free
    matrices, mass = np.zeros((len(listed.rules), d, d)), 0.0
    for length, _ in population.lengths.items():
        shares = listed.mask_shares(length)
        labelings = len(population.model.classes) ** length
        for inputs, weights in population.weighted_inputs(length, max(1, _CHUNK // (labelings * d))):
            complete = population.all_labels(inputs, length)
            joint = np.exp(population.model.log_evidence(complete)).reshape(len(weights), labelings)
            joint *= weights[:, None]
            moved = population.model.scores(complete).reshape(len(weights), labelings, d) * joint[:, :, None]
            mass += float(joint.sum())
            for mask, share_of_rule in shares.items():
                if population.is_conditional and not any(mask):
                    continue
                square = _seen_square(joint, moved, mask, len(population.model.classes))
                matrices += share_of_rule[:, None, None] * square
    # Only a fault in a model can bring this about.
    if abs(mass - 1) > _MASS_TOLERANCE:
        raise ArithmeticError(f"The outcomes of a {population.model.kind} model have probability {mass!r}, not 1.")
    return listed.information(population, matrices, "enumeration")


def n_outcomes(population: ChainPopulation) -> float:
    """How many (x, y) there are."""
    n_labels = float(len(population.model.classes))
    return sum(population.n_inputs(length) * n_labels**length for length, _ in population.lengths.items())


def enumeration_work(population: ChainPopulation, listed: RuleList) -> float:
    """About how many multiplications enumeration takes; infinite if it is beyond the limits."""
    if n_outcomes(population) > OUTCOME_LIMIT:
        return np.inf
    n_labels, d, work, n_sets = len(population.model.classes), population.model.coordinates.n_free, 0.0, 0.0
    for length, _ in population.lengths.items():
        if listed.n_sets(length) > SET_LIMIT:
            return np.inf
        n_inputs = population.n_inputs(length)
        for mask in listed.mask_shares(length):
            work += n_inputs * d * (d * float(n_labels) ** sum(mask) + float(n_labels) ** length)
            n_sets += 1
    return work if n_sets <= SET_LIMIT else np.inf


def _require_small(population: ChainPopulation, listed: RuleList) -> None:
    if not np.isfinite(enumeration_work(population, listed)):
        raise InvalidInputError(
            f"There are {n_outcomes(population):.3g} sequences of words and labels to enumerate, and rules that draw "
            f"many sets of positions; at most {OUTCOME_LIMIT} and {SET_LIMIT} are gone through. "
            "Use method='sampling', or shorter sequences."
        )


def _seen_square(joint: FloatArray, moved: FloatArray, mask: Mask, n_labels: int) -> FloatArray:
    """Sum of g g' / p(x, y_S) over everything seen."""
    n_inputs, d = len(joint), moved.shape[2]
    axes = (n_labels,) * len(mask)
    hidden = tuple(place + 1 for place, is_seen in enumerate(mask) if not is_seen)
    seen = joint.reshape(n_inputs, *axes).sum(axis=hidden).ravel()
    sums = moved.reshape(n_inputs, *axes, d).sum(axis=hidden).reshape(-1, d)
    # What is so improbable that a double cannot hold it counts nothing.
    roots = np.sqrt(np.divide(1.0, seen, out=np.zeros_like(seen), where=seen > 0))
    scaled = sums * roots[:, None]
    return np.asarray(scaled.T @ scaled)
