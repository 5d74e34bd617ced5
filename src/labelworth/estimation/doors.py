"""What a fit checks before it begins."""

import numpy as np

from labelworth.arrays import FloatArray, require_between
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.protocol import Maximizer, ModelT, ParametersT
from labelworth.models.responsibilities import condition

_LARGEST = float(np.finfo(np.float64).max)


def require_arguments(
    start_smoothing: float, unlabeled_weight: float, max_iterations: int, tolerance: float, n_starts: int
) -> None:
    """Refuse numbers that make no sense."""
    require_between("start_smoothing", start_smoothing, 0.0, _LARGEST, open_low=True)
    require_search(unlabeled_weight, max_iterations, tolerance, n_starts)


def require_search(unlabeled_weight: float, max_iterations: int, tolerance: float, n_starts: int) -> None:
    """Refuse numbers that no search makes sense of."""
    require_between("unlabeled_weight", unlabeled_weight, 0.0, _LARGEST)
    require_between("max_iterations", max_iterations, 1, _LARGEST)
    require_between("tolerance", tolerance, 0.0, _LARGEST, open_low=True)
    require_between("n_starts", n_starts, 1, _LARGEST)


def counting_rows(samples: Samples, unlabeled_weight: float) -> tuple[Samples, FloatArray]:
    """The rows that count, and how much."""
    weights = samples.sample_weights
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InvalidInputError("Sample weights must be finite and non-negative.")
    row_weights = np.where(samples.evidence.is_unlabeled, unlabeled_weight * weights, weights)
    counting = row_weights > 0
    if not counting.any():
        cure = "give some labels, or an unlabeled_weight above 0" if unlabeled_weight == 0 else "give some samples"
        raise InvalidInputError(f"No row counts, so there is nothing to learn from: {cure}.")
    if counting.all():
        return samples, row_weights
    return samples.take(counting), row_weights[counting]


def require_matching(start: ParametersT, family: Maximizer[ParametersT]) -> ParametersT:
    """Refuse a starting model of other classes."""
    if start.classes != family.classes:
        raise InvalidInputError(
            f"The starting model has the classes {start.classes!r}, the family {family.classes!r}; "
            "both must name the same classes in the same order."
        )
    return start


def impossible_start(model: ModelT, samples: Samples) -> InvalidInputError:
    """Say which sample the starting model rules out."""
    _, log_evidence = condition(model.log_joint(samples), samples.evidence)
    rows = np.flatnonzero(~np.isfinite(log_evidence))
    if not rows.size:
        return InvalidInputError(
            "The starting model has probabilities of zero, which the prior rules out; smooth it."
        )
    return InvalidInputError(
        f"The starting model gives {rows.size} sample(s) the probability zero, the first at row {rows[0]}; "
        "begin from a model fitted with smoothing above 0, or let the fit find its own start."
    )
