"""Forecasts of the classification error from a pilot alone: as if the model were right, and whether or not it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.criteria.classification_error import excess_error
from labelworth.data.samples import Samples
from labelworth.fisher.dense import DenseInformation
from labelworth.models.protocol import AnyFamily, AnyModel
from labelworth.robust.held_out import HeldOutPredictions
from labelworth.robust.misspecified.pseudo_true import pseudo_true_path
from labelworth.robust.misspecified.sandwich import sandwich, score_moments

_N_IMAGES = 4000
_N_ESTIMATES = 200
_TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class Level:
    """What cross-validation on the pilot says of the labels alone.

    A forecast of differences is anchored here, since the error of a model on the rows it was fitted to is too low.
    """

    error: float
    standard_error: float
    n_labels: int
    """How many labels the models of the folds had."""

    @classmethod
    def of(cls, predictions: HeldOutPredictions, n_folds: int) -> "Level":
        """Read it off the held-out predictions with unlabeled weight 0."""
        errors = predictions.errors(0.0)
        spread = float(errors.std(ddof=1) / np.sqrt(len(errors)))
        return cls(float(errors.mean()), spread, round(len(errors) * (1 - 1 / n_folds)))


def forecast_if_right(
    model: AnyModel,
    information: DenseInformation,
    level: Level,
    label_counts: IntArray,
    n_pool: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Predicted errors with the labels alone and with the rest of the pool, shape (2, n_sizes), believing the model.

    Excess errors of estimates drawn from N(theta, I(f)^-1 / n), anchored at the cross-validated level.
    """
    seed = int(rng.integers(2**32))

    def excess(n_samples: float, fractions: FloatArray) -> FloatArray:
        # The same draws for every size: their differences are what counts.
        draws = np.random.default_rng(seed)
        estimate = excess_error(
            model, information, n_samples, fractions, draws, n_documents=_N_IMAGES, n_draws=_N_ESTIMATES
        )
        return estimate.values

    alone = np.array([excess(count, np.ones(1))[0] for count in label_counts])
    together = excess(n_pool, label_counts / n_pool)
    forecast: FloatArray = level.error - excess(level.n_labels, np.ones(1)) + np.stack([alone, together])
    return forecast


def forecast_anyway(
    family: AnyFamily,
    pilot: Samples,
    level: Level,
    label_counts: IntArray,
    n_pool: int,
    unlabeled_weights: Sequence[float],
    rng: np.random.Generator,
) -> FloatArray:
    r"""Predicted errors without believing the model, shape (n_weights, n_sizes).

    Estimates scatter around the pseudo-true path as the sandwich says,

    .. math:: \hat\theta \sim N(\theta^*_f,\; H^{-1} J H^{-1} / n)

    with :math:`\theta^*_f`, H and J taken from the pilot, and the error of every drawn estimate is counted on the
    pilot's own rows. An unlabeled weight of 0 is a sample of the labels alone.
    """
    draws = rng.standard_normal((family.neutral().coordinates.n_free, _N_ESTIMATES))
    around = _Neighborhood(family, pilot, draws)
    forecast = np.empty((len(unlabeled_weights), len(label_counts)))
    for row, weight in enumerate(unlabeled_weights):
        if weight == 0:
            forecast[row] = [around.errors(np.ones(1), int(count), 1.0)[0] for count in label_counts]
        else:
            forecast[row] = around.errors(label_counts / n_pool, n_pool, weight)
    return level.error - around.errors(np.ones(1), level.n_labels, 1.0) + forecast


@dataclass(frozen=True, eq=False)
class _Neighborhood:
    """Errors of estimates near the pseudo-true path; `draws` (d, n_estimates) are standard normal."""

    family: AnyFamily
    pilot: Samples
    draws: FloatArray

    def errors(self, fractions: FloatArray, n_samples: int, weight: float) -> FloatArray:
        """The mean error at every labeled fraction of a sample of n."""
        models = pseudo_true_path(
            self.family,
            self.pilot,
            fractions,
            n_samples=n_samples,
            unlabeled_weight=weight,
            tolerance=_TOLERANCE,
        )
        pairs = zip(models, fractions, strict=True)
        return np.array([self._error(model, float(fraction), n_samples, weight) for model, fraction in pairs])

    def _error(self, model: Any, fraction: float, n_samples: int, weight: float) -> float:
        """Move log p(x, y) of every row along its gradient, classify, and count what is wrong."""
        spread = sandwich(
            model.coordinates,
            score_moments(model, self.pilot),
            fraction,
            unlabeled_weight=weight,
            prior_curvature=self.family.prior_curvature(model),
            n_samples=n_samples,
            # The demonstration labels a fixed number of images.
            random_labels=False,
        )
        values, vectors = np.linalg.eigh(spread.covariance / n_samples)
        # Rounding may leave an eigenvalue of zero slightly below it.
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        shifted = model.log_joint(self.pilot)[:, :, None] + model.class_scores(self.pilot) @ (root @ self.draws)
        return float((shifted.argmax(axis=1) != self.pilot.evidence.codes[:, None]).mean())
