"""From simulated curves and the pilot's points to a forecast with its uncertainty: a small Bayesian regression."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from scipy.special import logit, ndtr, ndtri

from labelworth.arrays import FloatArray, IntArray
from labelworth.errors import InvalidInputError
from labelworth.simulation.basis import ForecastBasis, Points, Simulated
from labelworth.simulation.learner import LearnerKind, Mode
from labelworth.simulation.metrics import MetricKind, metric_of
from labelworth.simulation.open_labels import OpenLabels
from labelworth.simulation.power_law import PowerLaw, fit_odds_law, fit_power_law
from labelworth.simulation.scales import Measure, from_scale, inside, lifted, to_scale
from labelworth.simulation.simulator import WHOLE


@dataclass(frozen=True)
class Constants:
    """What the pilot cannot tell, tuned once (see docs/derivations/forecast.md).

    On the scale of the measure: log-odds of errors, logarithms of log-losses.
    """

    weights: Mapping[str, float]  # Of the curves simulated with labels from every source, relative to each other.
    # A source whose misses of the pilot's labels have so much larger log-odds than the best one's weighs 1 / e of it.
    source_scale: float
    law: float  # The share of a power law through the pilot's points in the blend.
    level_mean: float  # How far off simulated curves are everywhere.
    level_sd: float
    tilt_mean: float  # How much faster the truth falls than a simulated curve, per unit of log(labels).
    tilt_sd: float
    # Spread of the truth around the tilted curve, per square root of a unit of log(labels): from the pilot back to
    # its sub-samples, and ahead of it. Curves differ more in how they begin than in how they go on.
    drift_sd: float
    ahead_sd: float
    # How much the squares of these spreads grow, relative to themselves, per unit of sampling variance of the pilot's
    # last point: sources are fits to the pilot, and know no better than it what few errors say.
    growth: float = 0.0

    def widened(self, times: float) -> "Constants":
        """The same with spreads of level, tilt and drift so many times as wide."""
        spreads = {name: times * getattr(self, name) for name in ("level_sd", "tilt_sd", "drift_sd", "ahead_sd")}
        return replace(self, **spreads)


_SOURCES = MappingProxyType({"labels-only": 1.0, "semi-supervised": 1.0, "mixture": 1.0, "neighbors": 1.0})


def _tuned(
    tilts: tuple[float, float], aheads: tuple[float, float], drift_sd: float, *, law: float = 0.1
) -> Mapping[str, Constants]:
    """What all kinds of learners share, with how their curves differ from simulated ones, and how widely.

    Tilts and spreads ahead are those of the error and of the log-loss. Metrics have the tilt of the error, and
    spreads of their own, the same for all kinds, of which ``METRIC_SPREADS`` are multiples.
    """
    return MappingProxyType(
        {
            "error": Constants(_SOURCES, 0.5, law, 0.05, 0.12, tilts[0], 0.05, drift_sd, aheads[0], growth=15.0),
            "log_loss": Constants(_SOURCES, 0.5, law, 0.0, 0.15, tilts[1], 0.04, 0.8 * drift_sd, aheads[1]),
            "metric": Constants(_SOURCES, 0.5, law, 0.05, 0.22, tilts[0], 0.055, 0.16, 0.16),
        }
    )


# Tilts and spreads ahead are what a rule chooses on the pilots of `labelworth reproduce forecast` and
# `forecast-vectors` (`on_all` of their records), which judge each corpus by what the same rule chooses without it.
# All else are round numbers. Labels simulated by a model of words are learned by such a model as real ones are:
# closer than by others.
_GENERATIVE = _tuned((-0.1, -0.05), (0.12, 0.1), 0.11)
TUNED: Mapping[LearnerKind, Mapping[str, Constants]] = MappingProxyType(
    {
        "generative": _GENERATIVE,
        "vectors": _tuned((0.0, 0.0), (0.2, 0.14), 0.22),
        "linear": _tuned((-0.15, -0.075), (0.2, 0.2), 0.22),
        "local": _tuned((-0.025, -0.025), (0.18, 0.16), 0.16, law=0.2),
        "sequences": _GENERATIVE,  # One corpus of them says nothing of others.
    }
)

METRIC_SPREADS: Mapping[MetricKind, float] = MappingProxyType({"macro_f1": 1.75, "precision": 2.75, "recall": 5.25})
"""How many times as wide as for the error level, tilt and drift are: the best threshold hangs on few examples of a
class, and sources that agree about errors do not agree about the order of scores."""

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
    """Predictions on the scale of the measure: one normal distribution per share and per width of what was tuned."""

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
    """What is known of a curve beforehand at some numbers of labels, on the scale of the measure."""

    simulated: Mapping[str, FloatArray]  # (n_sizes,) each: By source of labels.
    misses: Mapping[str, float]  # Log-odds of the share of the pilot's labels that every source misses.
    law: FloatArray  # (n_sizes,): Through the pilot's points.
    steps: FloatArray  # (n_sizes,): log(L / r).

    @classmethod
    def of(cls, basis: ForecastBasis, mode: Mode, policy: str, measure: Measure, sizes: IntArray) -> "CurvesAt":
        simulated = {
            source: interpolated(measure, basis.simulated[source, mode, policy, measure], sizes)
            # In one order, whether the basis was kept or not: sums in another differ in their last bits.
            for source in sorted(basis.source_errors)
            if basis.simulated[source, mode, policy, measure].is_known
        }
        if not simulated:
            raise InvalidInputError(
                f"No simulated label is of the class that {measure} speaks of: label more at random, then plan again."
            )
        law = _law_at(basis, mode, measure, sizes)
        n = basis.n_labeled
        misses = {source: float(logit((n * error + 0.5) / (n + 1))) for source, error in basis.source_errors.items()}
        return cls(simulated, misses, law, np.log(sizes / n))

    def weights(self, constants: Constants) -> FloatArray:
        """Of the sources, in order, summing to one: the more labels of the pilot one misses the less it weighs."""
        least = min(self.misses.values())
        weights = np.array(
            [
                constants.weights[source] * np.exp(-(self.misses[source] - least) / constants.source_scale)
                for source in self.simulated
            ]
        )
        return np.asarray(weights / weights.sum())

    def blended(self, measure: Measure, shares: FloatArray, chance: float, constants: Constants) -> FloatArray:
        """The weighted mean of the lifted curves and the law, for every share, (n_shares, n_sizes).

        The law goes through points of labels as they are: it is not lifted.
        """
        weights = (1 - constants.law) * self.weights(constants)
        curves = lifted(measure, np.stack(list(self.simulated.values()), axis=1), shares, chance)
        return np.asarray(curves @ weights + constants.law * self.law)


@dataclass(frozen=True, eq=False)
class Regression:
    """Points and curves of one mode, ready to be put together; constants do not enter yet."""

    measure: Measure
    chance: float  # What it costs to know no features, in units of the measure.
    open_labels: OpenLabels  # Which shares of the labels may not follow from the features.
    # (n_points,) and (n_points, n_points): The points on the scale of the measure, and their covariance by the
    # sampling of units.
    observed: FloatArray
    noise: FloatArray
    at_points: "CurvesAt"  # What is known beforehand at the points, and where forecasts are asked for.
    at_sizes: "CurvesAt"

    def solved(self, constants: Constants) -> Calibrated:
        """Forecasts at all sizes, averaged over what no number of labels takes away and over how far off all may be.

        Simulated labels follow from the features. Real ones may do so only in part: what the best source misses of
        the pilot bounds the rest, and the points tell more of it where it lifts them above their simulation. Where
        nothing of the kind explains the pilot, what was tuned is too narrow, all of it, and the pilot is believed.
        """
        shares = self.open_labels.shares
        parts = [self.given(constants, shares, factor) for factor in TAILS]
        likelihoods, means, covariances = (np.concatenate(part) for part in zip(*parts, strict=True))
        log_weights = likelihoods + np.log(np.outer(list(TAILS.values()), self.open_labels.probabilities).ravel())
        weights = np.exp(log_weights - np.logaddexp.reduce(log_weights))
        factors = np.repeat(list(TAILS), len(shares))
        # How far a source takes its own classes to overlap is its opinion: another model may tell them apart.
        floors = shares * self.chance
        return Calibrated(self.measure, np.tile(floors, len(TAILS)), factors, weights, means, covariances)

    def given(
        self, constants: Constants, shares: FloatArray, factor: float = 1.0
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """For every share all is normal: log-likelihoods of the points, means and covariances at all sizes.

        Spreads of level, tilt and drift are `factor` times those tuned.
        """
        n_points = len(self.observed)
        steps = np.concatenate([self.at_points.steps, self.at_sizes.steps])
        curves = np.concatenate(
            [at.blended(self.measure, shares, self.chance, constants) for at in (self.at_points, self.at_sizes)],
            axis=1,
        )
        prior = curves + constants.level_mean + constants.tilt_mean * steps
        growth = 1 + constants.growth * float(self.noise[-1, -1])
        spread = (factor**2 * growth) * (
            constants.level_sd**2
            + constants.tilt_sd**2 * np.outer(steps, steps)
            + constants.drift_sd**2 * _shared_way(np.maximum(-steps, 0.0))
            + constants.ahead_sd**2 * _shared_way(np.maximum(steps, 0.0))
        )
        total, moved = spread[:n_points, :n_points] + self.noise, spread[n_points:, :n_points]
        residuals = self.observed - prior[:, :n_points]
        solved = np.linalg.solve(total, residuals.T).T
        means = prior[:, n_points:] + solved @ moved.T
        covariance = spread[n_points:, n_points:] - moved @ np.linalg.solve(total, moved.T)
        # Up to a constant that all parts share.
        likelihoods = -0.5 * ((residuals * solved).sum(axis=1) + np.linalg.slogdet(total)[1])
        return likelihoods, means, np.broadcast_to(covariance, (len(shares), *covariance.shape))


def _shared_way(ways: FloatArray) -> FloatArray:
    """How far two sizes go together, by how far each lies to one side of the pilot's: the covariance of a drift."""
    return np.minimum.outer(ways, ways)


