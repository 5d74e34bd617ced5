"""Plans by formulas: the accuracy at the fit, and at other parameters that the pilot would have allowed.

The normal law of the fit gives those other parameters, where it keeps probabilities between zero and one; elsewhere
refits to resampled data do (the bootstrap).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.pool import Pool
from labelworth.planning.kinds.menu import KindMenu
from labelworth.planning.menu import arm_prices, held_before
from labelworth.planning.situation import Alternatives, Origin, Situation
from labelworth.planning.source import ChosenSource
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, Progress
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.costs import Prices

_MOST_OUTSIDE = 0.01
"""Of draws of the normal law: with more of them that are no parameters, data is resampled instead."""


class Formulas(Protocol):
    """What the formulas say of a pool, for one menu and one criterion."""

    @property
    def is_sampled_nearby(self) -> bool:
        """Whether the accuracy at other parameters takes draws, and so its time."""

    @property
    def most_refits(self) -> int:
        """Refits are expensive, and so are draws at every parameter: at most this many of either."""

    def accuracy(self) -> Accuracy:
        """At the fit."""

    def sampled(self) -> AsymptoticAccuracy | None:
        """The same with what tells the noise of its draws; None where nothing could have been drawn."""

    def near(self, model: Any, number: int) -> Accuracy:
        """At other parameters; draws are their own for every number."""

    def twin(self) -> AsymptoticAccuracy | None:
        """At the fit, from as few draws as at other parameters: what their bias is."""

    def normal_draws(self, n_draws: int) -> list[Any]:
        """Models drawn from the normal law of the fit, without those outside; empty where it has no such law."""

    def refits(self, n_refits: int) -> tuple[Callable[[], Any], ...]:
        """Fits to resampled data, each made when it is asked for."""


def formula_situation(
    pool: Pool[Any],
    menu: Sequence[Rule],
    chosen: ChosenSource,
    prices: Prices,
    room: float,
    *,
    n_draws: int,
    seed: int,
    kinds: KindMenu | None = None,
    progress: Progress = SILENT,
) -> Situation:
    """Where a plan by formulas starts.

    Parameters
    ----------
    room : float
        How many more samples can be had.
    n_draws : int
        At how many other parameters the question will be asked.
    kinds : KindMenu, optional
        Whom documents can be given to; else they are labeled by the rules of the menu.

    Raises
    ------
    InvalidInputError
        If the criterion needs matrices and there are too many parameters for them.
    NotIdentifiableError
        If the fit is not a strict maximum.
    """
    formulas = _formulas_of(pool, menu, kinds, chosen, seed, progress)
    return Situation(
        held_before(pool, prices),
        formulas.accuracy(),
        arm_prices(pool, menu, prices) if kinds is None else kinds.prices,
        room,
        float(pool.data.lengths.mean()),
        doubt=nearby(formulas, n_draws, progress),
        kinds=kinds,
    )


def _formulas_of(
    pool: Any,
    menu: Sequence[Rule],
    kinds: KindMenu | None,
    chosen: ChosenSource,
    seed: int,
    progress: Progress,
) -> Formulas:
    """By what the pool can do; modules of the other kind are not loaded."""
    limit = pool.abilities.most_parameters
    if pool.abilities.rules:
        from labelworth.planning.formulas.sequences import SequenceFormulas

        if pool.is_large:
            raise InvalidInputError(
                f"A {pool.model.kind} model with {pool.n_parameters:,} parameters is too large for the formulas of a "
                f"plan, which take up to {limit}. Take source='simulated', or fewer words (min_count=)."
            )
        return SequenceFormulas.of(pool, menu, chosen, seed, progress, kinds)
    from labelworth.planning.formulas.documents import DocumentFormulas, ProbedFormulas

    if kinds is not None:
        from labelworth.planning.kinds.formulas import KindFormulas

        return KindFormulas(pool, kinds.names, chosen.criterion, seed, progress, kinds=kinds)
    arms, way = tuple(rule.spec for rule in menu), ProbedFormulas if pool.is_large else DocumentFormulas
    return way(pool, arms, chosen.criterion, seed, progress)


def nearby(formulas: Formulas, n_models: int, progress: Progress = SILENT) -> Alternatives:
    """The accuracy at other parameters, each as probable as the next."""
    wanted = min(n_models, formulas.most_refits) if formulas.is_sampled_nearby else n_models
    models = formulas.normal_draws(wanted) if wanted else []
    builds: tuple[Callable[[], Accuracy], ...]
    if len(models) >= (1 - _MOST_OUTSIDE) * wanted:
        builds = tuple(partial(formulas.near, model, number) for number, model in enumerate(models))
        origin: Origin = "normal draws"
    else:
        refits = formulas.refits(min(n_models, formulas.most_refits))
        builds = tuple(partial(_near_refit, formulas, refit, number) for number, refit in enumerate(refits))
        origin = "bootstrap"
    if builds and formulas.is_sampled_nearby:
        progress.say(
            f"How sure the plan is: sequences are drawn at {len(builds)} other parameters, which may take a "
            "minute or two; with a checkpoint an interrupted plan goes on from there."
        )
    return Alternatives(
        builds,
        origin,
        formulas.sampled(),
        formulas.twin() if builds and formulas.is_sampled_nearby else None,
        is_slow=formulas.is_sampled_nearby or origin == "bootstrap",
    )


def _near_refit(formulas: Formulas, refit: Callable[[], Any], number: int) -> Accuracy:
    return formulas.near(refit(), number)


def drawn_models(model: Any, information: FloatArray, normals: FloatArray) -> list[Any]:
    r"""Draws from :math:`N(\hat\theta, I^{-1})`, without those that are no parameters.

    Parameters
    ----------
    model : Model
        At :math:`\hat\theta`.
    information : array of shape (d, d)
        That the fit rests on; where it is singular there are no draws.
    normals : array of shape (d, n_draws)
        Standard normal.
    """
    try:
        upper = scipy.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        return []
    center, models = model.coordinates.flatten(model.tables), []
    for shift in scipy.linalg.solve_triangular(upper, normals).T:
        try:
            models.append(model.with_tables(model.coordinates.named(center + shift)))
        except InvalidInputError:
            continue
    return models
