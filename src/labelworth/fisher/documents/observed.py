"""The information at a fit, from the very samples that were fitted (Louis' identity)."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, require_shape
from labelworth.data.samples import Samples
from labelworth.data.shards.passes import AsTheyAre, total
from labelworth.engines.runner import Sums
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.directions import most_changed
from labelworth.fisher.documents.population import summed_spread
from labelworth.linalg.symmetric import SingularMatrixError, cholesky
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import Model


def observed_information(model: Model, samples: Samples, prior_curvature: FloatArray) -> DenseInformation:
    r"""Minus the Hessian of the penalized log-likelihood, per sample, split at what the labels take away.

    .. math::

        -\nabla^2 \ell = \underbrace{\sum_i \sum_k r_{ik} \bigl(-\nabla^2 \log p(x_i, k)\bigr) - \nabla^2 \log prior}
            _{n \cdot complete} - \sum_{i \text{ unlabeled}} \operatorname{Var}(S \mid x_i)

    with :math:`r_{ik} = p(k | x_i, evidence)`. The missing information is the last sum per unlabeled sample, so that
    :math:`I(f)` at the fitted fraction is the Hessian itself, and at larger fractions what it would be had more of
    these samples been labeled as they are expected to be. Rows with ambiguous labels count as labeled; what they
    leave open is taken off the complete information.

    Parameters
    ----------
    model : Model
        At the maximum: a fit that has converged.
    samples : Samples
        What it was fitted to, weights included.
    prior_curvature : array of shape (d, d)
        Minus the Hessian of the log prior, as by `Family.prior_curvature`; zeros without a prior.

    Returns
    -------
    DenseInformation
        Valid from the fitted labeled fraction up. Per sample of weight one.

    Raises
    ------
    NotIdentifiableError
        If the Hessian is not positive definite: the fit has not converged to a maximum, or the labels leave a
        direction open.

    Notes
    -----
    Unlike the expected information of a fitted model it holds for the samples at hand, whether the model is right or
    not. Dense, for small d.

    Paper: prop:efficiency1.
    """
    d = model.coordinates.n_free
    require_shape("prior_curvature", prior_curvature, (d, d))
    weights, unlabeled = samples.sample_weights, samples.evidence.is_unlabeled
    total_weight, unseen = float(weights.sum()), float(weights[unlabeled].sum())
    if total_weight <= 0:
        raise InvalidInputError("The samples must have some weight. Got weights that sum to zero.")
    sums = total(AsTheyAre(ObservedRows), samples, weights, "curvatures", model)
    lost = sums["lost"]
    complete = (sums["curvature"] + prior_curvature - sums["fixed"]) / total_weight
    _require_maximum(model, complete - lost / total_weight)
    missing = lost / unseen if unseen > 0 else lost
    return DenseInformation.of_labels(
        model.coordinates,
        complete,
        missing,
        "observed",
        lowest_fraction=float(weights[~unlabeled].sum()) / total_weight,
    )


@dataclass(frozen=True, eq=False)
class ObservedRows:
    """Rows with their weights, for one pass."""

    samples: Samples
    weights: FloatArray

    def curvatures(self, model: Model) -> Sums:
        """Of the complete likelihood, and what ambiguous (``fixed``) and missing (``lost``) labels take away."""
        samples, weights, evidence = self.samples, self.weights, self.samples.evidence
        responsibilities, _ = condition(model.log_joint(samples), evidence)

        def spread(rows: BoolArray) -> FloatArray:
            chosen = np.flatnonzero(rows)
            return summed_spread(model, samples.take(chosen), responsibilities[chosen], weights[chosen])

        return {
            "curvature": model.complete_curvature(samples, weights[:, None] * responsibilities),
            "fixed": spread(evidence.is_ambiguous),
            "lost": spread(evidence.is_unlabeled),
        }


def _require_maximum(model: Model, hessian: FloatArray) -> None:
    try:
        cholesky(hessian)
    except SingularMatrixError as error:
        names = most_changed(model.coordinates, error.null_vectors)
        raise NotIdentifiableError(
            "The observed information is not positive definite, so this is not a strict maximum: let the fit "
            f"converge, label more, or use a stronger prior. It fails along {', '.join(names)}.",
            names,
        ) from error
