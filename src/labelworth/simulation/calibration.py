"""From simulated curves and the pilot's points to a forecast with its uncertainty: a small Bayesian regression."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from scipy.special import ndtr, ndtri

from labelworth.arrays import FloatArray, IntArray
from labelworth.simulation.basis import Comparison, ForecastBasis, Points, Simulated
from labelworth.simulation.learner import Mode
from labelworth.simulation.scales import FLOORS, Measure, from_scale, inside, lifted, lifted_slopes, to_scale
from labelworth.simulation.simulator import WHOLE


@dataclass(frozen=True)
class Constants:
    """What the pilot cannot tell, tuned once (see docs/derivations/forecast.md).

    On the scale of the measure: log-odds of errors, logarithms of log-losses.
    """

    level_sd: float  # How far off simulated curves are everywhere.
    tilt_mean: float  # How much faster the truth falls than a simulated curve, per unit of log(labels).
    tilt_sd: float
    blend_sd: float  # How far the best blend of the two sources is from the one that cross-validation suggests.
    # How far a point of the pilot may be off beside sampling, since curves have shapes of their own.
    misfit_sd: float
    drift_sd: float  # Spread of the truth around the calibrated curve, per square root of a unit of log(labels).
    doubt: float  # By how much standard errors of the comparison of sources are widened.
    # How probable it is, before the pilot is looked at, that a part of the labels does not follow from
    # features.
    floor_probability: float


# Chosen by `labelworth reproduce forecast-tuning`, which never draws a pilot of the forecast table.
TUNED: Mapping[Measure, Constants] = MappingProxyType(
    {
        "error": Constants(0.11, -0.09, 0.055, 0.14, 0.14, 0.046, 5.3, 0.94),
        "log_loss": Constants(0.7, -0.06, 0.023, 0.14, 0.1, 0.037, 3.9, 0.89),
    }
)

TAILS: Mapping[float, float] = MappingProxyType({1.0: 0.97, 3.0: 0.02, 10.0: 0.01})
"""How much wider than tuned everything may be, and how probable that is: simulations may be plainly wrong."""


_N_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class NormalMixture:
    """Mixtures of normals, one per column, all with the same weights."""

    weights: FloatArray  # (n_parts,): They sum to one.
    means: FloatArray  # (n_parts, n_columns)
    variances: FloatArray

    @property
    def mean(self) -> FloatArray:
        return np.asarray(self.weights @ self.means)

    @property
    def variance(self) -> FloatArray:
        """Of the mixture: within and between its parts, (n_columns,)."""
        return np.asarray(self.weights @ (self.variances + (self.means - self.mean) ** 2))

    def quantiles(self, probability: float) -> FloatArray:
        """Below which the truth lies with that probability, (n_columns,); by halving."""
        spread = np.sqrt(self.variances)
        of_parts = self.means + ndtri(probability) * spread
        # The quantile of a mixture lies among those of its parts.
        low, high = of_parts.min(axis=0), of_parts.max(axis=0)
        for _ in range(_N_HALVINGS):
            middle = (low + high) / 2
            is_low = self.weights @ ndtr((middle - self.means) / spread) < probability
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        return np.asarray((low + high) / 2)


@dataclass(frozen=True)
class Floor:
    """What no number of labels takes away, since a part of the labels does not follow from the features."""

    mean: float  # As a share of the labels, or in nats.
    low: float  # Ends of its 90 % interval, on a coarse grid.
    high: float


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Predictions on the scale of the measure: one normal distribution per floor and per width of what was tuned."""

    measure: Measure
    # (n_parts,): What no number of labels takes away, how much wider than tuned all is, and how probable that
    # is now.
    floors: FloatArray
    factors: FloatArray
    weights: FloatArray
    means: FloatArray  # (n_parts, n_sizes) and (n_parts, n_sizes, n_sizes)
    covariances: FloatArray

    @cached_property
    def mixture(self) -> NormalMixture:
        """On the scale of the measure."""
        return NormalMixture(self.weights, self.means, np.diagonal(self.covariances, axis1=1, axis2=2))

    @property
    def values(self) -> FloatArray:
        """The medians, in the units of the measure."""
        return self.quantiles(0.5)

    def quantiles(self, probability: float) -> FloatArray:
        """In the units of the measure."""
        return from_scale(self.measure, self.mixture.quantiles(probability))

    @property
    def floor(self) -> Floor:
        """What no number of labels takes away."""
        order = np.argsort(self.floors, kind="stable")
        below = np.cumsum(self.weights[order])
        # Rounding may leave the sum just below one.
        ends = np.minimum(np.searchsorted(below, (0.05, 0.95)), len(order) - 1)
        low, high = self.floors[order][ends].tolist()
        return Floor(float(self.weights @ self.floors), low, high)

    @property
    def contradiction(self) -> float:
        """How probable it is that the simulation is plainly wrong: that more than what was tuned is needed."""
        return float(self.weights[self.factors > 1].sum())

    def contrast_errors(self, contrasts: FloatArray) -> FloatArray:
        """Standard errors of weighted sums over sizes, on the scale; of contrasts (n_contrasts, n_sizes)."""
        spread = np.einsum("ci,fij,cj->fc", contrasts, self.covariances, contrasts)
        return np.sqrt(NormalMixture(self.weights, self.means @ contrasts.T, spread).variance)


