"""Fit a model to any mixture of labeled, unlabeled and ambiguous samples."""

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Generic

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.errors import DidNotConvergeWarning, LabelworthWarning
from labelworth.estimation.doors import counting_rows, impossible_start, require_arguments, require_matching
from labelworth.estimation.expectation_maximization import Ascent, ExpectationMaximization
from labelworth.estimation.starts import exchangeable_classes, starting_models
from labelworth.models.protocol import Family, ModelT
from labelworth.progress import SILENT, Progress, tracking


@dataclass(frozen=True, eq=False)
class Fit(Generic[ModelT]):
    """A fitted model and how it was found.

    Attributes
    ----------
    model : Model
        theta_hat.
    family : Family
        With everything filled in: its prior is the one in the objective.
    objective_path : array
        The objective of every model kept, in order; it never falls, but by rounding (1e-12 of the sum of its terms).
    log_likelihood : float
        Weighted sum of log p(evidence, x) at `model`; the objective is this plus the log prior.
    converged : bool
        Whether the gain still to come is within the tolerance.
    n_iterations, n_evaluations : int
        EM steps and passes over the data, of the start that won.
    starts : array
        The objective reached from every start.
    unlabeled_weight : float
        How much a row counted of whose class nothing is known.
    exchangeable_classes : tuple of tuples
        Groups of classes the labels could not tell apart: their names are arbitrary.
    """

    model: ModelT
    family: Family[ModelT]
    objective_path: FloatArray
    log_likelihood: float
    converged: bool
    n_iterations: int
    n_evaluations: int
    starts: FloatArray
    unlabeled_weight: float
    exchangeable_classes: tuple[tuple[Hashable, ...], ...] = ()

    @property
    def objective(self) -> float:
        """Log-likelihood plus log prior at `model`."""
        return float(self.objective_path[-1])


def fit(
    family: Family[ModelT],
    samples: Samples,
    *,
    start: ModelT | None = None,
    start_smoothing: float = 1.0,
    unlabeled_weight: float = 1.0,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    accelerated: bool = True,
    n_starts: int = 1,
    rng: np.random.Generator | None = None,
    progress: Progress = SILENT,
) -> Fit[ModelT]:
    r"""Maximize the penalized likelihood of whatever is known.

    .. math:: \sum_i w_i \log \sum_y p_\theta(x_i, y)\, e_i(y) + \log \text{prior}(\theta)

    where :math:`w_i` is the weight of the sample, times `unlabeled_weight` if nothing is known of its class.

    Parameters
    ----------
    family : Family
        The kind of model and its prior.
    samples : Samples
        Labeled, unlabeled and ambiguous rows in any mixture. Rows of weight 0 are left out.
    start : Model, optional
        Where to begin; else the supervised model of the rows of whose class something is known. Classes that no
        label singles out begin from a few random rows.
    start_smoothing : float
        How many times stronger the prior is for that supervised model. A diffuse start finds better maxima.
    unlabeled_weight : float
        0 uses the labels only.
    max_iterations : int
        EM steps at most.
    tolerance : float
        Stop when the estimated gain still to come is below this many nats per unit of weight (see `StoppingRule`).
        At 1e-6 and 10 000 samples the estimate is within about 0.15 standard errors of the maximum in its worst
        direction; 1e-13 reaches a fixed point to rounding.
    accelerated : bool
        Whether to extrapolate (SQUAREM); such a step is kept only if the objective does not fall.
    n_starts : int
        How many starts, a given one among them; the best end is kept.
    rng : Generator, optional
        For random starts; one with seed 0 when absent.
    progress : Progress
        Told how far the work is.

    Returns
    -------
    Fit
        When every class is known, the closed-form maximizer.

    Warns
    -----
    DidNotConvergeWarning
        If `max_iterations` was reached.
    LabelworthWarning
        If the labels cannot tell some classes apart.

    Raises
    ------
    InvalidInputError
        If nothing is left to learn from, or an argument makes no sense.
    """
    require_arguments(start_smoothing, unlabeled_weight, max_iterations, tolerance, n_starts)
    samples, row_weights = counting_rows(samples, unlabeled_weight)
    evidence = samples.evidence
    family = family.adapted(samples, row_weights)
    climber = ExpectationMaximization(
        family,
        family.prepare(samples, row_weights),
        tolerance,
        max_iterations,
        accelerated,
        float(row_weights.sum()),
    )
    alike: tuple[tuple[Hashable, ...], ...] = ()
    if evidence.is_gold.all() or evidence.n_classes == 1:
        ascents = [_closed_form(climber)]
    else:
        alike = exchangeable_classes(evidence)
        if alike:
            _tell_exchangeable(alike, progress)
        given = [] if start is None else [require_matching(start, family)]
        found = starting_models(
            family.smoother(start_smoothing),
            samples,
            row_weights,
            n_starts - len(given),
            rng or np.random.default_rng(0),
        )
        ascents = _climb_from(chain(given, found), climber, samples, progress)
    best = max(ascents, key=lambda ascent: ascent.end.objective)
    if not best.converged:
        _warn_not_converged(best)
    return Fit(
        model=best.end.model,
        family=family,
        objective_path=best.objective_path,
        log_likelihood=best.end.log_likelihood,
        converged=best.converged,
        n_iterations=best.n_iterations,
        n_evaluations=best.n_evaluations,
        starts=np.array([ascent.end.objective for ascent in ascents]),
        unlabeled_weight=unlabeled_weight,
        exchangeable_classes=alike,
    )


def _climb_from(
    models: Iterable[ModelT], climber: ExpectationMaximization[ModelT], samples: Samples, progress: Progress
) -> list[Ascent[ModelT]]:
    ascents = []
    with tracking(progress, "EM", None) as task:
        for model in models:
            point = climber.evaluate(model)
            if not np.isfinite(point.objective):
                raise impossible_start(model, samples)
            ascents.append(climber.climb(point, task))
    return ascents


def _closed_form(climber: ExpectationMaximization[ModelT]) -> Ascent[ModelT]:
    """Every class is known: the responsibilities do not depend on the model, so one step is the maximum."""
    neutral = climber.data.expectation(climber.family.neutral())
    end = climber.evaluate(climber.family.maximize(neutral.statistics))
    return Ascent(end, np.array([end.objective]), True, 1, 2)


def _tell_exchangeable(alike: tuple[tuple[Hashable, ...], ...], progress: Progress) -> None:
    groups = "; ".join(", ".join(repr(name) for name in group[:8]) for group in alike)
    message = (
        f"No label tells these classes apart: {groups}. Their names are arbitrary, and they begin from random rows; "
        "label at least one sample of each."
    )
    progress.say(message)
    warnings.warn(message, LabelworthWarning, stacklevel=3)


def _warn_not_converged(ascent: Ascent[ModelT]) -> None:
    gained = ascent.objective_path[-1] - ascent.objective_path[max(0, len(ascent.objective_path) - 3)]
    warnings.warn(
        f"EM stopped after {ascent.n_iterations} steps before it converged (the last steps gained {gained:.3g}); "
        "allow more steps, or a larger tolerance.",
        DidNotConvergeWarning,
        stacklevel=3,
    )
