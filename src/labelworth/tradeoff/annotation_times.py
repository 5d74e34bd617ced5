"""Prices from how long annotators took."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray, as_floats, require_shape
from labelworth.errors import InvalidInputError
from labelworth.tradeoff.costs import Prices
from labelworth.wording import with_unit

_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class TimedPrices:
    """Prices with their standard errors."""

    prices: Prices
    # By the name of the price; None where the times said less than zero, so that zero was taken.
    standard_errors: Mapping[str, float | None]
    n_items: int  # How many annotated items there were.

    def words(self, currency: str = "") -> str:
        """The prices in a sentence."""
        shown = []
        for name, error in self.standard_errors.items():
            price = with_unit(f"{getattr(self.prices, name):.4g}", currency)
            known = "" if error is None else f" (standard error {error:.2g})"
            shown.append(f"{price}{known} {name.replace('_', ' ')}")
        return f"Prices from {self.n_items:,} timed samples: {', '.join(shown)}."


def prices_from_times(
    seconds: ArrayLike, labels: ArrayLike, tokens: ArrayLike | None = None, *, per_hour: float = _SECONDS_PER_HOUR
) -> TimedPrices:
    r"""Fit seconds = per_sequence + per_label x labels + per_token x tokens by non-negative least squares.

    Where every item got one label, as documents do, opening it and labeling it are one price, `per_label`.

    Parameters
    ----------
    seconds, labels : array of shape (n_items,)
        How long every annotated sequence or document took, and how many labels it got.
    tokens : array of shape (n_items,), optional
        Its length.
    per_hour : float
        What an hour of annotation costs; the default counts money in seconds.

    Returns
    -------
    TimedPrices
        Standard errors are the sandwich's, for longer items vary more, among the prices that came out positive.

    Raises
    ------
    InvalidInputError
        If there are too few items, or they cannot tell the prices apart (all with the same number of labels).
    """
    times = as_floats("seconds", seconds, ndim=1)
    columns = {"per_label": _counted("labels", labels, times)}
    if (columns["per_label"] != 1).any():
        columns = {"per_sequence": np.ones(len(times)), **columns}
    if tokens is not None:
        columns["per_token"] = _counted("tokens", tokens, times)
    if times.size and float(times.min()) < 0:
        raise InvalidInputError(f"seconds must be non-negative. Got {times.min():g}.")
    if not (np.isfinite(per_hour) and per_hour > 0):
        raise InvalidInputError(f"per_hour must be a positive number. Got {per_hour!r} instead.")
    table = np.stack(list(columns.values()), axis=1)
    if len(times) <= table.shape[1]:
        raise InvalidInputError(f"{table.shape[1]} prices need more than {table.shape[1]} items. Got {len(times)}.")
    scales = np.linalg.norm(table, axis=0)
    if not scales.all() or np.linalg.matrix_rank(table / scales) < table.shape[1]:
        raise InvalidInputError(
            f"The items cannot tell the prices of {', '.join(columns)} apart: they need different numbers of labels "
            "and tokens. Leave tokens out, or time more items."
        )
    rates = scipy.optimize.nnls(table / scales, times)[0] / scales
    residuals = times - table @ rates
    errors = _sandwich(table, residuals, rates > 0)
    rate = per_hour / _SECONDS_PER_HOUR
    return TimedPrices(
        Prices(**{"per_label": 0.0, **dict(zip(columns, (rate * rates).tolist(), strict=True))}),
        {name: None if error is None else rate * error for name, error in zip(columns, errors, strict=True)},
        len(times),
    )


def _counted(name: str, values: ArrayLike, times: FloatArray) -> FloatArray:
    counts = as_floats(name, values, ndim=1)
    require_shape(name, counts, times.shape)
    if counts.size and float(counts.min()) < 0:
        raise InvalidInputError(f"{name} must be non-negative. Got {counts.min():g}.")
    return counts


def _sandwich(table: FloatArray, residuals: FloatArray, used: FloatArray) -> list[float | None]:
    """Standard errors by White's formula with the correction n / (n - k), of the used columns."""
    chosen = table[:, used]
    n, k = chosen.shape
    bread = np.linalg.pinv(chosen.T @ chosen)
    meat = (chosen * residuals[:, None] ** 2).T @ chosen
    deviations = iter(np.sqrt(np.diag(bread @ meat @ bread) * n / (n - k)).tolist())
    return [next(deviations) if is_used else None for is_used in used]
