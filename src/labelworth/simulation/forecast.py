"""Forecasts of held-out error and log-loss at any number of labels, with intervals, calibrated on the pilot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.protocol import DataT
from labelworth.errors import InvalidInputError
from labelworth.policies.policy import Policy
from labelworth.progress import SILENT, Progress
from labelworth.simulation.basis import ForecastBasis, forecast_basis
from labelworth.simulation.calibration import Floor, calibrate, source_share
from labelworth.simulation.constants import TUNED
from labelworth.simulation.learner import Learner, Mode
from labelworth.simulation.power_law import PowerLaw, fit_power_law
from labelworth.simulation.scales import Measure
from labelworth.simulation.simulator import WHOLE

CONFIDENCE = 0.9
"""How often the truth is meant to lie within an interval."""

SMALL_FLOOR = 0.04
"""A share of labels that does not follow from the features is told of from here on."""
CONTRADICTED = 0.2
"""So probable must it be that a simulation is plainly wrong for that to be told; 3 % of tuning pilots are there."""

Excess = Callable[[FloatArray], FloatArray]
"""Numbers of labels -> excess error or log-loss by the asymptotic formulas."""


@dataclass(frozen=True, eq=False)
class MeasureForecast:
    """The forecast of one measure.

    Attributes
    ----------
    values, low, high : arrays of shape (n_sizes,)
        Medians and the ends of the 90 % interval.
    power_law : array of shape (n_sizes,)
        The plain power law through the pilot's points, for comparison.
    asymptotic : array of shape (n_sizes,), optional
        The asymptotic excess, moved to the level of the pilot, where it was given.
    point_sizes, points, point_errors : arrays of shape (n_points,)
        Cross-validated sub-samples of the pilot, and their standard errors.
    floor : Floor
        What no number of labels takes away.
    """

    values: FloatArray
    low: FloatArray
    high: FloatArray
    power_law: FloatArray
    asymptotic: FloatArray | None
    point_sizes: IntArray
    points: FloatArray
    point_errors: FloatArray
    floor: Floor

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        arrays = {name: value for name, value in vars(self).items() if name != "floor"}
        return {
            **{name: None if value is None else value.tolist() for name, value in arrays.items()},
            "floor": vars(self.floor),
        }


@dataclass(frozen=True, eq=False)
class Forecast:
    """What more labels would buy, for one way of learning.

    Attributes
    ----------
    mode : "labels-only" or "semi-supervised"
    policy : str
        What is labeled of a unit; "everything" for documents.
    sizes : integer array of shape (n_sizes,)
        Labeled units in all, those of the pilot among them.
    n_labeled, n_units : int
        Of the pilot, and of pilot and pool.
    error, log_loss : MeasureForecast
        Share of wrong predictions; log-loss with honest log-odds, in nats per place.
    confidence : float
        Of the intervals.
    source : str
        "simulated".
    notes : tuple of str
        What to know when reading it.
    basis : ForecastBasis
        What it rests on; other sizes follow from it at no cost, see `at`.
    """

    mode: Mode
    policy: str
    sizes: IntArray
    n_labeled: int
    n_units: int
    error: MeasureForecast
    log_loss: MeasureForecast
    confidence: float
    source: str
    notes: tuple[str, ...]
    basis: ForecastBasis = field(repr=False)
    excess: "dict[Measure, Excess]" = field(default_factory=dict, repr=False)

    def at(self, sizes: "Sequence[int] | IntArray") -> "Forecast":
        """The same forecast at other numbers of labels."""
        return forecast_from(self.basis, sizes, self.mode, policy=self.policy, excess=self.excess)

    def lines(self) -> list[str]:
        """In words, a line per size."""
        learned = "the labels only" if self.mode == "labels-only" else "labels and unlabeled examples"
        lines = [f"Forecast of the held-out error, learning from {learned}:"]
        for size, value, low, high in zip(
            self.sizes, self.error.values, self.error.low, self.error.high, strict=True
        ):
            lines.append(f"  {size:,} labels: {value:.3f} ({self.confidence:.0%}: {low:.3f}-{high:.3f})")
        return [*lines, *(f"  {note}" for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "mode": self.mode,
            "policy": self.policy,
            "sizes": self.sizes.tolist(),
            "n_labeled": self.n_labeled,
            "n_units": self.n_units,
            "error": self.error.to_dict(),
            "log_loss": self.log_loss.to_dict(),
            "confidence": self.confidence,
            "source": self.source,
            "notes": list(self.notes),
            "basis": self.basis.to_dict(),
        }


def forecast(
    learner: Learner[DataT],
    data: DataT,
    sizes: "Sequence[int] | IntArray",
    *,
    seed: int = 0,
    n_replicates: int = 2,
    workers: int | None = None,
    progress: Progress = SILENT,
    excess: "dict[Measure, Excess] | None" = None,
) -> Forecast:
    """Forecast held-out error and log-loss of `learner` in its mode.

    Parameters
    ----------
    learner : Learner
        What will be fitted to the labels, ``learner.mode`` included.
    data : Samples or Sequences
        The labeled units are the pilot and must have been drawn at random; all others are the pool.
    sizes : whole numbers
        Labeled units in all, those of the pilot among them.
    seed : int
        Deals the folds and draws everything that is simulated.
    n_replicates : int
        Simulated curves per mode and source of labels.
    workers : int, optional
        Threads; one per processor when None. The answer is the same, bit by bit, whatever the number.
    excess : mapping of "error" or "log_loss" to a function, optional
        The asymptotic excess over the number of labels, to stand beside the forecast.

    See Also
    --------
    forecasts : both modes from one simulation, at no further cost.
    """
    both = forecasts(
        learner,
        data,
        sizes,
        seed=seed,
        n_replicates=n_replicates,
        workers=workers,
        progress=progress,
        excess={learner.mode: excess or {}},
    )
    return both[learner.mode]


def forecasts(
    learner: Learner[DataT],
    data: DataT,
    sizes: "Sequence[int] | IntArray",
    *,
    policies: Sequence[Policy] = (),
    seed: int = 0,
    n_replicates: int = 2,
    workers: int | None = None,
    progress: Progress = SILENT,
    excess: "dict[Mode, dict[Measure, Excess]] | None" = None,
) -> dict[Mode, Forecast]:
    """Forecasts for all modes of the learner, which share folds, labels and draws; see `forecast`.

    With `policies`, the basis holds their curves too: ``forecast_from(basis, sizes, mode, policy=policy.spec)``.
    """
    asked = _whole_sizes(sizes)
    basis = forecast_basis(
        learner,
        data,
        int(asked.max()),
        policies=policies,
        seed=seed,
        n_replicates=n_replicates,
        workers=workers,
        progress=progress,
    )
    given = excess or {}
    return {mode: forecast_from(basis, asked, mode, excess=given.get(mode)) for mode in basis.modes}


def forecast_from(
    basis: ForecastBasis,
    sizes: "Sequence[int] | IntArray",
    mode: Mode,
    *,
    policy: str = WHOLE,
    excess: "dict[Measure, Excess] | None" = None,
) -> Forecast:
    """The forecast that follows from what was computed; closed formulas, no fits."""
    asked = _whole_sizes(sizes)
    if mode not in basis.modes:
        raise InvalidInputError(f"Nothing was simulated for {mode!r}; there is {', '.join(basis.modes)}.")
    given = excess or {}
    return Forecast(
        mode,
        policy,
        asked,
        basis.n_labeled,
        basis.n_units,
        _measured(basis, mode, policy, "error", asked, given.get("error")),
        _measured(basis, mode, policy, "log_loss", asked, given.get("log_loss")),
        CONFIDENCE,
        "simulated",
        tuple(_notes(basis, asked, mode)),
        basis,
        given,
    )


def power_law_of(basis: ForecastBasis, mode: Mode, measure: Measure) -> PowerLaw:
    """The power law through the same points of the pilot."""
    points = basis.points[mode, measure]
    # As for the forecast: no error at all in n units is not certainty.
    variances = np.diag(points.covariance) + (0.5 / basis.n_labeled) ** 2
    return fit_power_law(points.sizes, points.means, variances)


def _measured(
    basis: ForecastBasis, mode: Mode, policy: str, measure: Measure, sizes: IntArray, excess: Excess | None
) -> MeasureForecast:
    calibrated = calibrate(basis, mode, measure, sizes, TUNED[measure], policy)
    points = basis.points[mode, measure]
    tail = (1 - CONFIDENCE) / 2
    return MeasureForecast(
        calibrated.values,
        calibrated.quantiles(tail),
        calibrated.quantiles(1 - tail),
        power_law_of(basis, mode, measure).at(sizes),
        None if excess is None else _moved(excess, points.sizes, points.means, sizes),
        points.sizes,
        points.means,
        np.sqrt(np.diag(points.covariance)),
        calibrated.floor,
    )


def _moved(excess: Excess, point_sizes: IntArray, points: FloatArray, sizes: IntArray) -> FloatArray:
    """The asymptotic excess, moved to the level of the largest sub-sample."""
    reference = excess(point_sizes[-1:].astype(np.float64))[0]
    return np.asarray(points[-1] + excess(sizes.astype(np.float64)) - reference)


def _notes(basis: ForecastBasis, sizes: IntArray, mode: Mode) -> list[str]:
    notes = []
    simulated = int(max(curve.sizes[-1] for curve in basis.simulated.values()))
    if int(sizes.max()) > simulated:
        notes.append(f"Beyond {simulated:,} labels the curve is extended on its own slope.")
    if int(sizes.min()) < int(basis.points[mode, "error"].sizes[0]):
        notes.append("Below the smallest part of the pilot that was learned from the curve is extended backward.")
    warned = simulation_warning(basis, mode)
    if warned is not None:
        notes.append(warned)
    if len(basis.modes) > 1:
        share = source_share(basis.comparisons["log_loss"], TUNED["error"].doubt)
        notes.append(
            f"Simulated labels: {share:.0%} from the fit with unlabeled examples, the others from labels only, by "
            "how probably each predicts the pilot better."
        )
    return notes


def simulation_warning(basis: ForecastBasis, mode: Mode) -> str | None:
    """What the pilot's errors say against its simulation, in words; None where the two agree."""
    found = calibrate(basis, mode, "error", basis.points[mode, "error"].sizes, TUNED["error"])
    if found.contradiction >= CONTRADICTED:
        return (
            "The pilot's errors do not fit simulations of it. The forecast follows the pilot; its interval is wide, "
            "and may still be too narrow. Often the model is badly set: try another smoothing or document length, or "
            "fewer words; and compare the power law."
        )
    floor = found.floor
    if floor.low < SMALL_FLOOR:
        return None
    return (
        f"About {floor.mean:.0%} of the labels (90 %: {floor.low:.0%}-{floor.high:.0%}) do not seem to follow from "
        "the features: the pilot errs more than simulations of it. More labels do not take that error away."
    )


def _whole_sizes(sizes: "Sequence[int] | IntArray") -> IntArray:
    asked = np.atleast_1d(np.asarray(sizes))
    if asked.ndim != 1 or not asked.size or asked.dtype.kind not in "iu" or int(asked.min()) < 1:
        raise InvalidInputError(f"Numbers of labels must be whole and at least 1. Got {sizes!r} instead.")
    return asked.astype(np.int64)