@dataclass(frozen=True, eq=False)
class CurvesAt:
    """Simulated curves at some numbers of labels, on the scale of the measure."""

    curves: FloatArray  # (n_sizes, n_sources): One per source of labels, and their Monte Carlo variances.
    variances: FloatArray
    steps: FloatArray  # (n_sizes,): log(L / r).

    @classmethod
    def of(cls, basis: ForecastBasis, mode: Mode, policy: str, measure: Measure, sizes: IntArray) -> "CurvesAt":
        simulated = [basis.simulated[source, mode, policy, measure] for source in basis.modes]
        of_sources = [interpolated(measure, values, sizes) for values in simulated]
        curves, variances = (np.stack(parts, axis=1) for parts in zip(*of_sources, strict=True))
        return cls(curves, variances, np.log(sizes / basis.n_labeled))

    def rows(self, measure: Measure, floors: FloatArray) -> FloatArray:
        """Rows (lifted curve of every source, 1, log(L / r)) for every floor, (n_floors, n_sizes, n_sources + 2)."""
        curves = lifted(measure, self.curves, floors)
        shared = np.column_stack([np.ones(len(self.steps)), self.steps])
        return np.concatenate([curves, np.broadcast_to(shared, (*curves.shape[:2], 2))], axis=2)

    def noise(self, measure: Measure, floors: FloatArray) -> FloatArray:
        """Monte Carlo variances of the lifted curves, blended half and half; (n_floors, n_sizes, n_sizes)."""
        variances = self.variances * lifted_slopes(measure, self.curves, floors) ** 2
        return np.asarray(variances.mean(axis=2)[:, :, None] / self.curves.shape[1] * np.eye(len(self.steps)))


