"""What more labels would be worth at a fit, from the very samples that were fitted, for any number of parameters."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray, as_floats
from labelworth.criteria.table import Asked, InformationTable, tabulate
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import Fit, settled
from labelworth.fisher.choice import Chosen
from labelworth.fisher.dense import DENSE_LIMIT
from labelworth.fisher.documents.observed import observed_information
from labelworth.fisher.documents.probing import matrix_free_information
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.models.protocol import AnyFamily
from labelworth.progress import SILENT, Progress

_N_FRACTIONS = 20


def information_at_fit(
    model: Any,
    family: AnyFamily,
    samples: Samples,
    *,
    labeled_fractions: ArrayLike | None = None,
    n_samples: float | None = None,
    seed: int = 0,
    n_probes: int = 20,
    progress: Progress = SILENT,
) -> InformationTable:
    """The observed information at a fit, at every labeled fraction from the fitted one up.

    Unlike `information`, which takes a model for true and averages over what it would draw, this holds for the
    samples at hand, and needs no matrix: with many parameters a multinomial model is asked through random probes.

    Parameters
    ----------
    model : Model
        As fitted. It is taken on to its fixed point first, where the observed information is defined.
    family : Family
        Whose prior was in the objective.
    samples : Samples
        What was fitted, every row with its own weight.
    labeled_fractions : sequence of float, optional
        From the fitted fraction to 1; twenty of them when absent.
    n_samples : float, optional
        The weight of the samples when absent.
    seed : int
        Of the probes.
    n_probes : int
        Standard errors fall with its square root. Where nearly every row's class is certain, what the probes estimate
        is a tiny part of a figure, has long tails, and its standard error is rough.
    progress : Progress

    Raises
    ------
    NotIdentifiableError
        If nothing is labeled, or the fit is not a strict maximum.
    InvalidInputError
        If a fraction lies below the fitted one, or there are too many parameters for matrices and the model is not
        multinomial.

    Notes
    -----
    Paper: prop:efficiency1.
    """
    if samples.evidence.is_unlabeled.all():
        raise NotIdentifiableError("No row is labeled, so the classes have no names. Label at least one of each.")
    chosen = _chosen(settled(family, samples, start=model, progress=progress), samples, seed, n_probes, progress)
    fractions = _fractions(labeled_fractions, samples)
    asked = [Asked.of_fraction(float(fraction)) for fraction in fractions]
    return tabulate(chosen, asked, float(samples.sample_weights.sum()) if n_samples is None else n_samples)


def _chosen(fitted: Fit[Any, Any], samples: Samples, seed: int, n_probes: int, progress: Progress) -> Chosen:
    model, family = fitted.model, fitted.family
    n_parameters = model.coordinates.n_free
    if n_parameters <= DENSE_LIMIT:
        return Chosen(
            observed_information(model, samples, family.prior_curvature(model)),
            "it holds for the samples at hand, and the matrices are small",
        )
    if not isinstance(family, MultinomialFamily):
        raise InvalidInputError(
            f"A {model.kind} model with {n_parameters} parameters would need matrices of that size; up to "
            f"{DENSE_LIMIT} are formed. Leave features out."
        )
    curve = matrix_free_information(
        model,
        family,
        samples,
        np.random.default_rng([seed, n_probes]),
        n_probes=n_probes,
        n_named_probes=n_probes,
        progress=progress,
    )
    return Chosen(curve, f"{n_parameters:,} parameters are too many for matrices")


def _fractions(labeled_fractions: ArrayLike | None, samples: Samples) -> FloatArray:
    if labeled_fractions is None:
        weights = samples.sample_weights
        return np.geomspace(weights[~samples.evidence.is_unlabeled].sum() / weights.sum(), 1.0, _N_FRACTIONS)
    fractions = as_floats("labeled_fractions", labeled_fractions, ndim=1)
    if not fractions.size:
        raise InvalidInputError("labeled_fractions must not be empty; for example [0.1, 0.5, 1].")
    return fractions