def calibrate(
    basis: ForecastBasis,
    mode: Mode,
    measure: Measure,
    sizes: IntArray,
    constants: Constants | None = None,
    policy: str = WHOLE,
) -> Calibrated:
    r"""Correct the simulated curves by what the pilot's points say.

    .. math:: g(y_L) = \sum_k w_k f_k(L) + a + b \log(L / r) + d(\log(L / r))

    with g the scale, :math:`f_k` the curve simulated with labels from source k on that scale, lifted by a share of
    labels that do not follow from the features (one of the curves is a law through the points), and r the labels of
    the pilot. Level a, tilt b and drift d, a random walk that starts at r, have normal priors; the points are
    observations of the same sum. Given the share everything is linear, so forecasts are closed formulas; it is summed
    over. Points stem from units labeled
    whole; for another policy the same corrections are made to its own simulated curves.

    Parameters
    ----------
    constants : Constants, optional
        Those of the kind of learner when absent.
    """
    return regression_of(basis, mode, measure, sizes, policy).solved(constants or constants_of(basis.kind, measure))


def constants_of(kind: LearnerKind, measure: Measure) -> Constants:
    """Those tuned for a kind of learner; metrics start from those of the error, with spreads of their own."""
    metric = metric_of(measure)
    if metric is None:
        return TUNED[kind][measure]
    return TUNED[kind]["metric"].widened(METRIC_SPREADS[metric.kind])


