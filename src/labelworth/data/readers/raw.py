"""What a file held, before texts become counts and labels become evidence."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from labelworth.arrays import FloatArray
from labelworth.data.evidence import Evidence, encode_labels
from labelworth.errors import InvalidInputError


class _Labeled:
    """Rows with labels."""

    labels: tuple[Any, ...]

    def evidence(self, classes: Sequence[Hashable] | None = None) -> Evidence:
        """What is known of the classes; `classes` names them all, in order, where they are known beforehand."""
        return encode_labels(self.labels, classes=classes, unlabeled=None)


@dataclass(frozen=True, eq=False)
class RawTexts(_Labeled):
    """Texts and their labels."""

    texts: tuple[str, ...]
    labels: tuple[Any, ...]  # Per text a class, None (unlabeled) or a list of classes (one of these).
    source: str  # Where they come from.
    notes: tuple[str, ...] = ()  # What was found or done while reading, in words.

    def __post_init__(self) -> None:
        _require_as_many(len(self.texts), self.labels, self.source)


@dataclass(frozen=True, eq=False)
class RawFeatures(_Labeled):
    """A matrix of features as it stood in the file, and the labels of its rows."""

    features: "sp.csr_array | FloatArray"  # (n, n_features): Not yet checked: `as_counts` and `as_vectors` do that.
    labels: tuple[Any, ...]  # Per row a class, None (unlabeled) or a list of classes (one of these).
    source: str  # Where they come from.
    zero_based: bool | None = None  # For svmlight files, whether the columns were counted from zero; None elsewhere.
    notes: tuple[str, ...] = ()  # What was found or done while reading, in words.

    def __post_init__(self) -> None:
        _require_as_many(int(self.features.shape[0]), self.labels, self.source)


def _require_as_many(n_rows: int, labels: tuple[Any, ...], source: str) -> None:
    if n_rows != len(labels):
        raise InvalidInputError(
            f"{source}: there must be one label entry per row. Got {n_rows} rows and {len(labels)} label entries; "
            "an unlabeled row needs an entry too (an empty line, or a marker named with unlabeled=)."
        )
