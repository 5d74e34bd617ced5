"""Sparse rows in fewer columns, for classifiers to which that makes no difference but time.

A penalized linear classifier sees a row only through its inner products with the rows it was fitted to. So columns
that none of those has can be left out, and where rows are few, all columns can be turned into as many as there are
rows: rotations change neither the penalty nor what is predicted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, IntArray

_FEW_ROWS = 1500
"""Up to so many rows they are rotated: finding the axes takes the cube of that."""
_NONE = 1e-10
"""Axes along which rows vary less than this share of the most are left out: rounding."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Only some columns."""

    kept: IntArray

    def __call__(self, features: Any) -> Any:
        return features[:, self.kept]


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Coordinates along orthogonal axes of the span of some rows X: with X X' = U S U', those are X' U S^(-1/2)."""

    rows: sp.csr_array
    axes: FloatArray  # U S^(-1/2), (n_rows, n_axes)

    @classmethod
    def of(cls, rows: sp.csr_array) -> "RowSpace":
        values, vectors = np.linalg.eigh((rows @ rows.T).toarray())
        is_axis = values > _NONE * max(values[-1], np.finfo(np.float64).tiny)
        return cls(rows, vectors[:, is_axis] / np.sqrt(values[is_axis]))

    def __call__(self, features: Any) -> FloatArray:
        return np.asarray((sp.csr_array(features) @ self.rows.T) @ self.axes)


def narrowed(estimator: Any, features: Any) -> "Columns | RowSpace | None":
    """How an estimator may be given fewer columns than the rows it is fitted to have; None: it may not."""
    if type(estimator).__name__ != "LogisticRegression" or not hasattr(features, "tocsr"):
        return None
    settings = estimator.get_params()
    # Other solvers draw, or look at columns one by one; other penalties do too.
    is_plain = settings.get("solver") == "lbfgs" and settings.get("penalty") in ("l2", "deprecated")
    if not is_plain or settings.get("l1_ratio") or settings.get("warm_start"):
        return None
    rows = sp.csr_array(features.tocsr()).astype(np.float64)
    kept = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]))
    return RowSpace.of(rows) if rows.shape[0] < min(len(kept), _FEW_ROWS) else Columns(kept)
