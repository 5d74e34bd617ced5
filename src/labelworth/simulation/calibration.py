"""From simulated curves and the pilot's points to a forecast with its uncertainty: a small Bayesian regression."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, logit, logsumexp
from scipy.stats import multivariate_normal, norm

from labelworth.arrays import FloatArray, IntArray
from labelworth.simulation.basis import Comparison, ForecastBasis, Points, Simulated
from labelworth.simulation.learner import Mode
from labelworth.simulation.simulator import WHOLE

Measure = Literal["error", "log_loss"]


@dataclass(frozen=True)
class Constants:
    """What the pilot cannot tell, tuned once on two corpora (see docs/derivations/forecast.md).

    On the scale of the measure: log-odds of errors, logarithms of log-losses.

    Attributes
    ----------
    level_sd : float
        How far off simulated curves are everywhere.
    tilt_mean, tilt_sd : float
        How much faster the truth falls than a simulated curve, per unit of log(labels).
    blend_sd : float
        How far the best blend of the two sources is from the one that cross-validation suggests.
    misfit_sd : float
        How far a point of the pilot may be off beside sampling, since curves have shapes of their own.
    drift_sd : float
        Spread of the truth around the calibrated curve, per square root of a unit of log(labels).
    doubt : float
        By how much standard errors of the comparison of sources are widened.
    """

    level_sd: float
    tilt_mean: float
    tilt_sd: float
    blend_sd: float
    misfit_sd: float
    drift_sd: float
    doubt: float


# Chosen by `labelworth reproduce forecast-tuning`, which never draws a pilot of the forecast table.
TUNED: dict[Measure, Constants] = {
    "error": Constants(0.3, -0.02, 0.05, 0.2, 0.12, 0.065, 2.2),
    "log_loss": Constants(0.3, -0.02, 0.05, 0.2, 0.1, 0.06, 2.2),
}


TAILS = {1.0: 0.97, 3.0: 0.02, 10.0: 0.01}
"""How much wider the prior may be, and how probable that is: 2 of 72 tuning pilots err more than simulated ones."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Predictions on the scale of the measure, as normal distributions.

    Attributes
    ----------
    measure : str
    means, variances : arrays of shape (n_sizes,)
    """

    measure: Measure
    means: FloatArray
    variances: FloatArray

    @property
    def values(self) -> FloatArray:
        """The medians, in the units of the measure."""
        return from_scale(self.measure, self.means)

    def quantiles(self, probability: float) -> FloatArray:
        """In the units of the measure."""
        return from_scale(self.measure, self.means + norm.ppf(probability) * np.sqrt(self.variances))


def to_scale(measure: Measure, values: FloatArray) -> FloatArray:
    """Log-odds of errors, logarithms of log-losses."""
    return np.asarray(logit(values) if measure == "error" else np.log(values))


def from_scale(measure: Measure, scaled: FloatArray) -> FloatArray:
    """Back to the units of the measure."""
    return np.asarray(expit(scaled) if measure == "error" else np.exp(scaled))


@dataclass(frozen=True, eq=False)
class Regression:
    """Points and curves of one mode, ready to be put together; constants do not enter yet.

    Attributes
    ----------
    measure : str
    observed, noise : arrays of shape (n_points,) and (n_points, n_points)
        The points on the scale of the measure, and their covariance: sampling of units, and simulation.
    at_points, at_sizes : arrays of shape (n_points, n_sources + 2) and (n_sizes, n_sources + 2)
        Rows (curve of every source, 1, log(L / r)).
    simulation_noise : array of shape (n_sizes,)
        Monte Carlo variance of the blended curve.
    distance : array of shape (n_sizes,)
        abs(log(L / r)).
    comparison : Comparison, optional
        How well the two sources predict the pilot, where there are two.
    """

    measure: Measure
    observed: FloatArray
    noise: FloatArray
    at_points: FloatArray
    at_sizes: FloatArray
    simulation_noise: FloatArray
    distance: FloatArray
    comparison: Comparison | None

    def solved(self, constants: Constants) -> Calibrated:
        """Means and variances at all sizes, averaged over how far simulations may be from the truth.

        The prior has heavy tails: with small probability what was tuned is wider by a factor, all of it. Where the
        pilot contradicts its simulation, as where labels do not follow from the features, it decides for the factor.
        """
        answers = [self._given(constants, factor) for factor in TAILS]
        log_weights = np.array([answer[0] for answer in answers]) + np.log(list(TAILS.values()))
        weights = np.exp(log_weights - logsumexp(log_weights))
        means, variances = (np.array([answer[place] for answer in answers]) for place in (1, 2))
        mean = weights @ means
        return Calibrated(self.measure, mean, weights @ (variances + (means - mean) ** 2))

    def _given(self, constants: Constants, factor: float) -> tuple[float, FloatArray, FloatArray]:
        """Log-likelihood of the points, means and variances, with a prior wider by `factor`: all is normal."""
        prior, spread = self._prior(constants)
        spread = factor**2 * spread
        noise = self.noise + constants.misfit_sd**2 * np.eye(len(self.observed))
        total = self.at_points @ spread @ self.at_points.T + noise
        residual = self.observed - self.at_points @ prior
        gain = spread @ self.at_points.T @ np.linalg.inv(total)
        mean = prior + gain @ residual
        covariance = spread - gain @ self.at_points @ spread
        variances = np.einsum("li,ij,lj->l", self.at_sizes, covariance, self.at_sizes)
        variances += self.simulation_noise + (factor * constants.drift_sd) ** 2 * self.distance
        likelihood = float(multivariate_normal(np.zeros(len(residual)), total).logpdf(residual))
        return likelihood, self.at_sizes @ mean, variances

    def _prior(self, constants: Constants) -> tuple[FloatArray, FloatArray]:
        """Means and covariance of the weight of each source, the level and the tilt."""
        spread = np.diag([*np.zeros(self.at_points.shape[1] - 2), constants.level_sd**2, constants.tilt_sd**2])
        if self.comparison is None:
            return np.array([1.0, 0.0, constants.tilt_mean]), spread
        share = source_share(self.comparison, constants.doubt)
        # The two weights add up to one: what one source gains the other loses.
        spread[:2, :2] = constants.blend_sd**2 * np.array([[1.0, -1.0], [-1.0, 1.0]])
        return np.array([1.0 - share, share, 0.0, constants.tilt_mean]), spread


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

    with g the scale, :math:`f_k` the curve simulated with labels from source k on that scale, r the labels of the
    pilot. Level a, tilt b and blend w have normal priors; the points are observations of the same sum. Everything is
    linear, so means and variances of forecasts are closed formulas. Points stem from units labeled whole; for another
    policy the same corrections are made to its own simulated curves.
    """
    return regression_of(basis, mode, measure, sizes, policy).solved(constants)


