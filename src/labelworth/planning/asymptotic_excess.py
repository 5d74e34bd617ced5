"""What the formulas say of more labels, to stand beside a forecast by simulation."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.planning.documents import Documents, dense_accuracy
from labelworth.planning.plug_in import MOST_PARAMETERS, NearbyInformation
from labelworth.simulation.forecast import Excess
from labelworth.simulation.learner import Mode
from labelworth.simulation.scales import Measure
from labelworth.tradeoff.accuracy import Accuracy

_CRITERIA: dict[Measure, str] = {"error": "excess_error", "log_loss": "excess_log_loss"}
_N_KNOTS = 9


def asymptotic_excess(documents: Documents, mode: Mode, measure: Measure, most: float, seed: int) -> Excess | None:
    """The excess over the number of labels by the formulas, at the fit.

    Formulas are asked at a few numbers of labels; between them the excess is a power of the number.

    Parameters
    ----------
    mode : Mode
        With all other documents, or without.
    most : float
        The largest number of labels that will be asked for.

    Returns
    -------
    function or None
        None where matrices would be too large, or the model is not identified by labels and documents.
    """
    if documents.n_parameters > MOST_PARAMETERS:
        return None
    near = NearbyInformation.of(documents.fitted.model, documents.samples, np.random.default_rng([seed, 11]))
    accuracy = dense_accuracy(
        near,
        documents.fitted.model,
        criterion=_CRITERIA[measure],
        held_labeled=0.0,
        uses_unlabeled=mode == "semi-supervised",
        seed=seed,
    )
    n_units = float(documents.samples.n_samples)
    knots = np.geomspace(1.0, max(most, n_units, 2.0), _N_KNOTS)
    excess = np.array([accuracy.error(_counts(accuracy, labels, n_units)) for labels in knots])
    if not (np.isfinite(excess) & (excess > 0)).all():
        return None

    def of(labels: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.interp(np.log(labels), np.log(knots), np.log(excess))))

    return of


def _counts(accuracy: Accuracy, labels: float, n_units: float) -> FloatArray:
    """So many labels, and all other documents where they are learned from."""
    return np.array([labels, max(n_units - labels, 0.0)])[: len(accuracy.arms)]


def why_no_excess(n_parameters: int) -> str:
    """In words."""
    if n_parameters > MOST_PARAMETERS:
        return (
            f"The curve of the formulas is left out: it takes matrices, which are formed for up to {MOST_PARAMETERS} "
            f"parameters, and this model has {n_parameters:,}."
        )
    return "The curve of the formulas is left out: by them labels and documents do not identify the model."
