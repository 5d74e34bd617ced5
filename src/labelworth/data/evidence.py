"""What is known of each sample's class: the one representation of gold, missing and ambiguous labels."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelworth.arrays import UNLABELED, AnyArray, BoolArray, FloatArray, IntArray
from labelworth.errors import InvalidInputError

_FIRST_AMBIGUOUS = -2


@dataclass(frozen=True)
class Evidence:
    r"""A non-negative weight per class for every sample, :math:`w_i(y)`.

    The likelihood of a sample is :math:`\sum_y p(x, y)\, w(y)`: all ones is an unlabeled sample, a single one a
    gold label, several ones a candidate set ("not this class"), other weights :math:`p(\text{annotation} | y)`.

    Attributes
    ----------
    codes : integer array of shape (n,)
        ``>= 0``: the class is known. ``-1``: nothing is known. ``<= -2``: row ``-2 - code`` of `weights`.
    weights : array of shape (n_ambiguous, n_classes)
        The weights of the ambiguous samples, and of them alone.
    classes : tuple
        What the class codes stand for, in order.
    """

    codes: IntArray
    classes: tuple[Hashable, ...]
    weights: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        n_ambiguous = int((self.codes <= _FIRST_AMBIGUOUS).sum())
        if n_ambiguous == 0 and self.weights.size == 0:
            object.__setattr__(self, "weights", np.empty((0, self.n_classes)))
        if self.codes.size and int(self.codes.max()) >= self.n_classes:
            raise InvalidInputError(
                f"Class codes must be below the number of classes, {self.n_classes}. Got {int(self.codes.max())}."
            )
        if self.weights.shape[1:] != (self.n_classes,):
            raise InvalidInputError(
                f"Candidate sets need one weight for each of the {self.n_classes} classes. "
                f"Got an array of shape {self.weights.shape}."
            )
        if self.codes.size and _FIRST_AMBIGUOUS - int(self.codes.min()) >= len(self.weights):
            raise InvalidInputError("A class code points past the last candidate set.")
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
        """How many samples."""
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """How many classes."""
        return len(self.classes)

    @property
    def is_gold(self) -> BoolArray:
        """Whose class is known."""
        gold: BoolArray = self.codes >= 0
        return gold

    @property
    def is_unlabeled(self) -> BoolArray:
        """Of whose class nothing is known."""
        unlabeled: BoolArray = self.codes == UNLABELED
        return unlabeled

    @property
    def is_ambiguous(self) -> BoolArray:
        """Of whose class something is known."""
        ambiguous: BoolArray = self.codes <= _FIRST_AMBIGUOUS
        return ambiguous

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
        return compact(self.codes[rows], self.weights, self.classes)

    def hidden(self, rows: AnyArray | None = None) -> "Evidence":
        """Forget the labels of `rows`; of everything when None."""
        codes = self.codes.copy()
        codes[slice(None) if rows is None else rows] = UNLABELED
        return compact(codes, self.weights, self.classes)

    def label_counts(self) -> IntArray:
        """How many gold labels each class has, shape (n_classes,)."""
        return np.bincount(self.codes[self.is_gold], minlength=self.n_classes)

    @classmethod
    def concatenate(cls, parts: Sequence["Evidence"]) -> "Evidence":
        """Put samples behind each other; all parts must name the same classes."""
        first = parts[0]
        if any(part.classes != first.classes for part in parts):
            raise InvalidInputError("Only samples with the same classes, in the same order, can be put together.")
        codes, offset = [], 0
        for part in parts:
            codes.append(np.where(part.is_ambiguous, part.codes - offset, part.codes))
            offset += len(part.weights)
        return cls(np.concatenate(codes), first.classes, np.concatenate([part.weights for part in parts]))


def compact(codes: IntArray, weights: FloatArray, classes: tuple[Hashable, ...]) -> Evidence:
    """Build evidence that keeps only the candidate sets that `codes` still point to."""
    ambiguous = codes <= _FIRST_AMBIGUOUS
    kept = weights[_FIRST_AMBIGUOUS - codes[ambiguous]]
    codes = codes.copy()
    codes[ambiguous] = _FIRST_AMBIGUOUS - np.arange(len(kept))
    return Evidence(codes, classes, kept.reshape(len(kept), len(classes)))


def is_missing(label: Any, unlabeled: Hashable) -> bool:
    """Whether a label stands for "not seen": the marker itself, None or NaN."""
    if label is None:
        return True
    if isinstance(label, float | np.floating) and np.isnan(label):
        return True
    if isinstance(label, list | tuple | set | frozenset):
        return False
    # True == 1 in Python: a marker of 1 must not swallow the class True, and the other way round.
    return isinstance(label, bool | np.bool_) == isinstance(unlabeled, bool | np.bool_) and bool(label == unlabeled)


def encode_labels(
    labels: Iterable[Any], *, classes: Sequence[Hashable] | None = None, unlabeled: Hashable = UNLABELED
) -> Evidence:
    """Read labels as people write them.

    Parameters
    ----------
    labels : one entry per sample
        A class; `unlabeled`, None or NaN for "not seen"; a list, tuple or set of classes for "one of these".
    classes : sequence, optional
        All classes in order. Found in the labels and sorted when absent.
    unlabeled : hashable
        The marker for "not seen", ``-1`` unless named otherwise.

    Raises
    ------
    InvalidInputError
        If a label is outside `classes`, the marker is a class, or a candidate set is empty.

    Examples
    --------
    >>> evidence = encode_labels(["ham", -1, "spam", ["ham", "spam"]])
    >>> evidence.classes, evidence.codes.tolist()
    (('ham', 'spam'), [0, -1, 1, -2])
    """
    entries = [entry.item() if isinstance(entry, np.generic) else entry for entry in labels]
    found: dict[Hashable, None] = {}
    for entry in entries:
        if is_missing(entry, unlabeled):
            continue
        for label in entry if isinstance(entry, list | tuple | set | frozenset) else (entry,):
            found[label] = None
    names = _sorted(found) if classes is None else tuple(classes)
    if classes is not None and any(is_missing(name, unlabeled) for name in names):
        raise InvalidInputError(
            f"{unlabeled!r} is both a class and the marker for an unlabeled sample; name another marker "
            "with unlabeled=."
        )
    code_of = {name: code for code, name in enumerate(names)}
    if len(code_of) != len(names):
        raise InvalidInputError(f"classes must be distinct. Got {list(names)!r}.")
    codes = np.full(len(entries), UNLABELED, dtype=np.int64)
    sets: list[FloatArray] = []
    for row, entry in enumerate(entries):
        if is_missing(entry, unlabeled):
            continue
        if isinstance(entry, list | tuple | set | frozenset):
            weights = np.zeros(len(names))
            for label in entry:
                weights[_code(label, code_of, row)] = 1.0
            if len(entry) == 1:
                codes[row] = int(np.argmax(weights))
            elif len(set(entry)) < len(names):
                codes[row] = _FIRST_AMBIGUOUS - len(sets)
                sets.append(weights)
            # A set of all classes says nothing: it stays unlabeled.
        else:
            codes[row] = _code(entry, code_of, row)
    return Evidence(codes, names, np.array(sets).reshape(len(sets), len(names)))


def _code(label: Hashable, code_of: dict[Hashable, int], row: int) -> int:
    if label not in code_of:
        known = ", ".join(repr(name) for name in list(code_of)[:8])
        raise InvalidInputError(f"Sample {row} has the label {label!r}, which is not one of the classes ({known}).")
    return code_of[label]


def _sorted(found: dict[Hashable, None]) -> tuple[Hashable, ...]:
    try:
        return tuple(sorted(found))  # type: ignore[type-var]
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in found})
        raise InvalidInputError(f"Labels must be of one kind. Got a mix of {', '.join(kinds)}.") from error
