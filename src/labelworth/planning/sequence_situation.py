"""Sequences by formulas: where a plan starts, and where it would start at other parameters."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from labelworth.errors import InvalidInputError
from labelworth.planning.sequence_information import SequenceFormulas
from labelworth.planning.sequence_nearby import interior, nearby_chains
from labelworth.planning.sequences import MOST_PARAMETERS, LabeledSequences, menu_prices
from labelworth.planning.situation import Situation
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, Progress
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.costs import Prices


def asymptotic_sequences(
    data: LabeledSequences,
    menu: Sequence[Rule],
    criterion: str,
    prices: Prices,
    pool: float,
    *,
    n_draws: int,
    seed: int,
    reason: str,
    progress: Progress = SILENT,
) -> Situation:
    """The situation by the formulas.

    Raises
    ------
    InvalidInputError
        If there are too many parameters for matrices.
    """
    if data.n_parameters > MOST_PARAMETERS:
        raise InvalidInputError(
            f"A {data.model.kind} model with {data.n_parameters:,} parameters is too large for the formulas of a "
            f"plan, which take up to {MOST_PARAMETERS}. Take source='simulated', or fewer words (min_count=)."
        )
    formulas = SequenceFormulas(data, interior(data.occurring_model), menu, criterion, reason, seed)
    plugged = formulas.at_fit(progress)
    is_dear = formulas.is_sampled_nearby
    around = nearby_chains(data, formulas.center, plugged.of_fit, n_draws, is_dear=is_dear, seed=seed)
    if around.models and is_dear:
        progress.say(
            f"How sure the plan is: sequences are drawn at {len(around.models)} other parameters, which may take a "
            "minute or two; with a checkpoint an interrupted plan goes on from there."
        )
    sampled = plugged.accuracy
    return Situation(
        data.held(prices, None),
        plugged.exact_accuracy,
        menu_prices(menu, data, prices),
        pool,
        float(data.sequences.lengths.mean()),
        alternatives=tuple(partial(_near, formulas, build, number) for number, build in enumerate(around.models)),
        origin=around.origin,
        sampled=sampled,
        twin=formulas.twin().accuracy if around.models and is_dear else None,
        reflects=around.origin == "bootstrap",
        workers=None if is_dear or around.origin == "bootstrap" else 1,
    )


def _near(formulas: SequenceFormulas, build: Callable[[], Any], number: int) -> AsymptoticAccuracy:
    return formulas.near(build(), number).accuracy