@dataclass(frozen=True, eq=False)
class Regression:
    """Points and curves of one mode, ready to be put together; constants do not enter yet."""

    measure: Measure
    # (n_points,) and (n_points, n_points): The points on the scale of the measure, and their covariance by the
    # sampling of units.
    observed: FloatArray
    noise: FloatArray
    at_points: "CurvesAt"  # Simulated curves at the points, and where forecasts are asked for.
    at_sizes: "CurvesAt"
    comparison: Comparison | None  # How well the two sources predict the pilot, where there are two.

    def solved(self, constants: Constants) -> Calibrated:
        """Forecasts at all sizes, averaged over what no number of labels takes away and over how far off all may be.

        Simulated labels follow from the features. Real ones may do so only in part, and the pilot tells which part:
        it is what its errors are above those of its simulation. Where nothing of the kind explains the pilot, what
        was tuned is too narrow, all of it, and the pilot is believed.
        """
        floors = np.array(FLOORS[self.measure])
        prior = np.full(len(floors), constants.floor_probability / (len(floors) - 1))
        prior[0] = 1 - constants.floor_probability
        parts = [self.given(constants, floors, factor) for factor in TAILS]
        likelihoods, means, covariances = (np.concatenate(part) for part in zip(*parts, strict=True))
        log_weights = likelihoods + np.log(np.outer(list(TAILS.values()), prior).ravel())
        weights = np.exp(log_weights - np.logaddexp.reduce(log_weights))
        factors = np.repeat(list(TAILS), len(floors))
        return Calibrated(self.measure, np.tile(floors, len(TAILS)), factors, weights, means, covariances)

    def given(
        self, constants: Constants, floors: FloatArray, factor: float = 1.0
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """For every floor all is normal: log-likelihoods of the points, means and covariances at all sizes.

        Spreads of level, tilt, blend and drift are `factor` times those tuned.
        """
        at_points, at_sizes = (curves.rows(self.measure, floors) for curves in (self.at_points, self.at_sizes))
        prior, tuned = self._prior(constants)
        spread = factor**2 * tuned
        noise = self.noise + constants.misfit_sd**2 * np.eye(len(self.observed))
        moved = spread @ at_points.transpose(0, 2, 1)
        total = at_points @ moved + noise + self.at_points.noise(self.measure, floors)
        residuals = self.observed - at_points @ prior
        solved = np.linalg.solve(total, residuals[:, :, None])
        means = at_sizes @ (prior[:, None] + moved @ solved)
        covariances = spread - moved @ np.linalg.solve(total, moved.transpose(0, 2, 1))
        covariances = at_sizes @ covariances @ at_sizes.transpose(0, 2, 1)
        covariances += self.at_sizes.noise(self.measure, floors)
        covariances += (factor * constants.drift_sd) ** 2 * _shared_way(self.at_sizes.steps)
        squares = np.einsum("fi,fi->f", residuals, solved[:, :, 0])
        # Up to a constant that all parts share.
        likelihoods = -0.5 * (squares + np.linalg.slogdet(total)[1])
        return likelihoods, means[:, :, 0], covariances

    def _prior(self, constants: Constants) -> tuple[FloatArray, FloatArray]:
        """Means and covariance of the weight of each source, the level and the tilt."""
        n_sources = self.at_points.curves.shape[1]
        spread = np.diag([*np.zeros(n_sources), constants.level_sd**2, constants.tilt_sd**2])
        if self.comparison is None:
            return np.array([1.0, 0.0, constants.tilt_mean]), spread
        share = source_share(self.comparison, constants.doubt)
        # The two weights add up to one: what one source gains the other loses.
        spread[:2, :2] = constants.blend_sd**2 * np.array([[1.0, -1.0], [-1.0, 1.0]])
        return np.array([1.0 - share, share, 0.0, constants.tilt_mean]), spread


def _shared_way(steps: FloatArray) -> FloatArray:
    """How far two sizes go together, from the pilot's: the covariance of a drift that wanders with log(labels)."""
    ways = np.minimum.outer(np.abs(steps), np.abs(steps))
    return np.where(np.sign(steps)[:, None] == np.sign(steps), ways, 0.0)


def calibrate(
    basis: ForecastBasis,
    mode: Mode,
    measure: Measure,
    sizes: IntArray,
    constants: Constants,
    policy: str = WHOLE,
) -> Calibrated:
    r"""Correct the simulated curves by what the pilot's points say.

    .. math:: g(y_L) = \sum_k w_k f_k(L) + a + b \log(L / r)

    with g the scale, :math:`f_k` the curve simulated with labels from source k on that scale, lifted by a floor, and
    r the labels of the pilot. Level a, tilt b and blend w have normal priors; the points are observations of the same
    sum. Given the floor everything is linear, so forecasts are closed formulas; the floor is summed over. Points stem
    from units labeled whole; for another policy the same corrections are made to its own simulated curves.
    """
    return regression_of(basis, mode, measure, sizes, policy).solved(constants)


def regression_of(
    basis: ForecastBasis, mode: Mode, measure: Measure, sizes: IntArray, policy: str = WHOLE
) -> Regression:
    """Put points and curves of one mode on the scale of the measure."""
    points = basis.points[mode, measure]
    observed, noise = _on_scale(measure, points, basis.n_labeled)
    return Regression(
        measure,
        observed,
        noise,
        CurvesAt.of(basis, mode, WHOLE, measure, points.sizes),
        CurvesAt.of(basis, mode, policy, measure, sizes),
        basis.comparisons.get("log_loss") if len(basis.modes) > 1 else None,
    )


def source_share(comparison: Comparison, doubt: float) -> float:
    """The weight of labels drawn from the semi-supervised fit: how probable it is that this fit predicts better."""
    if not comparison.standard_error > 0:
        return 0.5
    return float(ndtr(-comparison.difference / (doubt * comparison.standard_error)))


def interpolated(measure: Measure, simulated: Simulated, sizes: IntArray) -> tuple[FloatArray, FloatArray]:
    """A simulated curve on the scale of the measure, linear in log(labels) between and beyond its nodes.

    The Monte Carlo variance is pooled over the nodes, as there are few replicates.
    """
    n_replicates = len(simulated.values)
    scaled = to_scale(measure, inside(measure, simulated.values))
    curve, nodes, wanted = scaled.mean(axis=0), np.log(simulated.sizes), np.log(sizes)
    variance = float(scaled.var(axis=0, ddof=1).mean()) / n_replicates if n_replicates > 1 else 0.0
    left = np.clip(np.searchsorted(nodes, wanted) - 1, 0, len(nodes) - 2)
    share = (wanted - nodes[left]) / (nodes[left + 1] - nodes[left])
    values: FloatArray = curve[left] * (1 - share) + curve[left + 1] * share
    return values, variance * ((1 - share) ** 2 + share**2)


def _on_scale(measure: Measure, points: Points, n_units: int) -> tuple[FloatArray, FloatArray]:
    """The points and their covariance on the scale of the measure, by the delta method.

    Half an error and half a right answer are added, so that no error at all is not taken for certainty.
    """
    if measure == "error":
        means = (n_units * points.means + 0.5) / (n_units + 1)
        slopes = 1 / (means * (1 - means))
    else:
        means = inside(measure, points.means)
        slopes = 1 / means
    floor = np.eye(len(means)) * (0.5 / n_units) ** 2
    return to_scale(measure, means), (points.covariance + floor) * np.outer(slopes, slopes)
