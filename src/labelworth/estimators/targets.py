"""The y of scikit-learn, read as evidence."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from labelworth.arrays import AnyArray, BoolArray
from labelworth.data.drawn import DrawnLabels
from labelworth.data.evidence import Evidence, encode_labels, recoded
from labelworth.data.labels import is_missing, sorted_classes
from labelworth.errors import InvalidInputError

_SETS = (list, tuple, set, frozenset, np.ndarray)


def read_targets(y: Any, unlabeled: Hashable, further: tuple[Hashable, ...] = ()) -> Evidence:
    """Read y as scikit-learn users write it.

    Parameters
    ----------
    y : array-like of shape (n,)
        A class per row; `unlabeled`, None or NaN where it was not seen; a list, tuple or set of candidates.
    unlabeled : hashable
        The marker for "not seen".
    further : tuple
        Classes that there are beside those of y.

    Raises
    ------
    ValueError
        If y is missing or not one-dimensional.
    InvalidInputError
        If no row carries a label, or y looks like numbers to regress on.
    """
    labels = _one_dimensional(y)
    _require_marker_apart(labels, unlabeled)
    seen = _seen(labels, unlabeled)
    if not seen.any() and not further:
        markers = "None or NaN" if unlabeled is None else f"{unlabeled!r}, None or NaN"
        raise InvalidInputError(
            f"Every row is unlabeled (y is {markers} everywhere), so the classes have no names. "
            "Label at least one row per class, or name another marker with unlabeled=."
        )
    evidence = encode_labels(labels, unlabeled=unlabeled)
    if isinstance(y, DrawnLabels):
        evidence = replace(evidence, judged=y.judged)
    gold = [label for label in labels[seen] if not isinstance(label, _SETS)]
    if gold:
        _require_classes(_typed(gold))
    return recoded(evidence, all_classes(evidence.classes, further)) if further else evidence


def all_classes(first: tuple[Hashable, ...], second: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    """The classes of both, sorted; in the order of the first if the second has no others."""
    return first if set(second) <= set(first) else sorted_classes([*first, *second], None)


def labeled_rows(y: Any, unlabeled: Hashable) -> tuple[BoolArray, AnyArray]:
    """Which rows carry a single class, and those classes: what predictions can be held against."""
    labels = _one_dimensional(y)
    gold = _seen(labels, unlabeled) & np.array([not isinstance(label, _SETS) for label in labels], dtype=bool)
    return gold, _typed(list(labels[gold]))


def class_array(classes: tuple[Hashable, ...]) -> AnyArray:
    """The classes as scikit-learn's ``classes_``: an array of their own type."""
    return _typed(list(classes))


def _one_dimensional(y: Any) -> AnyArray:
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if isinstance(y, list | tuple) and any(isinstance(label, (str, *_SETS)) for label in y):
        # NumPy would write the marker -1 among texts as the text "-1".
        return _objects(list(y))
    if not isinstance(getattr(y, "dtype", np.dtype(object)), np.dtype):
        # NumPy would write the truth values and integers of pandas beside a missing one as floats.
        return _objects(list(y))
    column: AnyArray = column_or_1d(y, warn=True)
    return column


def _seen(labels: AnyArray, unlabeled: Hashable) -> BoolArray:
    if labels.dtype.kind in "iub" and isinstance(unlabeled, int) and not isinstance(unlabeled, bool):
        # The usual case, without a walk through every row; a boolean is never the marker.
        return np.ones(len(labels), dtype=bool) if labels.dtype.kind == "b" else np.asarray(labels != unlabeled)
    return np.array([not is_missing(label, unlabeled) for label in labels], dtype=bool)


def _require_classes(gold: AnyArray) -> None:
    try:
        check_classification_targets(gold)
    except ValueError as error:
        raise InvalidInputError(f"{error} Write classes as texts or whole numbers.") from error


def _require_marker_apart(labels: AnyArray, unlabeled: Hashable) -> None:
    """Refuse an array of texts in which NumPy has written the marker as a text: it would pass for a class."""
    if labels.dtype.kind == "U" and not isinstance(unlabeled, str) and (labels == str(unlabeled)).any():
        raise InvalidInputError(
            f"y is an array of texts that holds {str(unlabeled)!r}: NumPy has turned the marker {unlabeled!r} into a "
            f"text. Use numpy.array(labels, dtype=object), or unlabeled={str(unlabeled)!r}."
        )


def _typed(labels: list[Any]) -> AnyArray:
    array = np.asarray(labels)
    return array if array.ndim == 1 else _objects(labels)


def _objects(labels: list[Any]) -> AnyArray:
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array
