"""How much an unlabeled row should count: the weight of least estimated risk."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.data.shards.passes import AsTheyAre, total
from labelworth.engines.runner import Sums
from labelworth.estimation.fit import fit
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import Family, ModelT
from labelworth.progress import SILENT, Progress, tracking
from labelworth.robust.held_out import HeldOutPredictions
from labelworth.robust.row_forms import RowForms, class_covariances

WEIGHTS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
"""The weights tried."""


@dataclass(frozen=True)
class WeightChoice:
    """The weight of least estimated risk, and the whole curve."""

    best: float  # The unlabeled weight of least risk; of equal ones the smallest.
    method: str  # "sandwich" or "cross-validation".
    risk_name: str  # What `risks` measures.
    # The curve; standard errors are those of the difference from the best weight, None where there is none.
    weights: tuple[float, ...]
    risks: tuple[float, ...]
    standard_errors: tuple[float, ...] | None

    def words(self) -> str:
        """The outcome as a sentence."""
        advice = {
            0.0: "leave the unlabeled rows out (unlabeled_weight = 0)",
            1.0: "let an unlabeled row count as much as a labeled one (unlabeled_weight = 1)",
        }.get(self.best, f"let an unlabeled row count {self.best:g} (unlabeled_weight = {self.best:g})")
        curve = ", ".join(f"{weight:g}: {risk:.4g}" for weight, risk in zip(self.weights, self.risks, strict=True))
        return f"Least estimated risk: {advice}. {self.risk_name} by weight: {curve} (by {self.method})."

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def choice_by_sandwich(
    family: Family[ModelT], samples: Samples, *, fitting: dict[str, Any] | None = None, progress: Progress = SILENT
) -> WeightChoice:
    """The weight of the least of `sandwich_risks`: no rows are held out, but it takes many labels per parameter."""
    risks = sandwich_risks(family, samples, WEIGHTS, fitting=fitting, progress=progress)
    best = WEIGHTS[int(np.argmin(risks))]
    return WeightChoice(best, "sandwich", "Excess joint log-loss (nats)", WEIGHTS, tuple(risks.tolist()), None)


def choice_of(predictions: HeldOutPredictions[float]) -> WeightChoice:
    """Read the choice off held-out predictions: least log-loss with honest log-odds."""
    losses = np.array([predictions.tempered_losses(weight) for weight in predictions.ways])
    means = losses.mean(axis=1)
    best = int(np.argmin(means))
    gaps = losses - losses[best]
    errors = gaps.std(axis=1, ddof=1) / np.sqrt(predictions.n_tested)
    return WeightChoice(
        predictions.ways[best],
        "cross-validation",
        "Held-out log-loss (nats)",
        predictions.ways,
        tuple(means.tolist()),
        tuple(errors.tolist()),
    )


def sandwich_risks(
    family: Family[ModelT],
    samples: Samples,
    weights: Sequence[float],
    *,
    fitting: dict[str, Any] | None = None,
    progress: Progress = SILENT,
) -> FloatArray:
    r"""Unbiased estimates of the excess joint log-loss at every weight, to leading order.

    The labels alone have no bias, so :math:`\hat\theta_\beta - \hat\theta_0` estimates the bias of weight
    :math:`\beta`, with noise. Taking the noise off, and adding the variance,

    .. math::

        R(\beta) = \tfrac12 \operatorname{tr}\Bigl( M \bigl[ (\hat\theta_\beta - \hat\theta_0)(\cdot)'
            - \operatorname{Cov}(\hat\theta_\beta - \hat\theta_0) + \operatorname{Cov}(\hat\theta_\beta) \bigr] \Bigr)

    where M is the complete information at :math:`\hat\theta_0` and the covariances are those of the influences
    :math:`H_\beta^{-1} \psi_\beta` of the rows. A negative difference of the first two terms is left as it is: it is
    chance, and cutting it off would favor weights above 0.

    Returns
    -------
    array of shape (n_weights,)
        Nats per sample.
    """
    samples = samples.take(~samples.evidence.is_ambiguous)
    arguments = {"tolerance": 1e-8, **(fitting or {})}
    alone = fit(family, samples, unlabeled_weight=0.0, **arguments)
    fixed = family.adapted(samples, samples.sample_weights)
    metric = alone.model.complete_information()
    theta = alone.model.coordinates.flatten(alone.model.tables)
    risks = []
    with tracking(progress, "unlabeled weight", len(weights)) as task:
        for weight in weights:
            model = fit(fixed, samples, unlabeled_weight=weight, **arguments).model
            shift = model.coordinates.flatten(model.tables) - theta
            noise, variance = _noise_and_variance(fixed, (model, weight), (alone.model, 0.0), samples, metric)
            risks.append((shift @ metric @ shift - noise + variance) / 2)
            task.advance()
    return np.array(risks)


Weighted = tuple[Any, float]
"""A model, and how much an unlabeled row counted when it was fitted."""


def _noise_and_variance(
    family: Family[Any], fitted: Weighted, alone: Weighted, samples: Samples, metric: FloatArray
) -> tuple[float, float]:
    r"""trace(M Cov) of the difference of two estimates, and of the first of them.

    Rows move an estimate by :math:`H^{-1} \psi_i`, so the sums of :math:`\psi_i` and of their products, of both
    estimates side by side, are all there is to know: they add up over shards.
    """
    sums = total(AsTheyAre(InfluentialRows), samples, samples.sample_weights, "influences", (fitted, alone))
    n_samples, n_parameters = samples.n_samples, len(metric)
    covariance = sums["products"] - np.outer(sums["scores"], sums["scores"]) / n_samples
    first, second = (
        np.linalg.inv((sums[name] + family.prior_curvature(model)) / n_samples)
        for name, (model, _) in (("first bread", fitted), ("second bread", alone))
    )
    apart = np.concatenate([first, -second], axis=1)
    corner = covariance[:n_parameters, :n_parameters]
    noise, variance = (
        float(np.sum(metric * (turn @ spread @ turn.T))) / n_samples**2
        for turn, spread in ((apart, covariance), (first, corner))
    )
    return noise, variance


@dataclass(frozen=True, eq=False)
class InfluentialRows:
    """Rows with their weights, for one pass."""

    samples: Samples
    weights: FloatArray

    def influences(self, pair: tuple[Weighted, Weighted]) -> Sums:
        """Of two fits, the curvatures without the prior, and sums and products of the scores of rows."""
        (first_bread, first), (second_bread, second) = (self._of(model, weight) for model, weight in pair)
        scores = np.concatenate([first, second], axis=1)
        return {
            "first bread": first_bread,
            "second bread": second_bread,
            "scores": scores.sum(axis=0),
            "products": scores.T @ scores,
        }

    def _of(self, model: Any, weight: float) -> tuple[FloatArray, FloatArray]:
        samples = self.samples
        responsibilities, _ = condition(model.log_joint(samples), samples.evidence)
        row_weights = (self.weights * np.where(samples.evidence.is_unlabeled, weight, 1.0))[:, None]
        forms = RowForms(model, samples)
        bread = model.complete_curvature(samples, responsibilities * row_weights)
        bread -= forms.total(class_covariances(responsibilities) * row_weights[:, :, None])
        return bread, forms.contracted(responsibilities * row_weights)
