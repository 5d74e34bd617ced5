"""Accuracy where formulas stop: forecasts from simulated labels on the real pool, as a trade-off asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.interpolate import PchipInterpolator

from labelworth.arrays import FloatArray, IntArray
from labelworth.estimators.pools.pool import Pool
from labelworth.planning.landscape import ForecastCurve, Surface, surface_grid
from labelworth.planning.menu import arm_prices, held_before
from labelworth.planning.situation import Band, Situation
from labelworth.planning.source import ChosenSource
from labelworth.planning.units import apart
from labelworth.policies.rule import Rule
from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.calibration import calibrate
from labelworth.simulation.forecast import Excess, forecast
from labelworth.simulation.learner import Mode
from labelworth.simulation.metrics import is_metric
from labelworth.simulation.pool_use import SHARES, PoolUse
from labelworth.simulation.scales import Measure, from_scale, inside, to_scale
from labelworth.tradeoff.accuracy import Source
from labelworth.tradeoff.costs import Prices

Part = Literal["values", "low", "high"]
_N_SIZES = 40


@dataclass(frozen=True, eq=False)
class ForecastLine:
    """A forecast over the number of labeled samples, smooth between the sizes it was asked at."""

    sizes: FloatArray  # (n_sizes,): Labeled samples in all, rising.
    values: FloatArray  # (n_sizes,)

    def at(self, size: float) -> float:
        """The forecast; beyond the ends it stays."""
        inside = min(max(size, float(self.sizes[0])), float(self.sizes[-1]))
        return float(self._curve(np.log(inside)))

    def size_of(self, value: float) -> float:
        """The first size at which the forecast is no more than `value`; the last one if it never is."""
        falling = np.minimum.accumulate(self.values)
        return float(np.exp(np.interp(-value, -falling, np.log(self.sizes))))

    @cached_property
    def _curve(self) -> PchipInterpolator:
        return PchipInterpolator(np.log(self.sizes), self.values)


@dataclass(frozen=True, eq=False)
class SimulatedAccuracy:
    """The forecast error of a mixture of arms.

    One arm alone is its own curve. What is held counts as the number of samples of an arm that would do as much, and
    arms are taken one after the other: mixtures are not simulated.
    """

    arms: tuple[str, ...]  # Rules that label; samples without labels are learned from as the mode says.
    lines: tuple[ForecastLine, ...]  # One per arm.
    labels_per_sample: FloatArray  # (n_arms,)
    held_error: float  # What the labels held are good for.
    starts: FloatArray  # (n_arms,): Samples of each arm alone that are as good as what is held.
    criterion: str
    # One per arm: how far off the slope of its curve may be, in units of the error per sample; empty: not
    # known.
    slope_errors: tuple[ForecastLine, ...] = ()

    @property
    def source(self) -> Source:
        return "simulated"

    def error(self, counts: FloatArray) -> float:
        error, is_first = self.held_error, True
        for line, start, count in zip(self.lines, self.starts, counts, strict=True):
            if count > 0:
                error = line.at((float(start) if is_first else line.size_of(error)) + float(count))
                is_first = False
        return error

    def standard_error(self, counts: FloatArray) -> float | None:
        """Not of one figure: forecasts have intervals."""
        return None

    def gain_error(self, counts: FloatArray, arm: int) -> float | None:
        """How far off the worth of one more sample of an arm may be, as a standard error; None: not known."""
        if not self.slope_errors:
            return None
        others = float(counts.sum() - counts[arm])
        line = self.lines[arm]
        size = line.size_of(self.error(counts)) if others else float(self.starts[arm] + counts[arm])
        return self.slope_errors[arm].at(size)

    def whole_slope_errors(self, sizes: FloatArray) -> FloatArray:
        """The same along the curve of samples labeled whole; not a number where it is not known."""
        if not self.slope_errors or "everything" not in self.arms:
            return np.full(len(sizes), np.nan)
        errors = self.slope_errors[self.arms.index("everything")]
        return np.array([errors.at(float(size)) for size in sizes])


def simulated_accuracies(
    basis: ForecastBasis,
    mode: Mode,
    measure: Measure,
    arms: Sequence[str],
    labels_per_sample: FloatArray,
    most: float,
) -> dict[Part, SimulatedAccuracy]:
    """The forecast and the ends of its interval, as accuracies.

    Parameters
    ----------
    most : float
        Samples that can be labeled in all.
    """
    sizes = forecast_sizes(basis.n_labeled, most)
    accuracies: dict[Part, SimulatedAccuracy] = {}
    forecasts = [forecast(basis, mode, measure, sizes, policy=arm) for arm in arms]
    slopes = tuple(
        ForecastLine(sizes.astype(np.float64), slope_errors(basis, mode, measure, sizes, arm, curve.values))
        for arm, curve in zip(arms, forecasts, strict=True)
    )
    parts: tuple[Part, ...] = ("values", "low", "high")
    for part in parts:
        values = [np.asarray(getattr(curve, part)) for curve in forecasts]
        lines = tuple(ForecastLine(sizes.astype(np.float64), own) for own in values)
        whole = lines[list(arms).index("everything")] if "everything" in arms else lines[0]
        held = whole.at(float(basis.n_labeled))
        starts = np.array([basis.n_labeled if line is whole else line.size_of(held) for line in lines], float)
        accuracies[part] = SimulatedAccuracy(tuple(arms), lines, labels_per_sample, held, starts, measure, slopes)
    return accuracies


def slope_errors(
    basis: ForecastBasis, mode: Mode, measure: Measure, sizes: IntArray, policy: str, values: FloatArray
) -> FloatArray:
    r"""Standard errors of the slope of a forecast, per labeled sample.

    Calibration knows how forecasts at two sizes vary together, and so the slope over a doubling of the labels,
    :math:`s = (g(y_{2L}) - g(y_L)) / \log 2` on the scale g of the measure; in units of the error, and per sample,
    that is :math:`sd(s) / (L\, g'(y))`.
    """
    every, doubling = np.unique(np.concatenate([sizes, 2 * sizes])), np.log(2.0)
    contrasts = np.zeros((len(sizes), len(every)))
    rows = np.arange(len(sizes))
    contrasts[rows, np.searchsorted(every, sizes)] -= 1 / doubling
    contrasts[rows, np.searchsorted(every, 2 * sizes)] += 1 / doubling
    spread = calibrate(basis, mode, measure, every, policy=policy).contrast_errors(contrasts)
    return np.asarray(spread * values * (1.0 if measure == "log_loss" else 1 - values) / sizes)


def forecast_sizes(n_labeled: int, most: float) -> IntArray:
    """Whole numbers from the labels held to all there could be, evenly in their logarithm."""
    return np.unique(np.rint(np.geomspace(n_labeled, max(most, n_labeled + 1), _N_SIZES)).astype(np.int64))


def simulated_curve(
    basis: ForecastBasis,
    mode: Mode,
    measure: Measure,
    most: float,
    positions_per_sample: float,
    excess: Excess | None = None,
) -> ForecastCurve:
    """What the page and the record show: the forecast with its interval, the power law and the pilot's points.

    Parameters
    ----------
    excess : function, optional
        What the formulas say: stands beside the forecast, moved to the level of the pilot's largest part.
    """
    sizes = forecast_sizes(basis.n_labeled, most)
    curve = forecast(basis, mode, measure, sizes, excess=excess)
    return ForecastCurve(
        tuple((positions_per_sample * sizes).tolist()),
        tuple(curve.values.tolist()),
        tuple(curve.low.tolist()),
        tuple(curve.high.tolist()),
        () if curve.asymptotic is None else tuple(curve.asymptotic.tolist()),
        tuple(curve.power_law.tolist()),
        tuple((positions_per_sample * curve.point_sizes).tolist()),
        tuple(curve.points.tolist()),
        # What even the best prediction misses of drawn labels is no share of a metric.
        floor=None if is_metric(measure) else curve.floor,
    )


def simulated_situation(
    pool: Pool[Any],
    basis: ForecastBasis,
    menu: Sequence[Rule],
    chosen: ChosenSource,
    prices: Prices,
    room: float,
    *,
    uses_unlabeled: bool,
) -> Situation:
    """Where a plan by simulation starts; samples that are not labeled are learned from, or not, all of them."""
    arms = [rule for rule in menu if rule.spec != "nothing"]
    # What is bought is what is left; beyond the pool, more of all kinds.
    left = pool.lengths_left if room <= pool.n_unlabeled else pool.lengths
    labels = np.array([sum(share * rule.expected_labels(m) for m, share in left.items()) for rule in arms])
    bands = simulated_accuracies(
        basis,
        "semi-supervised" if uses_unlabeled else "labels-only",
        chosen.criterion,
        [rule.spec for rule in arms],
        labels,
        pool.n_labeled + room,
    )
    return Situation(
        held_before(pool, prices),
        bands["values"],
        arm_prices(pool, arms, prices, left),
        room,
        float(pool.data.lengths.mean()),
        keeps_rest=uses_unlabeled,
        doubt=Band(bands["low"], bands["high"]),
    )


def simulated_surface(basis: ForecastBasis, use: PoolUse, measure: Measure, mode: Mode) -> Surface:
    r"""The error over (n, labeled fraction), by simulation.

    With L labels, n documents used and N in all, at :math:`t = \log(n / L) / \log(N / L)`,

    .. math:: y(L, n) = (1 - u(t))\, y_0(L) + u(t)\, y_1(L)

    where :math:`y_0` and :math:`y_1` are the calibrated forecasts from labels alone and from labels with all other
    documents, and u is how much of what the whole pool does a part of it does in simulated refits: zero and one at
    the edges, where the forecasts are met. None where labels are fewer than in the pilot's smallest part.

    With a label on every document the two ways to learn are one, and two forecasts of one error differ: there the
    plan's own, that of `mode`, stands. The other is tilted to meet it, by as much per unit of log(L) from the labels
    held on, where the pilot has measured both, to N.
    """
    own = _edge(basis, mode, measure)
    modes: tuple[Mode, ...] = ("labels-only", "semi-supervised")
    alone, together = (
        own if other == mode else _tilted(_edge(basis, other, measure), own, measure, basis.n_labeled)
        for other in modes
    )
    part = PchipInterpolator([0.0, *SHARES, 1.0], [0.0, *use.fractions(measure), 1.0])
    sizes, fractions = surface_grid(basis.n_labeled, basis.n_units)
    labels = fractions[:, None] * sizes
    shares = part(_shares(labels, sizes, basis.n_units))
    fewest = float(basis.points["labels-only", measure].sizes[0])
    rows = tuple(
        tuple(
            (1 - float(u)) * alone.at(float(n)) + float(u) * together.at(float(n)) if n >= fewest else None
            for n, u in zip(*row, strict=True)
        )
        for row in zip(labels, shares, strict=True)
    )
    words = _words(use, measure, abs(alone.at(basis.n_labeled) - together.at(basis.n_labeled)))
    return Surface(tuple(sizes.tolist()), tuple(fractions.tolist()), rows, "simulated", words)


def _edge(basis: ForecastBasis, mode: Mode, measure: Measure) -> ForecastLine:
    sizes = forecast_sizes(int(basis.points[mode, measure].sizes[0]), basis.n_units)
    values = forecast(basis, mode, measure, sizes).values
    return ForecastLine(sizes.astype(np.float64), values)


def _tilted(line: ForecastLine, own: ForecastLine, measure: Measure, n_labeled: int) -> ForecastLine:
    """A forecast that ends where another does."""
    scaled, end = (to_scale(measure, inside(measure, edge.values)) for edge in (line, own))
    last = float(line.sizes[-1])
    # All labels are held: there is no way to tilt along.
    shares = np.log(np.maximum(line.sizes / n_labeled, 1.0)) / np.log(last / n_labeled) if last > n_labeled else 1.0
    return ForecastLine(line.sizes, from_scale(measure, scaled + shares * (end[-1] - scaled[-1])))


def _shares(labels: FloatArray, sizes: FloatArray, n_units: int) -> FloatArray:
    """t; documents that are all labeled are labels alone, also where they are all there are."""
    way = np.log(n_units / labels)
    shares = np.divide(np.log(sizes / labels), way, out=np.zeros_like(labels), where=way > 1e-9)
    # Rounding may leave an edge by a hair.
    return np.asarray(np.clip(shares, 0.0, 1.0))


def _words(use: PoolUse, measure: Measure, gap: float) -> str:
    errors = use.fraction_errors(measure)
    noise = (
        "" if errors is None else f" (standard error {apart(float(errors.max()) * gap, measure)} at the labels held)"
    )
    return (
        "Along the upper edge it is the forecast from labels alone, along the right edge that from labels with all "
        "others unlabeled; with a label on each of them the two are one. Between the edges it goes as far from one "
        f"to the other as simulated refits to parts of the pool do{noise}."
    )
