"""EM from several starts: the best end is kept, and what the labels leave open is told."""

import warnings
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.evidence import Evidence
from labelworth.errors import DidNotConvergeWarning, InvalidInputError, LabelworthWarning
from labelworth.estimation.expectation_maximization import Ascent, ExpectationMaximization
from labelworth.estimation.starts import exchangeable_classes
from labelworth.models.protocol import ParametersT
from labelworth.progress import Progress, tracking

FoundT = TypeVar("FoundT")


@dataclass(frozen=True, eq=False)
class Found(Generic[FoundT]):
    """A fitted model and how it was found.

    Attributes
    ----------
    model : Model
        theta_hat.
    objective_path : array
        The objective of every model kept, in order; it never falls, but by rounding (1e-12 of the sum of its terms).
    log_likelihood : float
        Weighted sum of log p(evidence, x) at `model`; the objective is this plus the log prior.
    converged : bool
        Whether the gain still to come is within the tolerance.
    n_iterations, n_evaluations : int
        Steps and passes over the data, of the start that won.
    starts : array
        The objective reached from every start.
    unlabeled_weight : float
        How much a row or sequence counted of whose labels nothing is known.
    exchangeable_classes : tuple of tuples
        Groups of classes the labels could not tell apart: their names are arbitrary.
    """

    model: FoundT
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


def search(
    climber: ExpectationMaximization[ParametersT],
    evidence: Evidence,
    starts: Callable[[], Iterable[ParametersT]],
    impossible: Callable[[ParametersT], InvalidInputError],
    unlabeled_weight: float,
    progress: Progress,
) -> Found[ParametersT]:
    """Climb from every start and keep the best end; where every class is known, the closed-form maximizer.

    Parameters
    ----------
    climber : ExpectationMaximization
        With the data laid out.
    evidence : Evidence
        What is known of the classes.
    starts : callable
        The starting models; not asked for where the maximizer is known.
    impossible : callable
        What to raise for a starting model of objective minus infinity.
    unlabeled_weight : float
        For the record.
    progress : Progress
        Told how far the work is.

    Warns
    -----
    DidNotConvergeWarning
        If the steps were used up.
    LabelworthWarning
        If the labels cannot tell some classes apart.
    """
    alike: tuple[tuple[Hashable, ...], ...] = ()
    if evidence.is_gold.all() or evidence.n_classes == 1:
        ascents = [_closed_form(climber)]
    else:
        alike = exchangeable_classes(evidence)
        if alike:
            tell_exchangeable(alike, progress)
        ascents = _climb_from(starts(), climber, impossible, progress)
    best = max(ascents, key=lambda ascent: ascent.end.objective)
    if not best.converged:
        _warn_not_converged(best)
    return Found(
        model=best.end.model,
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
    models: Iterable[ParametersT],
    climber: ExpectationMaximization[ParametersT],
    impossible: Callable[[ParametersT], InvalidInputError],
    progress: Progress,
) -> list[Ascent[ParametersT]]:
    ascents = []
    with tracking(progress, "EM", None) as task:
        for model in models:
            point = climber.evaluate(model)
            if not np.isfinite(point.objective):
                raise impossible(model)
            ascents.append(climber.climb(point, task))
    return ascents


def _closed_form(climber: ExpectationMaximization[ParametersT]) -> Ascent[ParametersT]:
    """Every class is known: the responsibilities do not depend on the model, so one step is the maximum."""
    neutral = climber.data.expectation(climber.family.neutral())
    end = climber.evaluate(climber.family.maximize(neutral.statistics))
    return Ascent(end, np.array([end.objective]), True, 1, 2)


def tell_exchangeable(alike: tuple[tuple[Hashable, ...], ...], progress: Progress) -> None:
    """Say which classes the labels cannot tell apart."""
    groups = "; ".join(", ".join(repr(name) for name in group[:8]) for group in alike)
    message = (
        f"No label tells these classes apart: {groups}. Their names are arbitrary, and they begin from random rows; "
        "label at least one sample of each."
    )
    progress.say(message)
    warnings.warn(message, LabelworthWarning, stacklevel=4)


def _warn_not_converged(ascent: Ascent[ParametersT]) -> None:
    gained = ascent.objective_path[-1] - ascent.objective_path[max(0, len(ascent.objective_path) - 3)]
    warnings.warn(
        f"EM stopped after {ascent.n_iterations} steps before it converged (the last steps gained {gained:.3g}); "
        "allow more steps, or a larger tolerance.",
        DidNotConvergeWarning,
        stacklevel=4,
    )
