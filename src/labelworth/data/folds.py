"""Splits for trying a model out: rows whose class is not known are trained on and never tested on."""

import warnings
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import BoolArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.errors import InvalidInputError, LabelworthWarning


@dataclass(frozen=True, eq=False)
class Fold:
    train: IntArray  # Rows to fit on, rising: all but the tested ones, unlabeled and ambiguous rows among them.
    test: IntArray  # Rows to test on, rising; the class of each is known.


def labeled_folds(evidence: Evidence, n_folds: int, rng: np.random.Generator) -> list[Fold]:
    """Deal the rows whose class is known into folds, each class evenly.

    Every gold row is tested exactly once, but for a class with a single gold label: without that label
    the class would be unknown to the fit, so it stays in every training fold, and a warning says so. A class
    with fewer labels than folds is tested in as many folds as it has labels.

    Raises
    ------
    InvalidInputError
        If there are fewer rows to test than folds.
    """
    if n_folds < 2:
        raise InvalidInputError(f"There must be at least 2 folds. Got {n_folds} instead.")
    lonely = evidence.label_counts() == 1
    if lonely.any():
        names = ", ".join(repr(evidence.classes[code]) for code in np.flatnonzero(lonely)[:8])
        warnings.warn(
            f"{int(lonely.sum())} class(es) with a single label ({names}) stay in every training fold and are "
            "not tested; label one more example of each.",
            LabelworthWarning,
            stacklevel=2,
        )
    order = _by_class(evidence, ~lonely, rng)
    if order.size < n_folds:
        raise InvalidInputError(
            f"{n_folds} folds need at least {n_folds} labeled rows in classes with two labels or more. "
            f"Got {order.size}; label more examples or ask for fewer folds."
        )
    everything = np.ones(evidence.n_samples, dtype=bool)
    folds = []
    for first in range(n_folds):
        # Dealt like cards, class after class: neither a class nor the fold sizes are ever off by more than one.
        test = np.sort(order[first::n_folds])
        train = everything.copy()
        train[test] = False
        folds.append(Fold(np.flatnonzero(train), test))
    return folds


def _by_class(evidence: Evidence, taken: BoolArray, rng: np.random.Generator) -> IntArray:
    """The gold rows of the taken classes, shuffled within each class, class after class."""
    parts = [rng.permutation(np.flatnonzero(evidence.codes == code)) for code in np.flatnonzero(taken)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
