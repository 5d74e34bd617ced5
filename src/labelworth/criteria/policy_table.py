"""What the sequences of a chain are worth under every labeling policy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray, as_floats
from labelworth.criteria.draw_notes import rarely_drawn, too_few_draws
from labelworth.criteria.plain_figures import finite_or_none
from labelworth.criteria.policy_points import PolicyPoint, PolicyTable
from labelworth.criteria.policy_reading import read_lengths, read_policies, read_rules
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.chain_population import ChainPopulation
from labelworth.fisher.rule_choice import ChosenRules, RuleMethod, choose_rules
from labelworth.fisher.rule_estimates import PolicyEstimate, estimate_policy
from labelworth.fisher.rule_information import RuleInformation
from labelworth.fisher.rule_list import RuleList
from labelworth.fisher.rule_matrix_free import MatrixFree
from labelworth.fisher.rule_sampling import draws_needed
from labelworth.models.chains.protocol import ChainModel
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
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
) -> PolicyTable:
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
    seed : int
        Of the sampling.
    relative_error : float
        The standard error that sampling aims at, relative to each figure.
    max_draws : int, optional
        A limit to sampling.
    progress : Progress

    Raises
    ------
    MoreSamplesNeededError
        If sampling gave no sensible information within its limits.

    Notes
    -----
    Paper: prop:efficiency2.
    """
    if not (np.isfinite(n_samples) and n_samples > 0):
        raise InvalidInputError(f"n_samples must be a positive number. Got {n_samples!r} instead.")
    listed = None if rules is None else read_rules(rules)
    asked = read_policies(policies, listed)
    population = ChainPopulation.of(
        model,
        lengths=read_lengths(lengths),
        inputs=inputs,
        input_probabilities=(
            None if input_probabilities is None else as_floats("input_probabilities", input_probabilities, ndim=1)
        ),
    )
    # Rules that no policy uses cost as much as any other, but whoever lists them wants to see their matrices.
    shown = listed if listed is not None else list(dict.fromkeys(rule for policy in asked for rule in policy.rules))
    chosen = choose_rules(
        population,
        shown,
        asked,
        method,
        np.random.default_rng(seed),
        relative_error=relative_error,
        max_draws=max_draws,
        progress=progress,
    )
    return tabulate_policies(population, chosen, shown, asked, n_samples, relative_error=relative_error)


def tabulate_policies(
    population: ChainPopulation,
    chosen: ChosenRules,
    rules: Sequence[Rule],
    policies: Sequence[Policy],
    n_samples: float,
    *,
    relative_error: float = 0.01,
) -> PolicyTable:
    """Ask for everything about every policy.

    Raises
    ------
    MoreSamplesNeededError
        If the draws tell enough of none of them.
    """
    information, listed = chosen.information, RuleList.of(rules)
    if isinstance(information, MatrixFree):
        estimates, labels = list(information.estimates), information.expected_labels.tolist()
        rank = information.n_parameters
    else:
        weights = [listed.weights_of(policy) for policy in policies]
        estimates = [_estimate(information, policy) for policy in weights]
        labels, rank = [information.labels_of_policy(policy) for policy in weights], information.contrasts.rank
    refusals = [f"{p.spec}: {e.refusal}" for p, e in zip(policies, estimates, strict=True) if e.refusal]
    if len(refusals) == len(policies):
        raise MoreSamplesNeededError(" ".join(refusals))
    points = tuple(
        _point(policy, tuple(policy.weights_over(rules).tolist()), count, estimate, n_samples, rank)
        for policy, count, estimate in zip(policies, labels, estimates, strict=True)
    )
    notes = [
        *_notes_on_model(population, information.n_parameters, rank),
        *_notes_on_policies(points),
        *refusals,
        *(
            _notes_on_missed(information)
            if isinstance(information, MatrixFree)
            else rarely_drawn(information.n_drawn, information.n_hardly_met)
        ),
        *_notes_on_draws(information.n_drawn, estimates, rank, relative_error),
    ]
    return PolicyTable(
        points,
        float(n_samples),
        "matrix-free" if isinstance(information, MatrixFree) else information.method,
        chosen.reason,
        tuple(notes),
        information.n_parameters,
        rank,
        None if isinstance(information, MatrixFree) else information,
    )


def _estimate(information: RuleInformation, weights: FloatArray) -> PolicyEstimate:
    try:
        return estimate_policy(information, weights)
    except MoreSamplesNeededError as error:
        return PolicyEstimate.untold(str(error))


def _point(
    policy: Policy,
    weights: tuple[float, ...],
    expected_labels: float,
    estimate: PolicyEstimate,
    n_samples: float,
    rank: int,
) -> PolicyPoint:
    shift = rank * np.log(n_samples)
    figures = {
        name: value - shift if name == "log_volume" else value / n_samples for name, value in estimate.values.items()
    }
    errors = {name: error if name == "log_volume" else error / n_samples for name, error in estimate.errors.items()}
    return PolicyPoint(
        policy,
        weights,
        expected_labels,
        estimate.is_identifiable,
        estimate.smallest_share,
        {name: finite_or_none(value) for name, value in figures.items()},
        {name: finite_or_none(error) for name, error in errors.items()},
        estimate.weak_directions,
        estimate.refusal,
    )


def _notes_on_model(population: ChainPopulation, n_parameters: int, rank: int) -> list[str]:
    notes = []
    if rank < n_parameters:
        notes.append(
            f"{n_parameters - rank} of {n_parameters} directions of the parameters cannot be told by any data, "
            "whatever is labeled; figures are those of the rest."
        )
    if population.is_conditional:
        notes.append(
            "A conditional model learns nothing from what is not labeled: sequences without labels carry no "
            "information, and joint and conditional log-loss are the same."
        )
    return notes


def _notes_on_policies(points: Sequence[PolicyPoint]) -> list[str]:
    if any(point.expected_labels == 0 and point.is_identifiable for point in points):
        return ["Without any label the labels are found only up to their order."]
    return []


def _notes_on_missed(figures: MatrixFree) -> list[str]:
    if not figures.n_hardly_met:
        return []
    return [
        f"{figures.n_drawn} draws hardly meet {figures.n_hardly_met} of the probabilities; the standard errors allow "
        "for the most that they may matter. More draws make them smaller."
    ]


def _notes_on_draws(n_drawn: int, estimates: Sequence[PolicyEstimate], rank: int, relative_error: float) -> list[str]:
    if not n_drawn:
        return []
    return too_few_draws(n_drawn, draws_needed(estimates, n_drawn, rank, relative_error), relative_error)
