"""Labels as people write them: a class, a marker for "not seen", or a list for "one of these"."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from labelworth.arrays import AnyArray, IntArray
from labelworth.errors import InvalidInputError


def is_missing(label: Any, unlabeled: Hashable) -> bool:
    """Whether a label stands for "not seen": the marker itself, None, NaN or a missing value of pandas."""
    if label is None or type(label).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(label, float | np.floating) and np.isnan(label):
        return True
    if _is_set(label):
        return False
    # True == 1 in Python: a marker of 1 must not swallow the class True, and the other way round.
    return isinstance(label, bool | np.bool_) == isinstance(unlabeled, bool | np.bool_) and bool(label == unlabeled)


def distinct_labels(labels: Iterable[Any]) -> tuple[list[Any], list[int], IntArray]:
    """Entries, the sample each was met at first, and the entry of every sample.

    Labels are many and classes few: whatever is read of an entry is read once. Candidate sets stay as they are.
    """
    if isinstance(labels, str | bytes):
        raise InvalidInputError(f"Labels must be one entry per sample. Got the single text {labels!r} instead.")
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise InvalidInputError(f"Labels must have 1 dimension. Got shape {labels.shape} instead.")
    entries: list[Any] = []
    rows: list[int] = []
    entry_of_sample: list[int] = []
    met: dict[tuple[type, Any], int] = {}
    for row, entry in enumerate(labels.tolist() if isinstance(labels, np.ndarray) else labels):
        label = entry.item() if isinstance(entry, np.generic) else entry
        index = len(entries)
        if label is None or isinstance(label, str | int | float):
            # The type belongs to the key: True and 1 are equal and yet two labels.
            index = met.setdefault((type(label), label), index)
        if index == len(entries):
            entries.append(label)
            rows.append(row)
        entry_of_sample.append(index)
    return entries, rows, np.array(entry_of_sample, dtype=np.int64)


def _is_set(entry: Any) -> bool:
    return isinstance(entry, list | tuple | set | frozenset | np.ndarray)


def candidates(entry: Any) -> list[Any]:
    """The candidates an entry names; a class stands for itself alone."""
    if not _is_set(entry):
        return [entry]
    return [label.item() if isinstance(label, np.generic) else label for label in entry]


def by_text(labels: Iterable[Any]) -> dict[str, Any]:
    """Every class that occurs, in candidate sets too, by its text.

    >>> by_text(["a", None, [2, "b"]])
    {'a': 'a', '2': 2, 'b': 'b'}
    """
    return {str(label): label for entry in labels for label in candidates(entry) if label is not None}


def require_readable(entry: Any, row: int, unlabeled: Hashable, position: Callable[[int], str]) -> None:
    """Refuse what is neither a class, nor the marker, nor a list of classes."""
    members = candidates(entry)
    if not members:
        raise InvalidInputError(
            f"{position(row)} has an empty candidate set, which rules out every class; name at least one class, "
            "or mark the sample as unlabeled."
        )
    for label in members:
        if _is_set(label) or not isinstance(label, Hashable):
            raise InvalidInputError(
                f"{position(row)} has the label {entry!r}; a label is a class (text or a number), "
                "the marker for an unlabeled sample, or a list of classes."
            )
        if _is_set(entry) and is_missing(label, unlabeled):
            raise InvalidInputError(
                f"{position(row)} has {label!r}, the marker for an unlabeled sample, among its candidates {entry!r}; "
                "mark the whole sample as unlabeled, or name another marker with unlabeled=."
            )


def sorted_classes(entries: list[Any], unlabeled: Hashable) -> tuple[Hashable, ...]:
    """All classes that occur, sorted."""
    labels = [label for entry in entries if not is_missing(entry, unlabeled) for label in candidates(entry)]
    kinds = {_kind(label) for label in labels}
    if len(kinds) > 1:
        raise InvalidInputError(
            f"Labels must be of one kind. Got a mix of {' and '.join(sorted(kinds))}; write them all the same way."
        )
    try:
        return tuple(sorted(set(labels)))
    except TypeError as error:
        raise InvalidInputError(f"Labels of type {kinds.pop()} have no order; name them with classes=.") from error


def _kind(label: Hashable) -> str:
    # 1 and 1.0 are one class, but True is not the class 1 although Python calls them equal.
    return "number" if isinstance(label, int | float) and not isinstance(label, bool) else type(label).__name__


def classes_given(classes: Sequence[Hashable] | AnyArray, unlabeled: Hashable) -> tuple[Hashable, ...]:
    """The classes the caller gave, in their order."""
    names = tuple(name.item() if isinstance(name, np.generic) else name for name in classes)
    if any(is_missing(name, unlabeled) for name in names):
        raise InvalidInputError(
            f"{unlabeled!r} is both a class and the marker for an unlabeled sample; name another marker "
            "with unlabeled=."
        )
    if len(set(names)) != len(names):
        raise InvalidInputError(f"Classes must be distinct. Got {list(names)!r}.")
    return names