def regression_of(
    basis: ForecastBasis, mode: Mode, measure: Measure, sizes: IntArray, policy: str = WHOLE
) -> Regression:
    """Put points and curves of one mode on the scale of the measure."""
    points = basis.points[mode, measure]
    observed, noise = _on_scale(measure, points, basis.n_labeled)
    at_points, simulated_there = _design(basis, mode, WHOLE, measure, points.sizes)
    at_sizes, simulated_here = _design(basis, mode, policy, measure, sizes)
    return Regression(
        measure,
        observed,
        noise + np.diag(simulated_there),
        at_points,
        at_sizes,
        simulated_here,
        np.abs(np.log(sizes / basis.n_labeled)),
        basis.comparisons.get("log_loss") if len(basis.modes) > 1 else None,
    )


def source_share(comparison: Comparison, doubt: float) -> float:
    """The weight of labels drawn from the semi-supervised fit: how probable it is that this fit predicts better."""
    if not comparison.standard_error > 0:
        return 0.5
    return float(norm.cdf(-comparison.difference / (doubt * comparison.standard_error)))


def _design(
    basis: ForecastBasis, mode: Mode, policy: str, measure: Measure, sizes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Rows (curves, 1, log(L / r)) at these sizes, and the Monte Carlo variance of the blended curve."""
    columns, noises = [], []
    for source in basis.modes:
        curve, noise = interpolated(measure, basis.simulated[source, mode, policy, measure], sizes)
        columns.append(curve)
        noises.append(noise)
    tilt = np.log(sizes / basis.n_labeled)
    design = np.stack([*columns, np.ones(len(sizes)), tilt], axis=1)
    return design, np.asarray(np.mean(noises, axis=0) / len(noises))


def interpolated(measure: Measure, simulated: Simulated, sizes: IntArray) -> tuple[FloatArray, FloatArray]:
    """A simulated curve on the scale of the measure, linear in log(labels) between and beyond its nodes.

    The Monte Carlo variance is pooled over the nodes, as there are few replicates.
    """
    n_replicates = len(simulated.values)
    scaled = to_scale(measure, _inside(measure, simulated.values))
    curve, places, wanted = scaled.mean(axis=0), np.log(simulated.sizes), np.log(sizes)
    variance = float(scaled.var(axis=0, ddof=1).mean()) / n_replicates if n_replicates > 1 else 0.0
    left = np.clip(np.searchsorted(places, wanted) - 1, 0, len(places) - 2)
    share = (wanted - places[left]) / (places[left + 1] - places[left])
    values: FloatArray = curve[left] * (1 - share) + curve[left + 1] * share
    return values, variance * ((1 - share) ** 2 + share**2)


def _inside(measure: Measure, values: FloatArray) -> FloatArray:
    """Away from the ends of the scale, by less than simulations can resolve."""
    smallest = 1e-4
    return np.clip(values, smallest, 1 - smallest) if measure == "error" else np.maximum(values, smallest)


def _on_scale(measure: Measure, points: Points, n_units: int) -> tuple[FloatArray, FloatArray]:
    """The points and their covariance on the scale of the measure, by the delta method.

    Half an error and half a right answer are added, so that no error at all is not taken for certainty.
    """
    if measure == "error":
        means = (n_units * points.means + 0.5) / (n_units + 1)
        slopes = 1 / (means * (1 - means))
    else:
        means = _inside(measure, points.means)
        slopes = 1 / means
    floor = np.eye(len(means)) * (0.5 / n_units) ** 2
    return to_scale(measure, means), (points.covariance + floor) * np.outer(slopes, slopes)
