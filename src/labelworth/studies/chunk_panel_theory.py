"""What the theory says of labeling policies at a fitted chain: excess log-loss for every number of sentences."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.errors import MoreSamplesNeededError
from labelworth.fisher.chain_population import ChainPopulation
from labelworth.fisher.rule_estimates import estimate_policy
from labelworth.fisher.rule_information import RuleInformation
from labelworth.fisher.rule_sampling import sampled_rules
from labelworth.models.chain_protocol import ChainModel
from labelworth.policies.policy import Policy
from labelworth.tradeoff.matrix_accuracy import MatrixAccuracy

CRITERIA = {"joint": "excess_joint_log_loss", "conditional": "excess_log_loss"}


def predicted(
    model: ChainModel,
    inputs: Sequences,
    policies: Sequence[Policy],
    sizes: Sequence[int],
    *,
    penalty: float,
    n_draws: int,
    seed: int,
) -> dict[str, Any]:
    r"""Excess log-loss of penalized fits, from one information matrix per rule.

    .. math:: \tfrac12 \operatorname{tr}\Bigl(G\, \bigl(2 c\, 1 + n \sum_j weight_j I_j\bigr)^{-1}\Bigr)

    with G the complete information (joint), or that less what sentences without labels tell (conditional). The
    penalty c is information that is held, as in the fits: without it, weights of pairs that hardly ever occur have a
    variance that no number of draws tells. ``unpenalized`` is the same with c = 0, the paper's formula, for one
    sentence; None where the draws do not tell it.

    Returns
    -------
    dict
        Per loss, ``excess`` and ``excess_se`` of shape (n_policies, n_sizes), None where the draws do not tell it;
        ``unpenalized`` and its standard error of shape (n_policies,); ``labels`` per sentence of every policy.

    Notes
    -----
    Paper: prop:efficiency2.
    """
    rules = list(dict.fromkeys(rule for policy in policies for rule in policy.rules))
    population = ChainPopulation.of(model, inputs=inputs)
    information = sampled_rules(population, rules, [], np.random.default_rng(seed), max_draws=n_draws)
    weights = [_weights(information, policy) for policy in policies]
    answer: dict[str, Any] = {
        "labels": [information.labels_of_policy(shares) for shares in weights],
        "n_drawn": information.n_drawn,
        "n_parameters": information.n_parameters,
    }
    plain = [_unpenalized(information, shares) for shares in weights]
    held = 2 * penalty * np.eye(information.n_parameters)
    for loss, criterion in CRITERIA.items():
        accuracy = MatrixAccuracy(information, criterion, held=held)
        grid = [[_figure(accuracy, size * shares) for size in sizes] for shares in weights]
        answer[loss] = {
            "excess": [[value for value, _ in row] for row in grid],
            "excess_se": [[error for _, error in row] for row in grid],
            "unpenalized": [values.get(criterion) for values, _ in plain],
            "unpenalized_se": [errors.get(criterion) for _, errors in plain],
        }
    return answer


def _weights(information: RuleInformation, policy: Policy) -> FloatArray:
    share = {rule.spec: weight for rule, weight in policy.items()}
    return np.array([share.get(name, 0.0) for name in information.rules])


def _unpenalized(information: RuleInformation, weights: FloatArray) -> tuple[dict[str, float], dict[str, float]]:
    """Figures of one sentence without a penalty, and their standard errors; empty where they are not told."""
    try:
        estimate = estimate_policy(information, weights)
    except MoreSamplesNeededError:
        return {}, {}
    return (dict(estimate.values), dict(estimate.errors)) if estimate.is_identifiable else ({}, {})


def _figure(accuracy: MatrixAccuracy, counts: FloatArray) -> tuple[float | None, float | None]:
    """A figure with its standard error; nothing where some of the batches alone do not pin the model down."""
    with np.errstate(invalid="ignore"):
        value, error = accuracy.error(counts), accuracy.standard_error(counts)
    told = error is not None and np.isfinite(value) and np.isfinite(error)
    return (value, error) if told else (None, None)
