"""Pilots of a given size, drawn from labels that are all known."""

import numpy as np

from labelworth.arrays import BoolArray, require_between
from labelworth.data.evidence import Evidence
from labelworth.errors import InvalidInputError


def draw_labeled(
    evidence: Evidence,
    *,
    rng: np.random.Generator,
    per_class: int | None = None,
    count: int | None = None,
    fraction: float | None = None,
) -> BoolArray:
    """Draw which rows keep their label, as a pilot would be drawn; exactly one of the three sizes is given.

    Parameters
    ----------
    per_class : int
        So many of each class; all of a class that has fewer.
    count : int
        So many of all gold rows, whatever their class.
    fraction : float
        This share of all gold rows, in (0, 1], rounded to a whole number and at least one.

    Returns
    -------
    boolean array of shape (n,)
        True where the label is kept; False for unlabeled and ambiguous rows. ``samples.hide(~kept)`` applies it.
    """
    if sum(size is not None for size in (per_class, count, fraction)) != 1:
        raise InvalidInputError("Give exactly one of per_class=, count= and fraction=.")
    gold = np.flatnonzero(evidence.is_gold)
    if not gold.size:
        raise InvalidInputError("No row has a label, so there is none to draw; label some rows first.")
    kept = np.zeros(evidence.n_samples, dtype=bool)
    if per_class is not None:
        if per_class < 1:
            raise InvalidInputError(f"per_class must be at least 1. Got {per_class} instead.")
        for code in range(evidence.n_classes):
            rows = np.flatnonzero(evidence.codes == code)
            kept[rng.permutation(rows)[:per_class]] = True
        return kept
    if fraction is not None:
        require_between("fraction", fraction, 0.0, 1.0, open_low=True)
        count = max(1, round(fraction * gold.size))
    if count is None or not 1 <= count <= gold.size:
        raise InvalidInputError(f"count must lie in [1, {gold.size}], the number of labels there are. Got {count}.")
    kept[rng.permutation(gold)[:count]] = True
    return kept
