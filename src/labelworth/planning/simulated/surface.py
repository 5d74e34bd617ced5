"""The forecast over (documents used, labeled fraction): a forecast for two edges, simulated refits between them."""

import numpy as np
from scipy.interpolate import PchipInterpolator

from labelworth.arrays import FloatArray
from labelworth.planning.landscape import Surface, surface_grid
from labelworth.planning.simulated.accuracy import ForecastLine, forecast_sizes
from labelworth.planning.words import apart
from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.forecast import forecast
from labelworth.simulation.learner import Mode
from labelworth.simulation.pool_use import SHARES, PoolUse
from labelworth.simulation.scales import Measure


def simulated_surface(basis: ForecastBasis, use: PoolUse, measure: Measure) -> Surface:
    r"""The error over (n, labeled fraction), by simulation.

    With L labels, n documents used and N in all, at :math:`t = \log(n / L) / \log(N / L)`,

    .. math:: y(L, n) = (1 - u(t))\, y_0(L) + u(t)\, y_1(L)

    where :math:`y_0` and :math:`y_1` are the calibrated forecasts from labels alone and from labels with all other
    documents, and u is how much of what the whole pool does a part of it does in simulated refits: zero and one at
    the edges, where the forecasts are met. None where labels are fewer than in the pilot's smallest part.
    """
    alone, together = (_edge(basis, mode, measure) for mode in ("labels-only", "semi-supervised"))
    part = PchipInterpolator([0.0, *SHARES, 1.0], [0.0, *use.fractions(measure), 1.0])
    sizes, fractions = surface_grid(basis.n_labeled, basis.n_units)
    labels = fractions[:, None] * sizes
    shares = part(_shares(labels, sizes, basis.n_units))
    fewest = float(basis.points["labels-only", measure].sizes[0])
    rows = tuple(
        tuple(
            (1 - float(u)) * alone.at(float(n)) + float(u) * together.at(float(n)) if n >= fewest else None
            for n, u in zip(*row, strict=True)
        )
        for row in zip(labels, shares, strict=True)
    )
    words = _words(use, measure, abs(alone.at(basis.n_labeled) - together.at(basis.n_labeled)))
    return Surface(tuple(sizes.tolist()), tuple(fractions.tolist()), rows, "simulated", words)


def _edge(basis: ForecastBasis, mode: Mode, measure: Measure) -> ForecastLine:
    sizes = forecast_sizes(int(basis.points[mode, measure].sizes[0]), basis.n_units)
    values = forecast(basis, mode, measure, sizes).values
    return ForecastLine(sizes.astype(np.float64), values)


def _shares(labels: FloatArray, sizes: FloatArray, n_units: int) -> FloatArray:
    """t; documents that are all labeled are labels alone, also where they are all there are."""
    way = np.log(n_units / labels)
    shares = np.divide(np.log(sizes / labels), way, out=np.zeros_like(labels), where=way > 1e-9)
    # Rounding may leave an edge by a hair.
    return np.asarray(np.clip(shares, 0.0, 1.0))


def _words(use: PoolUse, measure: Measure, gap: float) -> str:
    errors = use.fraction_errors(measure)
    noise = (
        "" if errors is None else f" (standard error {apart(float(errors.max()) * gap, measure)} at the labels held)"
    )
    return (
        "Along the upper edge it is the forecast from labels alone, along the right edge that from labels with all "
        "other documents. Between the two it goes as far from one to the other as simulated refits to parts of the "
        f"pool do{noise}."
    )
