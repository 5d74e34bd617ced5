"""What is known of each sample's class: the one representation of gold, missing and ambiguous labels."""

import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelworth.arrays import UNLABELED, AnyArray, BoolArray, FloatArray, IntArray
from labelworth.data.drawn import DrawnLabels
from labelworth.data.labels import (
    candidates,
    classes_given,
    distinct_labels,
    is_missing,
    require_readable,
    sorted_classes,
)
from labelworth.errors import InvalidInputError, LabelworthWarning

_FIRST_AMBIGUOUS = -2


@dataclass(frozen=True, eq=False)
class Evidence:
    r"""A non-negative weight per class for every sample, :math:`w_i(y)`.

    The likelihood of a sample is :math:`\sum_y p(x, y)\, w(y)`: all ones is an unlabeled sample, a single one a
    gold label, several ones a candidate set ("not this class"), other weights :math:`p(\text{annotation} | y)`.
    """

    # (n,): ``>= 0``: the class is known. ``-1``: nothing is known. ``<= -2``: row ``-2 - code`` of `weights`.
    codes: IntArray
    classes: tuple[Hashable, ...]  # What the class codes stand for, in order.
    # (n_ambiguous, n_classes): The weights of the ambiguous samples, and of them alone.
    weights: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    # (n,), optional: What a label counts where predictions are judged by it, since its row was not drawn as others
    # were (see `labelworth.data.drawn`); None: one each. Fits do not look at it.
    judged: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 1 or self.codes.dtype.kind not in "iu":
            raise InvalidInputError(
                "Class codes must be whole numbers, one per sample. "
                f"Got shape {self.codes.shape} of {self.codes.dtype}; use encode_labels for labels."
            )
        if len(set(self.classes)) != self.n_classes:
            raise InvalidInputError(f"Classes must be distinct. Got {list(self.classes)!r}.")
        object.__setattr__(self, "codes", self.codes.astype(np.int64, copy=False))
        if self.weights.size == 0 and not self.is_ambiguous.any():
            object.__setattr__(self, "weights", np.empty((0, self.n_classes)))
        self._require_valid_codes()
        self._require_valid_weights()

    def _require_valid_codes(self) -> None:
        if self.codes.size and int(self.codes.max()) >= self.n_classes:
            raise InvalidInputError(
                f"Class codes must be below the number of classes, {self.n_classes}. Got {int(self.codes.max())}."
            )
        if self.codes.size and _FIRST_AMBIGUOUS - int(self.codes.min()) >= len(self.weights):
            raise InvalidInputError(
                f"Class code {int(self.codes.min())} points past the last of {len(self.weights)} candidate set(s)."
            )

    def _require_valid_weights(self) -> None:
        if self.weights.ndim != 2 or self.weights.shape[1] != self.n_classes:
            raise InvalidInputError(
                f"Candidate sets need one weight for each of the {self.n_classes} classes. "
                f"Got an array of shape {self.weights.shape}."
            )
        if not np.isfinite(self.weights).all() or (self.weights < 0).any():
            raise InvalidInputError("The weights of a candidate set must be finite and non-negative.")
        empty = ~(self.weights > 0).any(axis=1)
        if empty.any():
            raise InvalidInputError(
                f"{int(empty.sum())} candidate set(s) rule out every class; name at least one class, "
                "or mark the sample as unlabeled."
            )

    @property
    def n_samples(self) -> int:
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def is_gold(self) -> BoolArray:
        gold: BoolArray = self.codes >= 0
        return gold

    @property
    def is_unlabeled(self) -> BoolArray:
        """Of whose class nothing is known."""
        unlabeled: BoolArray = self.codes == UNLABELED
        return unlabeled

    @property
    def is_ambiguous(self) -> BoolArray:
        """Of whose class something is known, but not which it is: a candidate set or weights."""
        ambiguous: BoolArray = self.codes <= _FIRST_AMBIGUOUS
        return ambiguous

    @property
    def is_chosen(self) -> bool:
        """Whether rows with a label were chosen, and not drawn at random."""
        return self.judged is not None and bool(np.ptp(self.judged[~self.is_unlabeled]) > 0)

    def dense(self) -> FloatArray:
        """Spell the weights out, shape (n, n_classes)."""
        weights = np.ones((self.n_samples, self.n_classes))
        gold = self.is_gold
        weights[gold] = 0.0
        weights[gold, self.codes[gold]] = 1.0
        ambiguous = self.is_ambiguous
        weights[ambiguous] = self.weights[_FIRST_AMBIGUOUS - self.codes[ambiguous]]
        return weights

    def take(self, rows: AnyArray) -> "Evidence":
        """Keep `rows` (indices or a mask), in that order."""
        judged = None if self.judged is None else self.judged[rows]
        return compact(self.codes[rows], self.weights, self.classes, judged)

    def hidden(self, rows: AnyArray | None = None) -> "Evidence":
        """Forget the labels of `rows`; of everything when None."""
        codes = self.codes.copy()
        codes[slice(None) if rows is None else rows] = UNLABELED
        return compact(codes, self.weights, self.classes, self.judged)

    def label_counts(self) -> IntArray:
        """How many gold labels each class has, shape (n_classes,)."""
        return np.bincount(self.codes[self.is_gold], minlength=self.n_classes)


