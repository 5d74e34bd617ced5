"""Other parameters of a chain that the pilot and the pool would have allowed."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.models.chains.protocol import Reference
from labelworth.models.probability_rows import spread_evenly
from labelworth.planning.nearby import Origin
from labelworth.planning.sequences import LabeledSequences
from labelworth.progress import SILENT

MOST_REFITS = 39
"""Refits are dear, and so are draws at every parameter: of 39 answers the 2nd and the 38th are the ends."""
_SMALLEST = 1e-4
_MOST_OUTSIDE = 0.01


@dataclass(frozen=True, eq=False)
class NearbyChains:
    """Models as probable as the fit's own uncertainty says.

    Attributes
    ----------
    models : tuple of functions without arguments
        Each answers with a model.
    origin : "normal draws" or "bootstrap"
    """

    models: tuple[Callable[[], Any], ...]
    origin: Origin


def nearby_chains(
    data: LabeledSequences, center: Any, information: FloatArray, n_models: int, *, is_dear: bool, seed: int
) -> NearbyChains:
    """Draw from the normal law of the fit, or fit again with other weights.

    The normal law is taken for probabilities that it leaves between zero and one. For log-weights the penalty decides
    along directions that the data hardly sees, and the normal law of the data alone would go astray there.

    Parameters
    ----------
    center : ChainModel
        At which the plan is made.
    information : array of shape (d, d)
        That which the fit rests on.
    is_dear : bool
        Whether the information at every model takes draws.
    """
    if not n_models:
        return NearbyChains((), "normal draws")
    fewer = min(n_models, MOST_REFITS)
    if center.reference is Reference.NOTHING:
        wanted = fewer if is_dear else n_models
        drawn = _drawn(center, information, wanted, np.random.default_rng([seed, 13]))
        if len(drawn) >= (1 - _MOST_OUTSIDE) * wanted:
            return NearbyChains(tuple(partial(_itself, model) for model in drawn), "normal draws")
    return NearbyChains(tuple(partial(refitted, data, [seed, 13, number]) for number in range(fewer)), "bootstrap")


def _itself(model: Any) -> Any:
    return model


def _drawn(model: Any, information: FloatArray, n_draws: int, rng: np.random.Generator) -> list[Any]:
    """Parameters drawn from the normal law of the fit; those that are none are left out."""
    try:
        upper = scipy.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        return []
    center = model.coordinates.flatten(model.tables)
    found = []
    for _ in range(n_draws):
        shift = scipy.linalg.solve_triangular(upper, rng.standard_normal(len(upper)))
        try:
            found.append(model.with_tables(model.coordinates.named(center + shift)))
        except InvalidInputError:
            continue
    return found


def refitted(data: LabeledSequences, seed: list[int]) -> Any:
    r"""A fit to the same sequences with other weights (the Bayesian bootstrap).

    Labeled and unlabeled sequences each among their own: the weights of n are n times a draw from the flat Dirichlet
    distribution. To first order that is drawing with replacement; but no label, word or attribute is ever lost, so
    that all fits have the same parameters. What never occurs is left out of all of them.
    """
    rng, weights = np.random.default_rng(seed), data.sequences.sequence_weights.copy()
    for group in (data.labeled, ~data.labeled):
        size = int(group.sum())
        if size:
            weights[group] *= size * rng.dirichlet(np.ones(size))
    with warnings.catch_warnings():
        # A fit may be slow to settle with weights far from each other: that is part of how unsure it is.
        warnings.simplefilter("ignore", LabelworthWarning)
        fitted = data.fit(replace(data.sequences, weights=weights), SILENT)
    return interior(data.occurrence.of_model(fitted.model))


def interior(model: Any) -> Any:
    """The model; where probabilities are all but zero, a nearby one with a hundredth of each row spread evenly.

    At the edge the theory does not hold, and near it the rarest of events would decide.
    """
    is_edge = min(float(table.min()) for table in model.tables.values()) < _SMALLEST
    if model.reference is not Reference.NOTHING or not is_edge:
        return model
    return spread_evenly(model)
