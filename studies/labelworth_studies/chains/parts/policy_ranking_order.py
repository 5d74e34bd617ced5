"""Orders of the policies that compete for half of the tokens: theory's, the experiment's, and where they agree."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth_studies.runner.study import Result

POLICIES: Mapping[str, str] = {
    "0.5*everything + 0.5*nothing": "half of the sentences",
    "every-other": "every other token",
    "random:0.5": "random tokens",
    "windows-of-5": "windows of 5",
    "prefix:0.5": "the first half",
    "0.3678*everything + 0.6322*window:5": "whole, or one window of 5",
    "0.478*everything + 0.522*prefix:1": "whole, or the first token",
}
"""What half of the tokens are; whole sentences are as probable as makes up for rules that label less than half."""


def ranking_of(
    findings: Mapping[str, Any], draws: Mapping[str, Sequence[Result]], loss: str, formula: str
) -> dict[str, Any]:
    """Both orders, and the pairs that the experiment tells apart; what theory does not tell is in neither count."""
    theory, experiment = ranked(findings, f"{formula}_excess_{loss}"), ranked(findings, loss)
    pairs = _told_apart(theory, draws, loss)
    compared = [pair for pair in pairs if pair["theory_agrees"] is not None]
    return {
        "theory": theory,
        "untold_by_theory": [policy for policy in POLICIES if policy not in theory],
        "experiment": experiment,
        "same": theory == [policy for policy in experiment if policy in theory],
        "pairs_told_apart": pairs,
        "n_pairs_compared": len(compared),
        "n_pairs_alike": sum(pair["theory_agrees"] for pair in compared),
        "n_pairs_left_out": len(pairs) - len(compared),
    }


def _told_apart(order: Sequence[str], draws: Mapping[str, Sequence[Result]], loss: str) -> list[dict[str, Any]]:
    """The pairs of policies whose losses differ by more than two standard errors, compared draw by draw.

    Whether theory agrees is None where one of them is not in its order.
    """
    pairs = []
    for one, two in combinations(POLICIES, 2):
        difference = mean_of(
            "difference", np.array([a[loss] - b[loss] for a, b in zip(draws[one], draws[two], strict=True)])
        )
        if abs(difference["difference"]) > 2 * difference["difference_se"]:
            better, worse = (one, two) if difference["difference"] < 0 else (two, one)
            told = better in order and worse in order
            agrees = order.index(better) < order.index(worse) if told else None
            pairs.append({"better": better, "worse": worse, "theory_agrees": agrees, **difference})
    return pairs


def mean_of(name: str, values: FloatArray) -> dict[str, float]:
    """A mean over draws beside its standard error."""
    return {name: float(values.mean()), f"{name}_se": float(values.std(ddof=1) / np.sqrt(len(values)))}


def ranked(findings: Mapping[str, Any], figure: str) -> list[str]:
    """The policies whose figure is told, the smallest first."""
    figures = {policy: findings["policies"][policy][figure] for policy in POLICIES}
    return sorted((policy for policy in POLICIES if figures[policy] is not None), key=figures.__getitem__)


def ranking_words(ranking: Mapping[str, Any]) -> str:
    """An order in words, beside that of the experiment."""
    order = ", ".join(POLICIES[policy] for policy in ranking["theory"])
    told = f": {order}; {'the same' if ranking['same'] else 'another'} order."
    untold = ", ".join(POLICIES[policy] for policy in ranking["untold_by_theory"])
    told += f" Not told: {untold}." if untold else ""
    told += (
        f" Of the {ranking['n_pairs_compared']} pairs that the experiment tells apart and that are told, "
        f"{ranking['n_pairs_alike']} are ordered alike"
    )
    n_out = ranking["n_pairs_left_out"]
    return told + (f"; {n_out} more are left out, as one of them is not told." if n_out else ".")
