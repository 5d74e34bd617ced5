"""Fit a model to any mixture of labeled, unlabeled and ambiguous rows, or of such sequences.

By EM; by L-BFGS where a family has no M-step and its pass knows a slope instead.
"""

import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from labelworth.arrays import FloatArray, require_between
from labelworth.data.evidence import Evidence
from labelworth.data.shards.passes import DataT
from labelworth.errors import DidNotConvergeWarning, InvalidInputError, LabelworthWarning, NotIdentifiableError
from labelworth.estimation.expectation_maximization import Ascent, ExpectationMaximization, FittedT, Point
from labelworth.estimation.starts import (
    LARGEST,
    counting,
    exchangeable_classes,
    impossible_start,
    models_to_begin,
    require_search,
    said,
)
from labelworth.models.protocol import EMFamily, ParametersT, Pass, SlopedPass
from labelworth.models.sharded import prepared
from labelworth.progress import SILENT, Progress, Task, duration, tracking

if TYPE_CHECKING:
    from labelworth.estimation.likelihood_ascent import LikelihoodAscent

FamilyT = TypeVar("FamilyT")
ResultT = TypeVar("ResultT")

_FIXED_POINT = 1e-13  # nats per sample still to be gained: rounding
_STEPS_TO_FIXED_POINT = 20_000
_NUDGES = (0.01, 0.03, 0.1)  # of the usual size of a coordinate
_LONG_STEP = 0.5  # seconds: from there on it is said how long a fit takes
_USUAL_STEPS = (10, 50)


@dataclass(frozen=True, eq=False)
class Fit(Generic[FittedT, FamilyT]):
    """A fitted model and how it was reached."""

    model: FittedT  # theta_hat.
    family: FamilyT  # With everything filled in: its prior is the one in the objective.
    # The objective of every model kept, in order; it never falls, but by rounding (1e-12 of the sum of its terms).
    objective_path: FloatArray
    log_likelihood: float  # Weighted sum of log p(evidence, x) at `model`; the objective is this plus the log prior.
    converged: bool  # Whether the gain still to come is within the tolerance.
    n_iterations: int  # Steps, and passes over the data, of the start that won.
    n_evaluations: int
    starts: FloatArray  # The objective reached from every start.
    unlabeled_weight: float  # How much a row or sequence counted of whose labels nothing is known.
    # Groups of classes the labels could not tell apart: their names are arbitrary.
    exchangeable_classes: tuple[tuple[Hashable, ...], ...] = ()

    @classmethod
    def best_of(
        cls,
        ascents: Sequence[Ascent[FittedT]],
        family: FamilyT,
        unlabeled_weight: float,
        exchangeable: tuple[tuple[Hashable, ...], ...],
    ) -> "Fit[FittedT, FamilyT]":
        """The best end of several ascents."""
        best = max(ascents, key=lambda ascent: ascent.end.objective)
        return cls(
            best.end.model,
            family,
            best.objective_path,
            best.end.log_likelihood,
            best.converged,
            best.n_iterations,
            best.n_evaluations,
            np.array([ascent.end.objective for ascent in ascents]),
            unlabeled_weight,
            exchangeable,
        )

    @property
    def objective(self) -> float:
        """Log-likelihood plus log prior at `model`."""
        return float(self.objective_path[-1])


def fit(
    family: EMFamily[ParametersT, DataT],
    data: DataT,
    *,
    start: ParametersT | None = None,
    start_smoothing: float = 1.0,
    unlabeled_weight: float = 1.0,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    accelerated: bool = True,
    n_starts: int = 1,
    rng: np.random.Generator | None = None,
    progress: Progress = SILENT,
) -> Fit[ParametersT, EMFamily[ParametersT, DataT]]:
    r"""Maximize the penalized likelihood of whatever is known.

    .. math:: \sum_i w_i \log \sum_y p_\theta(x_i, y)\, e_i(y) + \log \text{prior}(\theta)

    where :math:`w_i` is the weight of the row or sequence, times `unlabeled_weight` if nothing is known of its class
    or labels, and :math:`e_i(y)` its evidence, for a sequence the product over its tokens.

    Parameters
    ----------
    family : EMFamily
        The kind of model and its prior.
    data : Samples or Sequences
        Labeled, unlabeled and ambiguous rows or tokens in any mixture. What weighs 0 is left out.
    start : Model, optional
        Where to begin; else the supervised model of what is labeled: rows, or tokens and neighbors both of which are.
        Classes that no label singles out begin from a few random rows or tokens.
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
        Hears how far the work is.

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

    Notes
    -----
    Paper: eq:ll2.
    """
    require_between("start_smoothing", start_smoothing, 0.0, LARGEST, open_low=True)
    require_search(unlabeled_weight, max_iterations, tolerance, n_starts)
    data, weights = counting(data, unlabeled_weight)
    family = family.adapted(data, weights)
    if start is not None and start.classes != family.classes:
        raise InvalidInputError(
            f"The starting model has the classes {start.classes!r}, the family {family.classes!r}; "
            "both must name the same classes in the same order."
        )
    climber = _climber(
        family, prepared(family, data, weights), tolerance, max_iterations, accelerated, float(weights.sum())
    )

    def starts() -> Iterator[ParametersT]:
        if start is not None:
            yield start
        smoother, count = family.smoother(start_smoothing), n_starts - (start is not None)
        source = rng or np.random.default_rng(0)
        yield from models_to_begin(smoother, data, weights, count, source)

    def evaluated(model: ParametersT) -> Point[ParametersT]:
        point = climber.evaluate(model)
        if not np.isfinite(point.objective):
            raise impossible_start(model, family, data, weights)
        return point

    is_told = data.answers is None and data.evidence.is_gold.all()
    if is_told or data.evidence.n_classes == 1:
        return _warned(Fit.best_of(climber.supervised(starts()), family, unlabeled_weight, ()), climber.title)
    exchangeable = report_exchangeable(said(data), progress)
    ascents = []
    with tracking(progress, climber.title, None) as task:
        for model in starts():
            begun = [evaluated(model)]
            # Neither is held here: a climb lets go of what it no longer needs.
            del model
            ascents.append(climber.climb(begun.pop(), _Foretelling(task, progress)))
    return _warned(Fit.best_of(ascents, family, unlabeled_weight, exchangeable), climber.title)


