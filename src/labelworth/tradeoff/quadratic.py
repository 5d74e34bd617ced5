"""Quadratic functions over polytopes of few arms: the step that Newton's method and the bundle method take."""

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray

_RIDGE = 1e-10
_NO_PULL = 1e-13
"""A multiplier that pulls inward by less than this share of the slope is none."""

_LEAST_ROOM = 1e-14


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
    The primal active set method: from the start, which fits, go to the minimum on the limits that hold, stop at the
    first further limit on the way, and let go of a limit that pulls the wrong way. Every step on the way fits and is
    no worse than the one before, also where the curvature is singular: arms of equal, of proportional or of no
    information.
    """
    scales = np.sqrt(np.abs(np.diag(curvature)))
    largest = float(scales.max(initial=0.0))
    scales = np.where(scales > 1e-8 * largest, scales, largest if largest > 0 else 1.0)
    metric = curvature / scales / scales[:, None]
    values, vectors = np.linalg.eigh((metric + metric.T) / 2)
    # Where noise bent a curve the other way, its size is still the right scale of a step.
    sizes = np.abs(values)
    metric = (vectors * np.maximum(sizes, _RIDGE * max(float(sizes.max()), 1.0))) @ vectors.T
    slopes = rows / scales
    norms = np.linalg.norm(slopes, axis=1)
    room = np.maximum(limits - rows @ start, 0.0) / norms
    return _walked(metric, gradient / scales, slopes / norms[:, None], room) / scales


def _walked(metric: FloatArray, slope: FloatArray, rows: FloatArray, room: FloatArray) -> FloatArray:
    step, working = np.zeros(len(slope)), np.zeros(len(rows), dtype=bool)
    tolerance = _NO_PULL * float(np.abs(slope).max(initial=0.0))
    for _ in range(10 * (len(slope) + 10)):
        found = _on_limits(metric, slope, rows[working], room[working])
        if found is None:
            break
        goal, multipliers = found
        move = goal - step
        rates = rows @ move
        closing = ~working & (rates > _LEAST_ROOM * float(np.abs(move).max(initial=0.0)))
        shares = np.full(len(rows), np.inf)
        shares[closing] = np.maximum(room - rows @ step, 0.0)[closing] / rates[closing]
        first = int(np.argmin(shares))
        if shares[first] < 1:
            step = step + shares[first] * move
            working[first] = True
            continue
        step = goal
        if not (multipliers < -tolerance).any():
            break
        working[np.flatnonzero(working)[int(np.argmin(multipliers))]] = False
    return step


def _on_limits(
    metric: FloatArray, slope: FloatArray, rows: FloatArray, room: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """The minimum where all these limits hold with equality, and their multipliers; None if they contradict."""
    step, is_free = np.zeros(len(slope)), np.ones(len(slope), dtype=bool)
    # A limit of one arm alone fixes that arm; as an equation among others it would spoil their condition.
    is_single = np.count_nonzero(rows, axis=1) == 1
    arms = np.argmax(np.abs(rows[is_single]), axis=1)
    signs = rows[is_single, arms]
    step[arms], is_free[arms] = room[is_single] / signs, False
    equations = rows[~is_single]
    n, k = int(is_free.sum()), len(equations)
    multipliers = np.zeros(len(rows))
    if n + k > 0:
        free = equations[:, is_free]
        system = np.zeros((n + k, n + k))
        system[:n, :n], system[:n, n:], system[n:, :n] = metric[np.ix_(is_free, is_free)], free.T, free
        right = np.concatenate([-(slope + metric @ step)[is_free], room[~is_single] - equations @ step])
        # The expert driver tells how singular the system is; the plain solver would warn of it.
        solved = scipy.linalg.lapack.dsysvx(system, right[:, None])
        if solved[-1] != 0:
            return None
        step[is_free], multipliers[~is_single] = solved[4][:n, 0], solved[4][n:, 0]
    pulls = -(slope + metric @ step + multipliers[~is_single] @ equations)
    multipliers[is_single] = pulls[arms] / signs
    return step, multipliers
