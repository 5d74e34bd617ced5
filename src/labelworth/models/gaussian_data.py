"""What Gaussian models need of the data: features that vary, and moments around the center."""

from collections.abc import Callable
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.models.gaussian_model import Covariance


def moments_around(center: FloatArray, covariance: Covariance) -> Callable[[Any, FloatArray], dict[str, FloatArray]]:
    """First and second moments around the center of the data, where they do not cancel."""

    def moments(vectors: Any, responsibilities: FloatArray) -> dict[str, FloatArray]:
        centered = vectors - center
        if covariance == "diagonal":
            squares = responsibilities.T @ np.square(centered)
        elif covariance == "shared":
            squares = ((centered * responsibilities.sum(axis=1)[:, None]).T @ centered)[None]
        else:
            squares = np.stack([(centered * column[:, None]).T @ centered for column in responsibilities.T])
        return {"sums": responsibilities.T @ centered, "squares": squares}

    return moments


def require_varying(vectors: FloatArray, feature_names: tuple[str, ...] | None) -> None:
    """Refuse features without variance: a Gaussian has no density there."""
    if len(vectors) < 2:
        raise InvalidInputError("Got 1 sample: the spread of a Gaussian needs at least 2; give more, or variances=.")
    constant = np.flatnonzero(vectors.min(axis=0) == vectors.max(axis=0))
    if constant.size:
        names = ", ".join(feature_names[place] if feature_names else str(place) for place in constant[:8])
        raise InvalidInputError(
            f"{constant.size} feature(s) never vary (columns {names}{', ..' if constant.size > 8 else ''}): "
            "they say nothing about the class and have no variance. Leave them out, or give variances= for the prior."
        )
