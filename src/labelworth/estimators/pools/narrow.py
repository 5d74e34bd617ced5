"""Sparse rows in fewer columns, for classifiers to which that makes no difference but time.

A penalized linear classifier sees a row only through its inner products with the rows it was fitted to. So columns
that none of those has can be left out, and where rows are few, all columns can be turned into as many as there are
rows: rotations change neither the penalty nor what is predicted. What was fitted is turned back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from labelworth.arrays import FloatArray, IntArray

_FEW_ROWS = 4000
"""Up to so many rows they are rotated: that takes the cube of their number, and its square of memory."""
_NONE = 1e-12
"""Rows of which less than this share of the longest lies outside the span of others add no axis: rounding."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Only the columns that rows have."""

    rows: sp.csr_array  # In those columns.
    kept: IntArray
    n_columns: int

    @classmethod
    def of(cls, rows: sp.csr_array) -> "Columns":
        kept = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]))
        return cls(sp.csr_array(rows[:, kept]), kept, rows.shape[1])

    def spread(self, coefficients: FloatArray) -> FloatArray:
        """Coefficients of all columns, (n_outputs, n_columns), from those of the ones that are left."""
        spread = np.zeros((len(coefficients), self.n_columns))
        spread[:, self.kept] = coefficients
        return spread


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Coordinates along orthogonal axes of the span of rows X: with X X' = L L' they are L.

    Rows are taken in the order in which they lead furthest away from those before; whoever adds nothing has no axis.
    """

    rows: FloatArray  # (n_rows, n_axes): L.
    basis: sp.csr_array  # (n_axes, n_columns): The rows that have an axis each, B.
    triangle: FloatArray  # (n_axes, n_axes): Their coordinates, C; axes are C^(-1) B.

    @classmethod
    def of(cls, rows: sp.csr_array) -> "RowSpace":
        products = np.asfortranarray((rows @ rows.T).toarray())
        least = _NONE * max(float(products.diagonal().max()), np.finfo(np.float64).tiny)
        factor, order, n_axes, _ = dpstrf(products, tol=least, lower=1, overwrite_a=1)
        for axis in range(1, n_axes):
            factor[:axis, axis] = 0.0
        turned = np.empty((len(factor), n_axes))
        turned[order - 1] = factor[:, :n_axes]
        return cls(turned, rows[order[:n_axes] - 1], factor[:n_axes, :n_axes])

    def spread(self, coefficients: FloatArray) -> FloatArray:
        """Coefficients of all columns, (n_outputs, n_columns), from those of the axes."""
        of_basis = solve_triangular(self.triangle, coefficients.T, lower=True, trans="T")
        return np.ascontiguousarray((self.basis.T @ of_basis).T)


def narrowed(estimator: Any, features: Any) -> Columns | RowSpace | None:
    """The rows that an estimator is fitted to in fewer columns; None: it looks at all of them."""
    if type(estimator).__name__ != "LogisticRegression" or not hasattr(features, "tocsr"):
        return None
    settings = estimator.get_params()
    # Other solvers draw, or look at columns one by one; other penalties do too.
    is_plain = settings.get("solver") == "lbfgs" and settings.get("penalty") in ("l2", "deprecated")
    if not is_plain or settings.get("l1_ratio") or settings.get("warm_start"):
        return None
    rows = sp.csr_array(features.tocsr()).astype(np.float64)
    columns = Columns.of(rows)
    return RowSpace.of(rows) if rows.shape[0] < min(len(columns.kept), _FEW_ROWS) else columns


def fitted_narrowly(estimator: Any, features: Any, fit: Callable[[Any], Any]) -> Any:
    """What `fit` makes of an estimator and its rows, given in fewer columns where it does not mind; it knows all."""
    narrow = narrowed(estimator, features)
    if narrow is None:
        return fit(features)
    fitted = fit(narrow.rows)
    fitted.coef_, fitted.n_features_in_ = narrow.spread(fitted.coef_), features.shape[1]
    return fitted