def regression_of(
    basis: ForecastBasis, mode: Mode, measure: Measure, sizes: IntArray, policy: str = WHOLE
) -> Regression:
    """Put points and curves of one mode on the scale of the measure."""
    points = basis.points[mode, measure]
    observed, noise = _on_scale(measure, points, basis.n_tested(measure))
    return Regression(
        measure,
        basis.chance(measure),
        basis.open_labels,
        observed,
        noise,
        CurvesAt.of(basis, mode, WHOLE, measure, points.sizes),
        CurvesAt.of(basis, mode, policy, measure, sizes),
    )


def power_law_of(basis: ForecastBasis, mode: Mode, measure: Measure) -> PowerLaw:
    """The power law through the points of the pilot."""
    points = basis.points[mode, measure]
    # As for the forecast: no error at all in n units is not certainty.
    variances = np.diag(points.covariance) + (0.5 / basis.n_tested(measure)) ** 2
    return fit_power_law(points.sizes, points.means, variances)


def _law_at(basis: ForecastBasis, mode: Mode, measure: Measure, sizes: IntArray) -> FloatArray:
    """What the pilot's points alone would say, on the scale of the measure.

    How fast odds of errors usually fall is known for each kind of learner; of log-losses it is not.
    """
    if measure == "log_loss":
        return to_scale(measure, inside(measure, power_law_of(basis, mode, measure).at(sizes)))
    points = basis.points[mode, measure]
    observed, noise = _on_scale(measure, points, basis.n_tested(measure))
    law = fit_odds_law(np.log(points.sizes / basis.n_labeled), observed, noise, basis.kind)
    return law.at(np.log(sizes / basis.n_labeled))


def interpolated(measure: Measure, simulated: Simulated, sizes: IntArray) -> FloatArray:
    """A simulated curve on the scale of the measure, linear in log(labels) between its nodes.

    Beyond the last node it goes on as it went over the last two steps: a single one is short, and noisy where few
    units were left to be tested on.
    """
    if simulated.n_tested.size:
        # Of a metric few units are behind one value, which may be zero; half an error in all of them is added.
        # Replicates without any unit of a class count nothing.
        n_tested = simulated.n_tested.sum()
        missing = np.nansum(simulated.n_tested[:, None] * simulated.values, axis=0)
        curve = to_scale(measure, (missing + 0.5) / (n_tested + 1))
    else:
        curve = to_scale(measure, inside(measure, simulated.values)).mean(axis=0)
    nodes, wanted = np.log(simulated.sizes), np.log(sizes)
    left = np.clip(np.searchsorted(nodes, wanted) - 1, 0, len(nodes) - 2)
    share = (wanted - nodes[left]) / (nodes[left + 1] - nodes[left])
    values = curve[left] * (1 - share) + curve[left + 1] * share
    back = max(len(nodes) - 3, 0)
    slope = (curve[-1] - curve[back]) / (nodes[-1] - nodes[back])
    return np.asarray(np.where(wanted > nodes[-1], curve[-1] + slope * (wanted - nodes[-1]), values))


def _on_scale(measure: Measure, points: Points, n_units: int) -> tuple[FloatArray, FloatArray]:
    """The points and their covariance on the scale of the measure, by the delta method.

    Half an error and half a right answer are added, so that no error at all is not taken for certainty.
    """
    if measure == "log_loss":
        means = inside(measure, points.means)
        slopes = 1 / means
    else:
        means = (n_units * points.means + 0.5) / (n_units + 1)
        slopes = 1 / (means * (1 - means))
    floor = np.eye(len(means)) * (0.5 / n_units) ** 2
    return to_scale(measure, means), (points.covariance + floor) * np.outer(slopes, slopes)
