"""Rows of probabilities, each without its last entry: scores, curvature, smoothed maximizers, distances.

All of it serves class probabilities and word probabilities alike.
"""

import numpy as np

from labelworth.arrays import FloatArray, require_probabilities
from labelworth.errors import InvalidInputError
from labelworth.kernels.rows.long_vectors import squared_root_distance
from labelworth.kernels.rows.tables import smoothed_shares
from labelworth.models.protocol import ParametersT

_SUM_TOLERANCE = 1e-9
EVEN_SHARE = 0.01
SMALLEST_PROBABILITY = 1e-150
"""Curvature divides by the square of a probability, which must not vanish."""


def require_rows(name: str, rows: FloatArray) -> None:
    """Refuse rows that are not probabilities; cheap where they are, since models are built in every EM step."""
    smallest, sums = rows.min(initial=0.0), rows.sum(axis=-1)
    # NaN and infinity fail the second comparison.
    if not (rows.size and smallest >= 0 and (np.abs(sums - 1) <= _SUM_TOLERANCE).all()):
        require_probabilities(name, rows)


def require_interior(name: str, rows: FloatArray) -> None:
    """Refuse zeros, where there is no score and no information, and numbers whose square is zero as a double."""
    if rows.size and rows.min() < SMALLEST_PROBABILITY:
        raise InvalidInputError(
            f"{name} must be at least {SMALLEST_PROBABILITY:g} to have a score and an information. "
            f"Got {rows.min():g} instead; fit with smoothing above 0, 1e-10 or more."
        )


def smoothed_rows(counts: FloatArray, smoothing: float, times: FloatArray | None = None) -> FloatArray:
    r"""Maximize :math:`\sum_w (N_w + \alpha) \log \theta_w` in every row.

    The maximizer is :math:`(N_w + \alpha) / (\sum_v N_v + \alpha V)`. A row without counts and without smoothing is
    maximized by every distribution, so it gets the uniform one. Of a table, `times` says how often :math:`\alpha`
    falls on every column; once when None.
    """
    rows = smoothed_shares(counts, smoothing, times) if counts.ndim == 2 else _short_rows(counts, smoothing)
    if smoothing > 0:
        require_resolved(rows, smoothing)
    return rows


def _short_rows(counts: FloatArray, smoothing: float) -> FloatArray:
    """Rows too short to be worth a kernel, along the last axis of any array."""
    rows = counts + smoothing
    sums = rows.sum(axis=-1, keepdims=True)
    empty = sums[..., 0] <= 0
    if empty.any():
        rows[empty] = 1.0
        sums = rows.sum(axis=-1, keepdims=True)
    rows /= sums
    return np.asarray(rows)


def require_resolved(rows: FloatArray, smoothing: float) -> None:
    """Refuse a smoothing so small that what it keeps above zero was rounded away."""
    if rows.min() <= 0:
        raise InvalidInputError(
            f"smoothing of {smoothing:g} is too small for doubles to keep probabilities above 0 with this much data; "
            "use 0, or 1e-10 and more."
        )


def row_scores(counts: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Gradient of sum_w counts_w log p_w without the last entry, for every row of `counts` (n, V): (n, V - 1)."""
    ratios = counts / probabilities
    return np.asarray(ratios[..., :-1] - ratios[..., -1:])


def row_curvature(counts: FloatArray, probabilities: FloatArray) -> FloatArray:
    r"""Minus the Hessian of :math:`\sum_w N_w \log \theta_w` without the last entry, (V - 1, V - 1).

    .. math:: \operatorname{diag}(N_w / \theta_w^2) + N_V / \theta_V^2

    With the expected counts, :math:`N_w = m \theta_w`, it is the information of m draws.
    """
    weights = counts / np.square(probabilities)
    return np.asarray(np.diag(weights[:-1]) + weights[-1])


def squared_distance(first: FloatArray, second: FloatArray) -> FloatArray:
    """Squared distance of the square roots of every row; twice this is the relative entropy of close rows."""
    if first.ndim == 2:
        return np.array([squared_root_distance(*rows) for rows in zip(first, second, strict=True)])
    difference = np.sqrt(first) - np.sqrt(second)
    return np.asarray(np.einsum("...w,...w->...", difference, difference))


def spread_evenly(model: ParametersT) -> ParametersT:
    """The nearby model with a hundredth of each row of probabilities spread evenly.

    Where probabilities are zero the theory does not hold, and near that edge the rarest of events would decide.
    """
    return model.with_tables(
        {name: (1 - EVEN_SHARE) * table + EVEN_SHARE / table.shape[1] for name, table in model.tables.items()}
    )
