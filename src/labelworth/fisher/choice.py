"""Which way of computing the information suits a model, and why."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.fisher.by_enumeration import enumerated_information
from labelworth.fisher.by_sampling import sampled_information
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.matrix_free_curve import MatrixFreeCurve
from labelworth.fisher.outcomes import n_outcomes
from labelworth.fisher.sampled_information import SampledInformation
from labelworth.fisher.two_class_formula import TwoClassCurve, two_class_information
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.protocol import Model
from labelworth.progress import SILENT, Progress

Method = Literal["auto", "enumeration", "formula", "sampling"]
AnyCurve = FractionInformation | SampledInformation | TwoClassCurve | MatrixFreeCurve

_QUICK_WORK = 2e9
"""Enumeration is chosen while its products n_outcomes K d^2 stay below a second or so of work."""


@dataclass(frozen=True)
class ChosenCurve:
    """A curve and, for people, why it was computed that way."""

    curve: AnyCurve
    reason: str


def choose_curve(
    model: Model,
    fractions: FloatArray,
    method: Method,
    rng: np.random.Generator,
    *,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> ChosenCurve:
    """Compute the information by `method`; "auto" prefers exact ways to sampling.

    Raises
    ------
    InvalidInputError
        If the method does not exist, or not for this model.
    """
    if method not in get_args(Method):
        raise InvalidInputError(f"method must be one of {', '.join(get_args(Method))}. Got {method!r} instead.")
    if method == "auto":
        method, reason = _automatic(model)
    else:
        reason = "asked for"
    if method == "enumeration":
        return ChosenCurve(enumerated_information(model), reason)
    if method == "formula":
        return ChosenCurve(_formula(model), reason)
    sampled = sampled_information(
        model, fractions, rng, relative_error=relative_error, max_draws=max_draws, progress=progress
    )
    return ChosenCurve(sampled, reason)


def _automatic(model: Model) -> tuple[Method, str]:
    count, d, n_classes = n_outcomes(model), model.coordinates.n_free, len(model.classes)
    if count is not None and count * n_classes * d**2 <= _QUICK_WORK:
        return "enumeration", f"there are only {count} distinct samples to sum over"
    if isinstance(model, MultinomialModel) and n_classes == 2:
        return "formula", "two classes of documents have an exact formula"
    distinct = "infinitely many" if count is None else f"{float(count):.3g}"
    return "sampling", f"there are {distinct} distinct samples and {n_classes} classes, too many to sum over"


def _formula(model: Model) -> TwoClassCurve:
    if not isinstance(model, MultinomialModel):
        raise InvalidInputError(
            f"There is a formula for multinomial models with two classes only. Got a {model.kind} model; "
            "use method='enumeration' or 'sampling'."
        )
    return two_class_information(model)
