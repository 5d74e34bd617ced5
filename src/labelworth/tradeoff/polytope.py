"""The designs that fit: counts that are not negative, within the money and within the pool."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.optimize

from labelworth.arrays import BoolArray, FloatArray

_RIDGE = 1e-10
_SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Polytope:
    """All w >= 0 with prices . w <= money and sum w <= samples; at least one of the limits bounds every arm.

    Attributes
    ----------
    prices : array of shape (n_arms,)
    money, samples : float
    """

    prices: FloatArray
    money: float
    samples: float

    @cached_property
    def most(self) -> FloatArray:
        """How many samples of each arm fit if nothing else is used, (n_arms,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            bought = np.where(self.prices > 0, self.money / self.prices, np.inf)
        return np.minimum(bought, self.samples)

    @cached_property
    def rows(self) -> tuple[FloatArray, FloatArray]:
        """The polytope as A u <= b, in units of `most`: first -u <= 0, then what is limited."""
        rows, limits = [-np.eye(len(self.prices))], [np.zeros(len(self.prices))]
        if np.isfinite(self.money) and self.money > 0:
            rows.append((self.prices * self.most / self.money)[None])
            limits.append(np.ones(1))
        if np.isfinite(self.samples) and self.samples > 0:
            rows.append((self.most / self.samples)[None])
            limits.append(np.ones(1))
        return np.concatenate(rows), np.concatenate(limits)

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """The counts, scaled down until they fit: rounding must not spend money that is not there."""
        positive = np.maximum(counts, 0.0)
        spent, used = float(self.prices @ positive), float(positive.sum())
        factor = min(1.0, self.money / spent if spent > 0 else 1.0, self.samples / used if used > 0 else 1.0)
        return positive * factor


def closest_point(
    rows: FloatArray, limits: FloatArray, start: FloatArray, gradient: FloatArray, curvature: FloatArray
) -> FloatArray:
    r"""The minimum of :math:`g's + s'Hs/2` over steps s with A (start + s) <= b; returns the step.

    Parameters
    ----------
    rows, limits : arrays of shape (m, k) and (m,)
        A and b; `start` must fit.
    start, gradient : array of shape (k,)
    curvature : array of shape (k, k)
        H; directions without curvature get a little.

    Notes
    -----
    Lawson and Hanson's least distance problem, by non-negative least squares: exact in finitely many steps, for few
    arms and any number of limits. The limits found active are then solved as equations, to working precision.
    """
    scales = np.sqrt(np.abs(np.diag(curvature)))
    scales = np.where(scales > 1e-8 * scales.max(initial=0.0), scales, max(1e-8 * scales.max(initial=0.0), 1e-300))
    metric = curvature / scales / scales[:, None]
    values, vectors = np.linalg.eigh((metric + metric.T) / 2)
    # Where noise bent a curve the other way, its size is still the right scale of a step.
    sizes = np.abs(values)
    metric = (vectors * np.maximum(sizes, _RIDGE * max(float(sizes.max()), 1.0))) @ vectors.T
    lower = scipy.linalg.cholesky(metric, lower=True)
    slope, slopes = gradient / scales, rows / scales
    free = _solved(lower, slope)
    size = float(np.linalg.norm(free))
    if size == 0:
        return np.zeros(len(start))
    slack = np.maximum(limits - rows @ start, 0.0)
    # With z = (L' s + L^-1 g) / size: the shortest z that fits; s = 0 fits, so z is no longer than one.
    directions = -_solved(lower, slopes.T).T
    needed = -slack / size - (-directions @ free) / size
    norms = np.linalg.norm(directions, axis=1)
    directions, needed = directions / norms[:, None], needed / norms
    multipliers = _least_distance(directions, needed)
    polished = _on_active(metric, slope, slopes, slack, multipliers > 0)
    step = polished if polished is not None else _step(lower, free, size, directions, multipliers)
    return step / scales


def _least_distance(directions: FloatArray, needed: FloatArray) -> FloatArray:
    """Multipliers of: the shortest z with directions . z >= needed."""
    if (needed <= 0).all():
        return np.zeros(len(needed))
    system = np.vstack([directions.T, needed])
    goal = np.zeros(len(system))
    goal[-1] = 1.0
    solution, _ = scipy.optimize.nnls(system, goal, maxiter=50 * system.shape[1])
    left = 1 - float(needed @ solution)
    # Nothing left: to rounding only the point itself fits, and every limit holds it.
    return np.asarray(solution / left) if left > 0 else np.ones(len(needed))


def _solved(lower: FloatArray, right: FloatArray, *, transposed: bool = False) -> FloatArray:
    """A triangular system by the BLAS: LAPACK's solver wakes threads even for a handful of equations."""
    block = scipy.linalg.blas.dtrsm(1.0, lower, right.reshape(len(lower), -1), lower=1, trans_a=int(transposed))
    return np.asarray(block).reshape(right.shape)


def _step(
    lower: FloatArray, free: FloatArray, size: float, directions: FloatArray, multipliers: FloatArray
) -> FloatArray:
    shortest = directions.T @ multipliers
    return _solved(lower, size * shortest - free, transposed=True)


def _on_active(
    metric: FloatArray, slope: FloatArray, slopes: FloatArray, slack: FloatArray, active: BoolArray
) -> FloatArray | None:
    """The step on the active limits as equations; None if it leaves the polytope."""
    chosen = slopes[active]
    n, k = len(slope), len(chosen)
    system = np.zeros((n + k, n + k))
    system[:n, :n], system[:n, n:], system[n:, :n] = metric, chosen.T, chosen
    try:
        step = scipy.linalg.solve(system, np.concatenate([-slope, slack[active]]), assume_a="sym")[:n]
    except (np.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
        return None
    return step if (slopes @ step <= slack + _SLACK).all() else None
