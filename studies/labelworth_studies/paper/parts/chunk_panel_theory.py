"""What the paper's formula says of labeling policies at a fitted chain: excess log-loss per sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.errors import MoreSamplesNeededError
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.models.chains.protocol import ChainModel
from labelworth.policies.policy import Policy
from labelworth_studies.paper.parts.rules_by_missing import rules_by_missing

CRITERIA = {"joint": "excess_joint_log_loss", "conditional": "excess_log_loss"}


def paper_excess(
    model: ChainModel, inputs: Sequences, policies: Sequence[Policy], *, n_draws: int, seed: int
) -> dict[str, Any]:
    r"""Excess log-loss of one sentence, n times that of n, from one information matrix per rule.

    .. math:: \tfrac12 \operatorname{tr}\Bigl(G\, \bigl(\sum_j weight_j I_j\bigr)^{-1}\Bigr)

    with G the complete information (joint), or that less what sentences without labels tell (conditional), on the
    contrasts that labels can tell.

    Returns
    -------
    dict
        Per loss, ``excess`` and ``excess_se`` of shape (n_policies,), None where the draws do not tell it; ``labels``
        per sentence of every policy.

    Notes
    -----
    Paper: prop:efficiency2.
    """
    rules = list(dict.fromkeys(rule for policy in policies for rule in policy.rules))
    population = ChainPopulation.of(model, inputs=inputs)
    information = rules_by_missing(population, rules, np.random.default_rng(seed), n_draws=n_draws)
    weights = [_weights(information, policy) for policy in policies]
    per_policy = [_figures(information, shares) for shares in weights]
    answer: dict[str, Any] = {
        "labels": [float(shares @ information.expected_labels) for shares in weights],
        "n_drawn": information.n_drawn,
        "n_parameters": information.n_parameters,
    }
    for loss, criterion in CRITERIA.items():
        answer[loss] = {
            "excess": [values.get(criterion) for values, _ in per_policy],
            "excess_se": [errors.get(criterion) for _, errors in per_policy],
        }
    return answer


def _weights(information: DenseInformation, policy: Policy) -> FloatArray:
    share = {rule.spec: weight for rule, weight in policy.items()}
    return np.array([share.get(name, 0.0) for name in information.rules])


def _figures(information: DenseInformation, weights: FloatArray) -> tuple[dict[str, float], dict[str, float]]:
    """Figures of one sentence and their standard errors; empty where they are not told."""
    try:
        estimate = information.figures(weights)
    except MoreSamplesNeededError:
        return {}, {}
    return (dict(estimate.values), dict(estimate.errors)) if estimate.is_identifiable else ({}, {})
