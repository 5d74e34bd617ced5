"""Other parameters that the pilot and the pool would have allowed: how sure a fit is, as a set of models."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg

from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, LabelworthWarning, NotIdentifiableError
from labelworth.estimation.fit import Fit, fit
from labelworth.fisher.documents.observed import observed_information
from labelworth.models.protocol import AnyModel
from labelworth.progress import SILENT, Progress, tracking

Origin = Literal["normal draws", "bootstrap"]

_FIXED_POINT = 1e-12
_MAX_ITERATIONS = 5000
_MOST_OUTSIDE = 0.01
_REFIT_TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class NearbyModels:
    """Models as probable as the fit's own uncertainty says.

    Attributes
    ----------
    models : tuple of Model
    origin : "normal draws" or "bootstrap"
        From the asymptotic normal law of the fit; or refits to resampled rows, where that law puts probabilities
        below zero.
    """

    models: tuple[AnyModel, ...]
    origin: Origin


def nearby_models(
    fitted: Fit[Any, Any],
    samples: Samples,
    n_models: int,
    rng: np.random.Generator,
    *,
    n_refits: int = 60,
    progress: Progress = SILENT,
) -> NearbyModels:
    r"""Draw parameters from :math:`N(\hat\theta, (-\nabla^2 \ell)^{-1})`, or refit to resampled rows.

    Parameters
    ----------
    fitted : Fit
        To `samples`.
    n_models, n_refits : int
        How many models; refits are dear.

    """
    settled = fit(fitted.family, samples, start=fitted.model, tolerance=_FIXED_POINT, max_iterations=_MAX_ITERATIONS)
    try:
        drawn = _drawn(settled, samples, n_models, rng)
    except NotIdentifiableError:
        # A maximum at the edge, where a probability is zero: no normal law there.
        drawn = []
    if len(drawn) >= (1 - _MOST_OUTSIDE) * n_models:
        return NearbyModels(tuple(drawn), "normal draws")
    return NearbyModels(tuple(_refitted(settled, samples, n_refits, rng, progress)), "bootstrap")


def _drawn(settled: Fit[Any, Any], samples: Samples, n_models: int, rng: np.random.Generator) -> list[AnyModel]:
    """Draws of the normal law that are parameters at all."""
    model = settled.model
    information = observed_information(model, samples, settled.family.prior_curvature(model))
    hessian = float(samples.sample_weights.sum()) * information.at(information.lowest_fraction)
    upper = scipy.linalg.cholesky(hessian, lower=False)
    shifts = scipy.linalg.solve_triangular(upper, rng.standard_normal((len(hessian), n_models)))
    center = model.coordinates.flatten(model.tables)
    found = []
    for shift in shifts.T:
        try:
            found.append(model.with_tables(model.coordinates.named(center + shift)))
        except InvalidInputError:
            continue
    return found


def _refitted(
    settled: Fit[Any, Any], samples: Samples, n_models: int, rng: np.random.Generator, progress: Progress
) -> list[AnyModel]:
    """Fits to rows drawn with replacement, labeled and unlabeled ones each among their own."""
    unlabeled = samples.evidence.is_unlabeled
    groups = [np.flatnonzero(~unlabeled), np.flatnonzero(unlabeled)]
    found = []
    with tracking(progress, "bootstrap", n_models) as task, warnings.catch_warnings():
        # A resample may lack a class of few labels; the warm start keeps its name.
        warnings.simplefilter("ignore", LabelworthWarning)
        for _ in range(n_models):
            rows = np.concatenate([rng.choice(group, size=len(group)) for group in groups if len(group)])
            refit = fit(settled.family, samples.take(rows), start=settled.model, tolerance=_REFIT_TOLERANCE)
            found.append(refit.model)
            task.advance()
    return found
