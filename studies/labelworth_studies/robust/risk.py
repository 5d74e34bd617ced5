"""Bias and variance of the estimate when the model is wrong, at every labeled fraction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from labelworth.arrays import FloatArray, as_floats
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import fit
from labelworth.models.protocol import Family, Model, ModelT
from labelworth.progress import SILENT, Progress
from labelworth_studies.robust.finite_sample import finite_sample_path, named_distance
from labelworth_studies.robust.pseudo_true import pseudo_true_path
from labelworth_studies.robust.sandwich import Sandwich, ScoreMoments, sandwich, score_moments

Method = Literal["finite-sample", "endless-data"]
_ENDLESS = 1e9  # so many samples that a prior of a few pseudo-counts no longer shows


@dataclass(frozen=True, eq=False)
class RiskCurve:
    r"""What the estimate at size n is off by, per labeled fraction."""

    fractions: FloatArray  # (n_fractions,)
    n_samples: float
    method: str  # "finite-sample" or "endless-data", see `misspecified_risk`.
    # :math:`|\theta^*_f - \theta^*_1|^2` in the named tables, :math:`\theta^*_1` being what all labels of the
    # whole population say.
    bias_squared: FloatArray
    variance: FloatArray  # :math:`\operatorname{tr}(H^{-1} J H^{-1}) / n` in the named tables.
    excess_joint_log_loss: FloatArray  # Expected log p(x, y) lost against :math:`\theta^*_1`, nats per sample.
    conditional_log_loss: FloatArray  # Expected -log p(y | x) on new samples of the population, nats.

    @property
    def mse(self) -> FloatArray:
        """Expected squared error of the named tables."""
        total: FloatArray = self.bias_squared + self.variance
        return total


def misspecified_risk(
    family: Family[ModelT],
    population: Samples,
    fractions: Sequence[float] | FloatArray,
    *,
    n_samples: float,
    unlabeled_weight: float = 1.0,
    random_labels: bool = True,
    method: Method = "finite-sample",
    progress: Progress = SILENT,
) -> RiskCurve:
    r"""Predict the mean squared error of the estimate from n rows of a population, whatever the truth is.

    .. math:: \text{mse}(f, n) = |\theta^*_f - \theta^*_1|^2 + \operatorname{tr}(H^{-1} J H^{-1}) / n

    Parameters
    ----------
    family : Family
        The model with the prior the estimator uses.
    population : Samples
        Rows with their classes: the world the n rows are drawn from.
    fractions : sequence of float
        Labeled fractions in (0, 1].
    n_samples : float
        n.
    unlabeled_weight : float
        How much an unlabeled row counts in the estimator's objective.
    random_labels : bool
        Whether a coin decides which rows are labeled, or their number is fixed.
    method : str
        "endless-data": the pseudo-true path and its sandwich, right when n is far above the number of parameters.
        "finite-sample": with the corrections of order d / n (`finite_sample_path`).

    Notes
    -----
    The excess losses are those at the center plus half the trace of their curvature times the covariance.
    Paper: prop:efficiency1 has neither bias nor meat; see docs/derivations/robust.md.
    """
    if method not in get_args(Method):
        raise InvalidInputError(f"method must be one of {', '.join(get_args(Method))}. Got {method!r} instead.")
    values = as_floats("labeled fractions", fractions, ndim=1)
    target = full_label_model(family, population)
    options: dict[str, Any] = {"n_samples": n_samples, "unlabeled_weight": unlabeled_weight, "progress": progress}
    if method == "finite-sample":
        path = finite_sample_path(family, population, values, random_labels=random_labels, **options)
        points = [(point.model, point.sandwich, score_moments(point.model, population)) for point in path]
    else:
        points = _endless_points(family, population, values, random_labels, options)
    best_loss, _ = mean_log_losses(target, population)
    losses = np.array([_log_losses(*point, population, n_samples) for point in points])
    return RiskCurve(
        values,
        float(n_samples),
        method,
        np.array([named_distance(model, target) for model, _, _ in points]),
        np.array([spread.total_variance / n_samples for _, spread, _ in points]),
        losses[:, 0] - best_loss,
        losses[:, 1],
    )


def full_label_model(family: Family[ModelT], population: Samples) -> ModelT:
    """What the labels of the whole population say, the prior aside: the target of every estimate."""
    shares = population.sample_weights / population.sample_weights.sum()
    return fit(family, population.weighted(_ENDLESS * shares)).model


def _endless_points(
    family: Family[ModelT], population: Samples, fractions: FloatArray, random_labels: bool, options: dict[str, Any]
) -> list[tuple[ModelT, Sandwich, ScoreMoments]]:
    fixed = family.adapted(population, population.sample_weights)
    points = []
    for fraction, model in zip(fractions, pseudo_true_path(family, population, fractions, **options), strict=True):
        moments = score_moments(model, population)
        spread = sandwich(
            model.coordinates,
            moments,
            float(fraction),
            unlabeled_weight=options["unlabeled_weight"],
            prior_curvature=fixed.prior_curvature(model),
            n_samples=options["n_samples"],
            random_labels=random_labels,
        )
        points.append((model, spread, moments))
    return points


def mean_log_losses(model: Model, population: Samples) -> tuple[float, float]:
    """Means of -log p(x, y), up to what carries no parameter, and of -log p(y | x)."""
    shares = population.sample_weights / population.sample_weights.sum()
    log_joint = model.log_joint(population)
    labeled = log_joint[np.arange(population.n_samples), population.evidence.codes]
    return float(-shares @ labeled), float(shares @ (np.logaddexp.reduce(log_joint, axis=1) - labeled))


def _log_losses(
    model: Model, spread: Sandwich, moments: ScoreMoments, population: Samples, n_samples: float
) -> tuple[float, float]:
    """Expected joint and conditional log-loss at the center plus what the noise adds."""
    covariance = spread.covariance / n_samples
    joint = float(np.sum(moments.labeled.curvature * covariance)) / 2
    marginal = float(np.sum(moments.hidden.curvature * covariance)) / 2
    labeled, conditional = mean_log_losses(model, population)
    return labeled + joint, conditional + joint - marginal
