"""Rows of any form in numbers: what simulations and checks look at where a learner keeps its features to itself."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray
from labelworth.data.rows import Rows
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.wording import count

_FEWEST_TEXTS = 2
"""Words in fewer texts than this are left out: they tell no two rows apart or together."""


def are_counts(features: Any) -> bool:
    """Whether a sparse matrix holds counts, as of words: whole numbers that are not negative."""
    values = features.tocsr().data
    return bool((values >= 0).all() and (values == np.rint(values)).all())


def are_documents(features: Any) -> bool:
    """Whether rows are texts or counts of words; else they are rows of numbers, or of a table."""
    if hasattr(features, "tocsr"):
        return are_counts(features)
    return not hasattr(features, "columns") and np.ndim(features) == 1


def text_columns(features: Any) -> list[str]:
    """Names of the columns of a table that are not numbers; none of what is no table."""
    if not hasattr(features, "select_dtypes"):
        return []
    return [str(name) for name in features.select_dtypes(exclude=["number", "bool"]).columns]


def without_table(features: Any) -> Any:
    """The texts of a table whose only column is texts; anything else as it is."""
    names = text_columns(features)
    return features.iloc[:, 0] if names and len(features.columns) == 1 else features


def about_text_columns(features: Any) -> str:
    """What to do about them, where a model wants numbers; empty: there are none."""
    names = text_columns(features)
    if not names:
        return ""
    which = ", ".join(map(repr, names))
    are = f"The column {which} is" if len(names) == 1 else f"The columns {which} are"
    return f" {are} not numbers: leave out what tells nothing, and encode the rest, as with pandas.get_dummies."


def about_texts(features: Any) -> str:
    """What to do about texts where a model wants counts or vectors of them; empty: they are none."""
    is_listed = len(getattr(features, "shape", (0,))) == 1 and hasattr(features, "__len__")
    if not is_listed or not len(features) or not isinstance(next(iter(features)), str):
        return ""
    return (
        " These are texts: count their words first, as with sklearn.feature_extraction.text.CountVectorizer, or take "
        "a model that does (auto, logistic, linear-svm)."
    )


def require_all_numbers(features: Any) -> None:
    """Refuse a table or matrix with cells that are no finite numbers, or some columns of texts beside numbers.

    What stands for a missing number is for whoever knows why it is missing. Texts beside numbers are neither words
    nor numbers to a model that is not told.

    Raises
    ------
    InvalidInputError
    """
    texts = text_columns(features)
    if texts and len(texts) < len(features.columns):
        raise InvalidInputError(
            f"The table holds numbers and texts.{about_text_columns(features)} Or give a pipeline as model= that "
            "takes every column as it should be taken (sklearn.compose.ColumnTransformer)."
        )
    if texts:
        return
    values = features.tocsr().data if hasattr(features, "tocsr") else np.asarray(features)
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    n_gaps = int((~np.isfinite(values)).sum())
    where = ""
    if values.ndim == 2:
        row, column = np.argwhere(~np.isfinite(values))[0].tolist()
        where = f", the first in row {row:,}, column {column:,} (counted from 0)"
    raise InvalidInputError(
        f"{count(n_gaps, 'cell holds', 'cells hold')} no finite number{where}. Fill them in (as with "
        "sklearn.impute.SimpleImputer), leave those rows or columns out, or give a classifier as model= that takes "
        "missing values."
    )


def in_numbers(rows: Rows) -> Samples | None:
    """Counts of texts and of sparse matrices, vectors of dense ones and of tables; None where nothing fits.

    Texts are counted word by word. Columns of a table that are not numbers are words too: then all of its cells are,
    joined to one text per row.
    """
    if isinstance(rows, Samples):
        return rows
    try:
        # Where features were made of counts or texts, those are looked at.
        given = getattr(rows, "given", None)
        numbers = _numbers(rows.features if given is None else given)
        return None if numbers is None else Samples(numbers, rows.evidence)
    except (InvalidInputError, ValueError, TypeError):
        return None


def _numbers(features: Any) -> "sp.csr_array | FloatArray | None":
    if hasattr(features, "tocsr"):
        counts: Any = sp.csr_array(features.tocsr()).astype(np.float64)
        return counts if not counts.data.size or counts.data.min() >= 0 else None
    if hasattr(features, "select_dtypes"):
        return _of_table(features)
    values = np.asarray(features)
    if values.ndim == 2 and values.dtype.kind in "fiub":
        return _without_gaps(values.astype(np.float64))
    is_text = values.ndim == 1 and all(isinstance(text, str) for text in values)
    return _words(values.tolist()) if is_text else None


def _of_table(table: Any) -> "sp.csr_array | FloatArray":
    numeric = table.select_dtypes(include=["number", "bool"])
    if numeric.shape[1] == table.shape[1]:
        return _without_gaps(numeric.to_numpy(dtype=np.float64))
    rows = zip(*(table[name].astype(str).tolist() for name in table.columns), strict=True)
    return _words([" ".join(row) for row in rows])


def _words(texts: list[str]) -> sp.csr_array:
    from labelworth.data.text import count_words

    return count_words(texts, min_df=min(_FEWEST_TEXTS, len(texts)))[1]


def _without_gaps(values: FloatArray) -> FloatArray:
    """Cells that are missing become the mean of their column."""
    gaps = ~np.isfinite(values)
    if not gaps.any():
        return values
    known = np.where(gaps, 0.0, values)
    means = known.sum(axis=0) / np.maximum((~gaps).sum(axis=0), 1)
    return np.where(gaps, means, values)