def _climber(
    family: EMFamily[ParametersT, DataT],
    laid_out: Pass[ParametersT],
    tolerance: float,
    max_iterations: int,
    accelerated: bool,
    total_weight: float,
) -> "ExpectationMaximization[ParametersT] | LikelihoodAscent[ParametersT]":
    """EM; L-BFGS where the data were laid out for it."""
    if not isinstance(laid_out, SlopedPass):
        return ExpectationMaximization(family, laid_out, tolerance, max_iterations, accelerated, total_weight)
    # Fetched here, so that fits by EM do not load it.
    from labelworth.estimation.likelihood_ascent import LikelihoodAscent

    return LikelihoodAscent(family, laid_out, tolerance, max_iterations, total_weight)


def _warned(fitted: Fit[FittedT, FamilyT], title: str) -> Fit[FittedT, FamilyT]:
    """The fit; a warning where it did not converge."""
    if not fitted.converged:
        gained = fitted.objective - fitted.objective_path[max(0, len(fitted.objective_path) - 3)]
        warnings.warn(
            f"{title} stopped after {fitted.n_iterations} steps before it converged (the last steps gained "
            f"{gained:.3g}); allow more steps, or a larger tolerance.",
            DidNotConvergeWarning,
            stacklevel=3,
        )
    return fitted


class _Foretelling:
    """Says what a step takes, where that is long, once one was made; the first may have compiled."""

    def __init__(self, task: Task, progress: Progress) -> None:
        self._task, self._progress = task, progress
        self._times: list[float] = []

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        self._task.advance(steps, note, seconds)
        if len(self._times) < 2:
            self._times.append(time.monotonic())
            step = self._times[-1] - self._times[0]
            if len(self._times) == 2 and step >= _LONG_STEP:
                few, many = (duration(n * step) for n in _USUAL_STEPS)
                self._progress.say(f"A step of EM takes about {step:.2g} s, and all of it {few} to {many} as a rule.")


def settled(
    family: EMFamily[ParametersT, DataT],
    data: DataT,
    *,
    start: ParametersT | None = None,
    progress: Progress = SILENT,
) -> Fit[ParametersT, EMFamily[ParametersT, DataT]]:
    """Fit to a fixed point of EM: the observed information holds nowhere else."""
    return fit(
        family,
        data,
        start=start,
        tolerance=_FIXED_POINT,
        max_iterations=_STEPS_TO_FIXED_POINT,
        progress=progress,
    )


def at_maximum(
    judge: Callable[[Fit[ParametersT, EMFamily[ParametersT, DataT]]], ResultT],
    family: EMFamily[ParametersT, DataT],
    data: DataT,
    start: ParametersT,
    *,
    unlabeled_weight: float = 1.0,
) -> ResultT:
    """What `judge` makes of a strict maximum, climbed to from `start`.

    EM may rest where nothing is to be gained by small steps and more by others: at a saddle, where a row whose words
    nobody else uses stands just between two classes. Where the information is not positive definite, `judge` raises
    NotIdentifiableError; the model is then moved a little, at random, and EM, which every such place repels, climbs
    on. Ends that lie lower do not count.

    Raises
    ------
    NotIdentifiableError
        If that does not help either: the labels and the prior leave something open.
    """
    options: dict[str, Any] = {
        "unlabeled_weight": unlabeled_weight,
        "tolerance": _FIXED_POINT,
        "max_iterations": _STEPS_TO_FIXED_POINT,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelworthWarning)
        best = fit(family, data, start=start, **options)
        for nudge in _NUDGES:
            try:
                return judge(best)
            except NotIdentifiableError:
                moved = fit(family, data, start=_moved(best.model, nudge), **options)
                best = max(best, moved, key=lambda fitted: fitted.objective)
        return judge(best)


def _moved(model: ParametersT, share: float) -> ParametersT:
    """The model with all coordinates changed at random, by this share of their usual size."""
    coordinates = model.coordinates
    vector = coordinates.unconstrained(model.tables)
    noise = np.random.default_rng(0).standard_normal(len(vector))
    usual = float(np.sqrt(np.mean(np.square(vector))))
    return model.with_tables(coordinates.from_unconstrained(vector + share * usual * noise))


def report_exchangeable(evidence: Evidence, progress: Progress) -> tuple[tuple[Hashable, ...], ...]:
    """Find the classes that the labels cannot tell apart, and warn of them."""
    exchangeable = exchangeable_classes(evidence)
    if exchangeable:
        groups = "; ".join(", ".join(repr(name) for name in group[:8]) for group in exchangeable)
        message = (
            f"No label tells these classes apart: {groups}. Their names are arbitrary, and they begin from random "
            "rows; label at least one sample of each."
        )
        progress.say(message)
        warnings.warn(message, LabelworthWarning, stacklevel=3)
    return exchangeable
