"""What a model's samples are worth at every labeled fraction: `lw.information`."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray, as_floats, require_between
from labelworth.criteria.asymptotic import CRITERIA, worst_direction
from labelworth.criteria.draw_notes import rarely_drawn, too_few_draws
from labelworth.criteria.exchange import exchange_rates
from labelworth.criteria.information_table import InformationPoint, InformationTable, dense_information
from labelworth.criteria.plain_figures import finite_or_none
from labelworth.errors import InvalidInputError
from labelworth.fisher.choice import AnyCurve, ChosenCurve, Method, choose_curve
from labelworth.fisher.curve import Estimate
from labelworth.fisher.identifiability import weak_directions
from labelworth.fisher.matrix_free_curve import MatrixFreeCurve
from labelworth.fisher.sampled_information import SampledInformation
from labelworth.models.protocol import Model
from labelworth.progress import SILENT, Progress

_PROBE_ERROR = 0.05


def information(
    model: Model,
    *,
    labeled_fractions: ArrayLike,
    n_samples: float,
    method: Method = "auto",
    seed: int = 0,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> InformationTable:
    r"""What the samples of a model are worth, at every labeled fraction.

    One sample labeled with probability f carries :math:`I(f) = I_{XY} - (1-f)\, E[\operatorname{Var}(S | X)]`; with n
    of them the estimate has covariance :math:`I(f)^{-1} / n`, and every figure follows.

    Parameters
    ----------
    model : Model
        With the parameters taken for true.
    labeled_fractions : sequence of float
        Each in [0, 1].
    n_samples : float
        n, labeled and unlabeled together.
    method : {"auto", "enumeration", "formula", "sampling"}
        "auto": exact where it can be, by enumeration or the two-class formula, else sampling.
    seed : int
        Of the sampling.
    relative_error : float
        The standard error that sampling aims at, relative to each figure.
    max_draws : int, optional
        A limit to sampling.
    progress : Progress

    Raises
    ------
    NotIdentifiableError
        If not even complete labels would identify the model.
    MoreSamplesNeededError
        If sampling gave no sensible information within its limits.

    Notes
    -----
    Paper: prop:efficiency1.

    Examples
    --------
    >>> from labelworth.data.lengths import LengthDistribution
    >>> from labelworth.models.classes.multinomial import MultinomialModel
    >>> words = [[0.8, 0.2], [0.3, 0.7]]
    >>> model = MultinomialModel(("ham", "spam"), [0.5, 0.5], words, LengthDistribution.single(4))
    >>> table = information(model, labeled_fractions=[1.0, 0.1], n_samples=1000)
    >>> [round(1000 * point.figures["total_variance"], 3) for point in table.points]
    [0.87, 2.457]
    """
    fractions = _fractions(labeled_fractions)
    chosen = choose_curve(
        model,
        fractions,
        method,
        np.random.default_rng(seed),
        relative_error=relative_error,
        max_draws=max_draws,
        progress=progress,
    )
    return tabulate(chosen, n_samples, fractions, relative_error=relative_error)


def tabulate(
    chosen: ChosenCurve, n_samples: float, fractions: FloatArray, *, relative_error: float = 0.01
) -> InformationTable:
    """Ask a curve for everything at every fraction."""
    curve = chosen.curve
    identified = curve.identified(fractions)
    offered = {name: criterion for name, criterion in CRITERIA.items() if name not in _left_out(curve)}
    estimates = {name: criterion(curve, n_samples, fractions) for name, criterion in offered.items()}
    rates = exchange_rates(curve, fractions)
    estimates |= {"unlabeled_per_labeled_example": rates.labeled_example, "unlabeled_per_label": rates.label}
    dense = dense_information(curve)
    points = tuple(
        InformationPoint(
            float(fraction),
            bool(identified[place]),
            {name: finite_or_none(estimate.values[place]) for name, estimate in estimates.items()},
            _errors(estimates, place),
            None if dense is None else weak_directions(dense.pencil, dense.coordinates, float(fraction)),
        )
        for place, fraction in enumerate(fractions)
    )
    notes = _notes(curve, points, fractions, relative_error)
    return InformationTable(points, n_samples, curve.method, chosen.reason, notes, curve)


def _relative(point: InformationPoint, name: str) -> float:
    """The standard error of a figure, relative to it; of the log volume, as it is."""
    error, figure = point.standard_errors[name], point.figures[name]
    if error is None or figure is None:
        return 0.0
    return error if name == "log_volume" else error / abs(figure)


def _left_out(curve: AnyCurve) -> tuple[str, ...]:
    """What a curve cannot say: the worst direction needs the inverse itself, which probes do not give."""
    return (worst_direction.__name__,) if isinstance(curve, MatrixFreeCurve) else ()


def _fractions(labeled_fractions: ArrayLike) -> FloatArray:
    fractions = as_floats("labeled_fractions", labeled_fractions, ndim=1)
    if not fractions.size:
        raise InvalidInputError("labeled_fractions must not be empty; for example [1, 0.5, 0.1].")
    for fraction in fractions:
        require_between("A labeled fraction", float(fraction), 0.0, 1.0)
    return fractions


def _errors(estimates: Mapping[str, Estimate], place: int) -> dict[str, float | None]:
    return {
        name: finite_or_none(estimate.standard_errors[place])
        for name, estimate in estimates.items()
        if estimate.standard_errors is not None
    }


def _notes(
    curve: AnyCurve, points: Sequence[InformationPoint], fractions: FloatArray, relative_error: float
) -> tuple[str, ...]:
    notes: list[str] = []
    if isinstance(curve, SampledInformation):
        identified = np.array([point.is_identifiable for point in points])
        needed = curve.draws_needed(fractions[identified], relative_error) if identified.any() else 0
        rare = rarely_drawn(curve.n_drawn, curve.n_hardly_met)
        notes += rare or too_few_draws(curve.n_drawn, needed, relative_error)
    if isinstance(curve, MatrixFreeCurve):
        worst = max(_relative(point, name) for point in points for name in point.standard_errors)
        if worst > _PROBE_ERROR:
            more = int(np.ceil(curve.n_probes * (worst / _PROBE_ERROR) ** 2))
            notes.append(
                f"{curve.n_probes} probes leave a figure uncertain by {worst:.0%} of itself; n_probes={more} would "
                f"bring that to {_PROBE_ERROR:.0%}."
            )
    if any(point.labeled_fraction == 0 and point.is_identifiable for point in points):
        notes.append("Without any label the classes are found only up to their order.")
    return tuple(notes)
