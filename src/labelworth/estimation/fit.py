"""Fit a model to any mixture of labeled, unlabeled and ambiguous samples."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from labelworth.data.samples import Samples
from labelworth.estimation.doors import counting_rows, impossible_start, require_arguments, require_matching
from labelworth.estimation.expectation_maximization import ExpectationMaximization
from labelworth.estimation.multi_start import Found, search
from labelworth.estimation.starts import starting_models
from labelworth.models.protocol import Family, ModelT
from labelworth.progress import SILENT, Progress


@dataclass(frozen=True, eq=False)
class Fit(Found[ModelT]):
    """A fitted model of classes and how it was found; see `Found`.

    Attributes
    ----------
    family : Family
        With everything filled in: its prior is the one in the objective.
    """

    family: Family[ModelT] = field(kw_only=True)


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
    family = family.adapted(samples, row_weights)
    climber = ExpectationMaximization(
        family,
        family.prepare(samples, row_weights),
        tolerance,
        max_iterations,
        accelerated,
        float(row_weights.sum()),
    )
    given = [] if start is None else [require_matching(start, family)]

    def starts() -> Iterator[ModelT]:
        yield from given
        smoother, count = family.smoother(start_smoothing), n_starts - len(given)
        yield from starting_models(smoother, samples, row_weights, count, rng or np.random.default_rng(0))

    found = search(
        climber,
        samples.evidence,
        starts,
        lambda model: impossible_start(model, samples),
        unlabeled_weight,
        progress,
    )
    return Fit(**vars(found), family=family)
