"""What a fitted model says of each sample's class."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import Model


def posterior(model: Model, samples: Samples) -> FloatArray:
    """p(y | x, evidence) for every sample and class, shape (n, K); rows sum to one.

    Hide the labels (``samples.hide()``) for p(y | x).

    Raises
    ------
    InvalidInputError
        If a sample has probability zero under every class its evidence allows, so that nothing can be said.
    """
    if samples.evidence.classes != model.classes:
        raise InvalidInputError(
            f"The samples have the classes {samples.evidence.classes!r}, the model {model.classes!r}. "
            "Both must name the same classes in the same order."
        )
    responsibilities, log_evidence = condition(model.log_joint(samples), samples.evidence)
    impossible = np.flatnonzero(~np.isfinite(log_evidence))
    if impossible.size:
        raise InvalidInputError(
            f"{impossible.size} sample(s) have probability zero under every class, the first at row {impossible[0]}: "
            "they have features the model has never seen. Fit with smoothing above 0."
        )
    return responsibilities
