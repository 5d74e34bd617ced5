"""What the sequences of a chain are worth under every policy."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import as_floats
from labelworth.criteria.table import Asked, InformationTable, tabulate
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.fisher.choice import choose
from labelworth.fisher.criteria import require_n_samples
from labelworth.fisher.sequences.population import ChainPopulation, RuleMethod
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.models.chains.protocol import ChainModel
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.policies.spec import read_policies, read_rules
from labelworth.progress import SILENT, Progress


def policy_information(
    model: ChainModel,
    *,
    policies: Sequence["Policy | str | Sequence[float]"],
    n_samples: float,
    rules: Sequence["Rule | str"] | None = None,
    lengths: "LengthDistribution | Mapping[Any, float] | None" = None,
    inputs: Sequences | None = None,
    input_probabilities: ArrayLike | None = None,
    method: RuleMethod = "auto",
    seed: int = 0,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> InformationTable:
    r"""What the sequences of a chain are worth under every policy.

    One sequence carries :math:`I(policy) = \sum_j weight_j I_j`; with n of them the estimate has covariance
    :math:`I(policy)^{-1} / n` on the contrasts that can be estimated at all, and every figure follows.

    Parameters
    ----------
    model : ChainModel
        With the parameters taken for true.
    policies : sequence
        Each a `Policy`, its text ("0.25*everything + 0.75*window:5"), or one weight for each of `rules`.
    n_samples : float
        n, sequences.
    rules : sequence, optional
        Rules or their text; needed where policies are given by weights.
    lengths : LengthDistribution or mapping, optional
        q(m), as in ``{4: 0.5, 6: 0.5}``.
    inputs : Sequences, optional
        Real sequences instead: their lengths and, for a conditional model, their features.
    input_probabilities : sequence of float, optional
        Of the words of a conditional model without `inputs`; uniform when absent.
    method : {"auto", "enumeration", "sampling", "matrix-free"}
        "auto": by enumeration where that is quick; without matrices for hidden Markov models of many parameters.
    seed, relative_error, max_draws
        As in `labelworth.criteria.information.document_information`.

    Raises
    ------
    MoreSamplesNeededError
        If sampling gave no sensible information within its limits.

    Notes
    -----
    Paper: prop:efficiency2.
    """
    require_n_samples(n_samples)
    listed = None if rules is None else read_rules(rules)
    policies_read = read_policies(policies, listed)
    population = ChainPopulation.of(
        model,
        lengths=_read_lengths(lengths),
        inputs=inputs,
        input_probabilities=(
            None if input_probabilities is None else as_floats("input_probabilities", input_probabilities, ndim=1)
        ),
    )
    # Rules that no policy uses cost as much as any other, but whoever lists them wants to see their matrices.
    shown = listed or list(dict.fromkeys(rule for policy in policies_read for rule in policy.rules))
    all_rules = RuleList.of(shown)
    chosen = choose(
        population,
        all_rules,
        policies_read,
        method,
        np.random.default_rng(seed),
        relative_error=relative_error,
        max_draws=max_draws,
        progress=progress,
    )
    labels = population.labels_of(all_rules)
    weights = [all_rules.weights_of(policy) for policy in policies_read]
    asked = [
        Asked(over_rules, float(over_rules @ labels), policy=policy.spec, n_listed=len(shown))
        for policy, over_rules in zip(policies_read, weights, strict=True)
    ]
    table = tabulate(chosen, asked, n_samples, relative_error=relative_error)
    return replace(table, notes=(*_model_notes(population, table), *table.notes))


def _read_lengths(lengths: LengthDistribution | Mapping[Any, float] | None) -> LengthDistribution | None:
    """A distribution, or a mapping from lengths to probabilities, of which zeros are left out."""
    if lengths is None or isinstance(lengths, LengthDistribution):
        return lengths
    if not isinstance(lengths, Mapping):
        raise InvalidInputError(f"lengths must be a mapping such as {{4: 0.5, 6: 0.5}}. Got {lengths!r} instead.")
    return LengthDistribution.from_mapping(lengths)


def _model_notes(population: ChainPopulation, table: InformationTable) -> list[str]:
    notes, n_open = [], table.n_parameters - table.n_estimable
    if n_open:
        notes.append(
            f"{n_open} of {table.n_parameters} directions of the parameters cannot be told by any data, "
            "whatever is labeled; figures are those of the rest."
        )
    if population.is_conditional:
        notes.append(
            "A conditional model learns nothing from what is not labeled: sequences without labels carry no "
            "information, and joint and conditional log-loss are the same."
        )
    return notes
