"""Rows with one label each: features of any form, and what is known of each row's class."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from labelworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class Rows:
    """What was observed, as `labelworth.data.protocol.Data` asks for it."""

    features: Any  # Texts, a data frame, a sparse or a dense matrix: whatever a learner takes, a row per sample.
    evidence: Evidence  # What is known of each row's class.
    # What annotators said of the rows, beside what is known of them.
    answers: Answers | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.n_samples != self.evidence.n_samples:
            raise InvalidInputError(
                f"There must be one label entry per sample. Got {self.n_samples} samples "
                f"and {self.evidence.n_samples} label entries."
            )
        if self.answers is not None:
            self.answers.require_about("row", self.n_samples, self.evidence.classes)

    @property
    def n_samples(self) -> int:
        return n_rows(self.features)

    @property
    def lengths(self) -> IntArray:
        """A row is a sequence of length one, as far as labels go."""
        return np.ones(self.n_samples, dtype=np.int64)

    @property
    def is_labeled(self) -> BoolArray:
        """Of which rows something is known, from a label or an answer."""
        labeled = ~self.evidence.is_unlabeled
        return labeled if self.answers is None else labeled | self.answers.told(self.n_samples)

    @property
    def sample_weights(self) -> FloatArray:
        """How much each sample counts: one."""
        return np.ones(self.n_samples)

    def positions_of(self, samples: AnyArray) -> IntArray:
        """Where the labels of these samples stand: the rows themselves."""
        return np.arange(self.n_samples)[samples]

    def take(self, rows: AnyArray) -> Self:
        """Keep `rows` (indices or a mask), in that order."""
        from sklearn.utils import _safe_indexing

        kept = self.positions_of(rows)
        features = _safe_indexing(self.features, kept)
        return replace(self, features=features, evidence=self.evidence.take(kept), answers=self.answers_at(kept))

    def answers_at(self, rows: IntArray) -> Answers | None:
        """The answers about these rows, counted anew from 0."""
        return None if self.answers is None else self.answers.at(rows)

    def hide(self, rows: AnyArray | None = None) -> Self:
        """Forget the labels of `rows`; of everything when None."""
        return replace(self, evidence=self.evidence.hidden(rows))

    def with_evidence(self, evidence: Evidence) -> Self:
        """The same rows, of whose classes something else is known."""
        return replace(self, evidence=evidence)


def n_rows(features: Any) -> int:
    """Of texts, frames and matrices.

    Raises
    ------
    InvalidInputError
        If there are none.
    """
    shape = getattr(features, "shape", None)
    if shape:
        return int(shape[0])
    if shape is None and hasattr(features, "__len__") and not isinstance(features, str | bytes):
        return len(features)
    raise InvalidInputError(
        "X must be a list of texts, a data frame, or a sparse or dense matrix, a row per sample. "
        f"Got {type(features).__name__}."
    )
