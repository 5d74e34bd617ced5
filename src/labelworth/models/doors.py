"""What every model and family checks at its door."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from labelworth.arrays import AnyArray, FloatArray
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.blocks import Numbered


def require_classes(classes: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Refuse no classes, or the same class twice."""
    names = tuple(classes)
    if not names:
        raise InvalidInputError("There must be at least one class. Name the classes, or give some labels.")
    # 1 == True == 1.0 in Python: such classes could not be told apart either.
    if len(set(names)) != len(names):
        raise InvalidInputError(f"Classes must be distinct. Got {names!r}.")
    return names


def require_feature_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...] | None:
    """Refuse another number of names than columns."""
    if names is None:
        return None
    if len(names) != n_features:
        raise InvalidInputError(f"There must be one name per column. Got {n_features} columns, {len(names)} names.")
    return tuple(names)


def require_features(samples: Samples, n_features: int) -> None:
    """Refuse samples with another number of columns than the model's."""
    if samples.n_features != n_features:
        raise InvalidInputError(
            f"The model has {n_features} features, the samples have {samples.n_features}. "
            "Use the same vocabulary or columns for both."
        )


def require_strength(name: str, value: float) -> float:
    """Refuse a prior strength that is negative, NaN or infinite."""
    number = float(value)
    if not (np.isfinite(number) and number >= 0):
        raise InvalidInputError(f"{name} must be a finite number of at least 0. Got {value!r} instead.")
    return number


def check_family(family: Any, strengths: Sequence[str], unnamed: str | None = None) -> None:
    """What every family checks when it is built: a column, classes, `strengths` of its priors, names of columns.

    Columns without names are called "`unnamed` 0", "`unnamed` 1", .. where that is given.
    """
    if family.n_features < 1:
        raise InvalidInputError(f"n_features must be at least 1. Got {family.n_features} instead.")
    object.__setattr__(family, "classes", require_classes(family.classes))
    for name in strengths:
        object.__setattr__(family, name, require_strength(name, getattr(family, name)))
    names = family.feature_names
    if unnamed is not None:
        names = names or Numbered(unnamed, family.n_features)
    object.__setattr__(family, "feature_names", require_feature_names(names, family.n_features))


def require_rows_for(samples: Samples, classes: tuple[Hashable, ...], row_weights: FloatArray) -> None:
    """Refuse samples of other classes, and row weights that are not positive numbers, one per row."""
    if samples.evidence.classes != classes:
        raise InvalidInputError(
            f"The samples have the classes {samples.evidence.classes!r}, the model {classes!r}. "
            "Both must name the same classes in the same order."
        )
    if row_weights.shape != (samples.n_samples,):
        raise InvalidInputError(
            f"There must be one weight per row. Got {samples.n_samples} rows, weights of shape {row_weights.shape}."
        )
    if not samples.n_samples:
        raise InvalidInputError("There are no samples. Give at least one.")
    if not (np.isfinite(row_weights).all() and (row_weights > 0).all()):
        raise InvalidInputError("Row weights must be positive and finite; leave rows of weight 0 out.")


def stored(arrays: Mapping[str, AnyArray], name: str) -> AnyArray:
    """One array of a stored model, or what is missing."""
    if name not in arrays:
        raise InvalidInputError(f"The stored model lacks the array {name!r}; the file is damaged or of another kind.")
    return arrays[name]