def compact(
    codes: IntArray, weights: FloatArray, classes: tuple[Hashable, ...], judged: FloatArray | None = None
) -> Evidence:
    """Build evidence that keeps only the candidate sets that `codes` still point to."""
    ambiguous = codes <= _FIRST_AMBIGUOUS
    kept = weights[_FIRST_AMBIGUOUS - codes[ambiguous]]
    codes = codes.copy()
    codes[ambiguous] = _FIRST_AMBIGUOUS - np.arange(len(kept))
    return Evidence(codes, classes, kept.reshape(len(kept), len(classes)), judged)


def from_weights(weights: FloatArray, classes: tuple[Hashable, ...]) -> Evidence:
    """Build evidence of a row of weights per sample: equal ones say nothing, a single one is the class."""
    if weights.ndim != 2 or weights.shape[1] != len(classes):
        raise InvalidInputError(f"There must be a weight for each of {len(classes)} classes. Got {weights.shape}.")
    codes = np.full(len(weights), UNLABELED, dtype=np.int64)
    single = (weights > 0).sum(axis=1) == 1
    codes[single] = np.argmax(weights[single], axis=1)
    mixed = np.flatnonzero(~single & ~((weights == weights[:, :1]) & (weights > 0)).all(axis=1))
    codes[mixed] = _FIRST_AMBIGUOUS - np.arange(len(mixed))
    return Evidence(codes, classes, weights[mixed])


def recoded(evidence: Evidence, classes: tuple[Hashable, ...]) -> Evidence:
    """The same evidence in another order of classes, or among more: those it has not named."""
    if evidence.classes == classes:
        return evidence
    absent = [name for name in evidence.classes if name not in classes]
    if absent:
        raise InvalidInputError(f"There is evidence of the class {absent[0]!r}, which is not one of the classes.")
    position = np.array([classes.index(name) for name in evidence.classes], dtype=np.int64)
    codes = evidence.codes.copy()
    codes[evidence.is_gold] = position[evidence.codes[evidence.is_gold]]
    weights = np.zeros((len(evidence.weights), len(classes)))
    weights[:, position] = evidence.weights
    return Evidence(codes, classes, weights, evidence.judged)


def encode_labels(
    labels: Iterable[Any],
    *,
    classes: Sequence[Hashable] | None = None,
    unlabeled: Hashable = UNLABELED,
    position: Callable[[int], str] = "Sample {}".format,
) -> Evidence:
    """Read labels as people write them.

    Parameters
    ----------
    labels : one entry per sample
        A class; `unlabeled`, None or NaN for "not seen"; a list, tuple or set of classes for "one of these".
    classes : sequence, optional
        All classes in order. Found in the labels and sorted when absent.
    unlabeled : hashable
        The marker for "not seen", ``-1`` unless named otherwise; None if there is no marker.
    position : callable
        What to call an entry, given its number, in an error.

    Raises
    ------
    InvalidInputError
        If a label is outside `classes`, the marker is a class, a candidate set is empty, or labels are of
        several kinds.

    Examples
    --------
    >>> evidence = encode_labels(["ham", -1, "spam", ["ham", "spam"], "news"])
    >>> evidence.classes, evidence.codes.tolist()
    (('ham', 'news', 'spam'), [0, -1, 2, -2, 1])
    """
    entries, rows, entry_of_sample = distinct_labels(labels)
    for entry, row in zip(entries, rows, strict=True):
        require_readable(entry, row, unlabeled, position)
    _warn_of_two_markers(entries, unlabeled)
    names = sorted_classes(entries, unlabeled) if classes is None else classes_given(classes, unlabeled)
    code_of = {name: code for code, name in enumerate(names)}
    codes = np.full(len(entries), UNLABELED, dtype=np.int64)
    weights: list[FloatArray] = []
    for index, (entry, row) in enumerate(zip(entries, rows, strict=True)):
        if is_missing(entry, unlabeled):
            continue
        codes_named = {_code(label, code_of, row, position) for label in candidates(entry)}
        if len(codes_named) == 1:
            codes[index] = codes_named.pop()
        elif len(codes_named) < len(names):
            codes[index] = _FIRST_AMBIGUOUS - len(weights)
            weights.append(np.isin(np.arange(len(names)), list(codes_named)).astype(np.float64))
        # A set of all classes says nothing: it stays unlabeled.
    judged = labels.judged if isinstance(labels, DrawnLabels) else None
    return compact(codes[entry_of_sample], np.array(weights).reshape(len(weights), len(names)), names, judged)


def _warn_of_two_markers(entries: Sequence[Any], unlabeled: Hashable) -> None:
    """Where both None and the marker occur, and classes are of the marker's type, it may have been meant as one."""
    missing = [entry for entry in entries if is_missing(entry, unlabeled)]
    marked = [entry for entry in missing if not is_missing(entry, None)]
    is_like_classes = any(type(entry) is type(unlabeled) for entry in entries if not is_missing(entry, unlabeled))
    if unlabeled is not None and marked and len(missing) > len(marked) and is_like_classes:
        warnings.warn(
            f"Labels hold {unlabeled!r} and None (or NaN): both are taken for 'not seen'. Where {unlabeled!r} is a "
            "class, name another marker with unlabeled=.",
            LabelworthWarning,
            stacklevel=3,
        )


def _code(label: Hashable, code_of: dict[Hashable, int], row: int, position: Callable[[int], str]) -> int:
    if label not in code_of:
        known = ", ".join(repr(name) for name in list(code_of)[:8]) + (", ..." if len(code_of) > 8 else "")
        raise InvalidInputError(
            f"{position(row)} has the label {label!r}, which is not one of the classes ({known})."
        )
    return code_of[label]
