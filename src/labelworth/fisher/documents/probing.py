r"""Information at a fit with any number of parameters: a few probes, a few passes, every labeled fraction.

No matrix is formed. Traces are means of quadratic forms :math:`z' f(N) z` over random signs z, and each form comes
from a Lanczos recurrence of passes over the documents; docs/derivations/matrix_free.md has the derivation.
"""

import warnings

import numpy as np

from labelworth.arrays import FloatArray, require_between
from labelworth.data.samples import Samples
from labelworth.errors import DidNotConvergeWarning, NotIdentifiableError
from labelworth.fisher.criteria import Weight
from labelworth.fisher.documents.observed_counts import ObservedCounts
from labelworth.fisher.documents.probed import ProbedInformation, Spectrum
from labelworth.linalg.lanczos import LockstepLanczos, largest_eigenvalue_bound, row_chunks
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.progress import SILENT, Progress, tracking

_STEPS_BETWEEN_LOOKS = 5


def matrix_free_information(
    model: MultinomialModel,
    family: MultinomialFamily,
    samples: Samples,
    rng: np.random.Generator,
    *,
    n_probes: int = 10,
    n_named_probes: int = 4,
    quadrature_tolerance: float = 1e-3,
    max_steps: int = 200,
    progress: Progress = SILENT,
) -> ProbedInformation:
    r"""Estimate the observed information at a fitted maximum from a few random probes.

    .. math::

        \operatorname{tr} f(N) \approx \frac{1}{b} \sum_{j=1}^b z_j' f(N) z_j, \qquad z_j \in \{-1, 1\}^d

    Parameters
    ----------
    model : MultinomialModel
        At the maximum: a fit that has converged (tolerance 1e-10 or smaller).
    family : MultinomialFamily
        Whose prior was in the objective.
    samples : Samples
        What it was fitted to: labeled and unlabeled rows, weights included.
    rng : Generator
        For the probes.
    n_probes : int
        Standard errors fall with its square root.
    n_named_probes : int
        The same for the named tables' total variance, which needs fewer: most of it is exact.
    quadrature_tolerance : float
        Steps are added until the bounds of the quadrature are this close, relatively, at the fitted fraction.
    max_steps : int
        At most; then a warning.

    Returns
    -------
    ProbedInformation
        Every fraction from the fitted one up; every figure with its standard error over the probes.

    Raises
    ------
    NotIdentifiableError
        If the observed information is not positive definite: this is no strict maximum.
    InvalidInputError
        If the fit has not converged, or there is nothing unlabeled.

    Notes
    -----
    Three blocks of (d, n_probes + n_named_probes) numbers: all probes start a recurrence, and some a second one,
    weighted by the squared errors of the named tables. The trace of N itself is computed exactly, so that only what
    lies beyond it has a standard error; see docs/derivations/matrix_free.md.

    Paper: prop:efficiency1.
    """
    require_between("n_probes", n_probes, 2, 10_000)
    require_between("n_named_probes", n_named_probes, 2, n_probes)
    observed = ObservedCounts.at(model, family, samples)
    observed.require_fixed_point()
    starts = _probes(observed, n_probes, n_named_probes, rng)
    run = LockstepLanczos(observed.missing, starts)
    with tracking(progress, "Lanczos", max_steps) as task:
        while True:
            steps = min(_STEPS_BETWEEN_LOOKS, max_steps - run.n_steps)
            run.advance(steps)
            curve = _curve(observed, run, n_probes)
            width = _relative_width(curve)
            task.advance(steps, f"bounds within {width:.2g}")
            if width <= quadrature_tolerance:
                return curve
            if run.n_steps >= max_steps:
                _warn_wide(width, max_steps)
                return curve


def _probes(observed: ObservedCounts, n_probes: int, n_named_probes: int, rng: np.random.Generator) -> FloatArray:
    """Random signs, and beside them the first few again, weighted by the squared errors of the named tables."""
    starts = np.empty((observed.size, n_probes + n_named_probes))
    for rows in row_chunks(starts):
        signs = rng.integers(0, 2, size=starts[rows, :n_probes].shape) * 2 - 1
        starts[rows, :n_probes] = signs
        starts[rows, n_probes:] = np.sqrt(observed.named_weights[rows])[:, None] * signs[:, :n_named_probes]
    observed.project(starts)
    return starts


def _curve(observed: ObservedCounts, run: LockstepLanczos, n_probes: int) -> ProbedInformation:
    largest = run.largest()
    if largest >= 1:
        raise NotIdentifiableError(
            "The observed information is not positive definite, so this is not a strict maximum: let the fit "
            "converge, label more, or use a stronger prior."
        )
    # No eigenvalue lies above: but for a chance of one in a million, or because at a maximum none is above 1.
    end = largest_eigenvalue_bound(largest, observed.n_parameters, run.n_steps, n_probes)
    low, high = run.gauss(), run.radau(min(end, 1.0))
    plain, named = slice(n_probes), slice(n_probes, None)
    trace, named_trace = observed.missing_traces
    return ProbedInformation(
        1 - observed.unlabeled_weight / observed.total_weight,
        largest,
        observed.residual,
        run.n_steps,
        Spectrum(float(observed.n_parameters), trace, low.take(plain), high.take(plain)),
        Spectrum(observed.named_complete, named_trace, low.take(named), high.take(named)),
        observed.log_determinant,
    )


def _relative_width(curve: ProbedInformation) -> float:
    lowest = np.array([curve.lowest_fraction])
    widths = []
    for weight in (Weight.MISSING, Weight.NAMED):
        low, high = curve.trace_bounds(weight, lowest)
        widths.append(float((high[0] - low[0]) / low[0]) if low[0] > 0 else 0.0)
    return max(widths)


def _warn_wide(width: float, max_steps: int) -> None:
    warnings.warn(
        f"After {max_steps} Lanczos steps the quadrature is still uncertain by {width:.2g} at the fitted fraction; "
        "raise max_steps, or ask for larger fractions.",
        DidNotConvergeWarning,
        stacklevel=3,
    )
