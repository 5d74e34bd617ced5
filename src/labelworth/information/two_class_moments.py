r"""Moments of :math:`p(1-p)` for documents of two classes, exactly: one contour integral each.

Words are independent given the class, so with :math:`l_w = \log\theta_{1w}/\theta_{2w}` a document's log-odds are
a sum, and the mean of anything times :math:`p(1-p)` is an integral of powers of
:math:`\varphi(t) = \sum_w \sqrt{\theta_{1w}\theta_{2w}}\, e^{i t l_w}`. The path of integration and the step are chosen
so that rounding and aliasing stay at the last digits of the *result*, however small it is;
docs/derivations/two_class_formula.md derives both.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from labelworth.arrays import FloatArray
from labelworth.linalg.low_rank import compress

_STEEPEST_TILT = 0.45  # the poles of 1/cosh(pi t) stand at 1/2; nodes grow like 1 / (1/2 - tilt)
_WORTHWHILE = np.log(30.0)  # a word leaves the common path when another one loses this many times less
_DIGITS = 38.0  # exp(-38) = 3e-17
_LAPLACE = 6.0  # an integral may be this factor, in logs, smaller than its integrand at the center
_CHUNK = 4_000_000  # complex numbers held at once
_COLUMNS = 192  # low-rank columns gathered before they are compressed
_UNDERFLOW = -650.0  # in logs: results below are zero to a double


@dataclass(frozen=True)
class TwoClasses:
    """Two classes of documents whose words are independent given the class, and the lengths of the documents."""

    class_probabilities: FloatArray  # (2,)
    word_probabilities: FloatArray  # (2, V)
    lengths: FloatArray  # (n_lengths,)
    length_probabilities: FloatArray  # (n_lengths,)

    @property
    def mean_length(self) -> float:
        """The mean number of words, E[m]."""
        return float(self.lengths @ self.length_probabilities)

    @property
    def log_ratios(self) -> FloatArray:
        """How much each word speaks for the first class, l_w."""
        return np.log(self.word_probabilities[0]) - np.log(self.word_probabilities[1])

    @property
    def pooled(self) -> FloatArray:
        """The probability of each word whatever the class."""
        return self.class_probabilities @ self.word_probabilities

    @property
    def whitening(self) -> FloatArray:
        r"""What a count of word w weighs in whitened coordinates, times :math:`\sqrt{\theta_{1w}\theta_{2w}}`."""
        return np.sqrt(self.pooled / (self.mean_length * self.class_probabilities.prod()))

    def log_tilted(self, tilt: float) -> FloatArray:
        r"""The words' logarithms of :math:`\theta_1^{1/2+s}\theta_2^{1/2-s}`."""
        logs = np.log(self.word_probabilities)
        tilted: FloatArray = (0.5 + tilt) * logs[0] + (0.5 - tilt) * logs[1]
        return tilted

    def falling(self, order: int) -> FloatArray:
        """The falling factorial m (m-1) .. of the lengths."""
        product = np.ones_like(self.lengths)
        for step in range(order):
            product = product * (self.lengths - step)
        return product

    def log_center(self, tilt: float, order: int) -> float:
        r"""The logarithm of the integrand where the path crosses the imaginary axis.

        :math:`\pi_1^{1/2+s}\pi_2^{1/2-s} \sum_m q(m)\, m^{(r)} \varphi(-is)^{m-r} / (2\cos\pi s)`, r the order.
        """
        weights = self.length_probabilities * self.falling(order)
        used = weights > 0
        if not used.any():
            return -np.inf
        powers = (self.lengths[used] - order) * logsumexp(self.log_tilted(tilt))
        logs = np.log(self.class_probabilities)
        prior = (0.5 + tilt) * logs[0] + (0.5 - tilt) * logs[1]
        return float(prior + logsumexp(powers, b=weights[used]) - np.log(2 * np.cos(np.pi * tilt)))


@dataclass(frozen=True)
class Path:
    """Where an integral is taken: t = node - i tilt, with an even step."""

    tilt: float
    step: float
    n_nodes: int


@dataclass(frozen=True)
class MissingMoments:
    r"""What the missing information is made of; c are a document's word counts, p its posterior.

    Attributes
    ----------
    zeroth : float
        :math:`E[p(1-p)]`.
    first : array of shape (V,)
        :math:`E[p(1-p)\,c_w]`.
    pair_factor, pair_core : arrays of shape (V, r) and (r, r)
        Their product is :math:`h_w h_v E[p(1-p)(c_w c_v - [w=v]\,c_w)]`, h the whitening divided by
        :math:`\sqrt{\theta_{1w}\theta_{2w}}`.
    """

    zeroth: float
    first: FloatArray
    pair_factor: FloatArray
    pair_core: FloatArray


def missing_moments(classes: TwoClasses, *, refinement: int = 1) -> MissingMoments:
    """Integrate all moments; `refinement` divides the step, to see that nothing changes."""
    pair_factor, pair_core = _pair_moments(classes, refinement)
    return MissingMoments(
        _zeroth_moment(classes, refinement), _first_moments(classes, refinement), pair_factor, pair_core
    )


def _zeroth_moment(classes: TwoClasses, refinement: int) -> float:
    tilt = _least(lambda tilt: classes.log_center(tilt, 0))
    path = _path(tilt, classes.log_center(tilt, 0), np.log(classes.class_probabilities), refinement)
    return float(sum(weights.real.sum() for _, weights in _integrand(classes, path, 0)))


def _first_moments(classes: TwoClasses, refinement: int) -> FloatArray:
    first = np.zeros(classes.word_probabilities.shape[1])
    # What rounding does to entry w on the diagonal of the whitened matrix, but for the common factor.
    log_scale = 2 * np.log(classes.whitening) - classes.log_tilted(0.0)

    def magnitude(tilt: float) -> FloatArray:
        return log_scale + tilt * classes.log_ratios + classes.log_center(tilt, 1)

    common = _least(lambda tilt: float(logsumexp(magnitude(tilt))))
    tilts = np.array([common, *np.linspace(-_STEEPEST_TILT, _STEEPEST_TILT, 7)])
    magnitudes = np.array([magnitude(tilt) for tilt in tilts])
    magnitudes[0] -= _WORTHWHILE
    chosen = np.argmin(magnitudes, axis=0)
    bounds = np.log(classes.mean_length * classes.word_probabilities * classes.class_probabilities[:, None])
    for index in np.unique(chosen):
        words, tilt = np.flatnonzero(chosen == index), float(tilts[index])
        size = classes.log_center(tilt, 1) + classes.log_tilted(tilt)[words]
        path = _path(tilt, 0.0, (bounds[:, words] - size).max(axis=1), refinement, log_size=float(size.max()))
        for nodes, weights in _integrand(classes, path, 1):
            waves = np.exp(1j * np.outer(classes.log_ratios[words], nodes))
            first[words] += np.exp(classes.log_tilted(tilt)[words]) * (waves @ weights).real
    return first


def _pair_moments(classes: TwoClasses, refinement: int) -> tuple[FloatArray, FloatArray]:
    n_words = classes.word_probabilities.shape[1]
    factor, core = np.empty((n_words, 0)), np.empty((0, 0))
    if not np.any(classes.length_probabilities * classes.falling(2) > 0):
        return factor, core

    def log_square(tilt: float) -> float:
        return float(logsumexp(2 * tilt * classes.log_ratios + 2 * np.log(classes.whitening)))

    tilt = _least(lambda tilt: classes.log_center(tilt, 2) + log_square(tilt))
    size = classes.log_center(tilt, 2) + log_square(tilt)
    # Aliasing leaves m(m-1) pi_k h_w theta_kw h_v theta_kv, a matrix of rank one for each class.
    ends = [2 * (np.log(classes.whitening) + sign * classes.log_ratios / 2) for sign in (1, -1)]
    bounds = np.log(classes.class_probabilities * (classes.length_probabilities @ classes.falling(2)))
    bounds = bounds + np.array([logsumexp(end) for end in ends])
    path = _path(tilt, size, bounds, refinement)
    rows = classes.whitening * np.exp(tilt * classes.log_ratios)
    largest = np.exp(classes.log_center(tilt, 2)) * path.step
    for nodes, weights in _integrand(classes, path, 2):
        heard = np.abs(weights) > 1e-18 * largest
        angles = np.outer(classes.log_ratios, nodes[heard])
        factor = np.concatenate([factor, rows[:, None] * np.cos(angles), rows[:, None] * np.sin(angles)], axis=1)
        core = _stacked(core, weights[heard])
        if factor.shape[1] > _COLUMNS:
            factor, core = compress(factor, core)
    return compress(factor, core)


def _stacked(core: FloatArray, weights: np.ndarray) -> FloatArray:
    """Append to a core the real part of weight (cos + i sin)(cos + i sin)' for every node."""
    old, new = len(core), len(weights)
    grown = np.zeros((old + 2 * new, old + 2 * new))
    grown[:old, :old] = core
    cosines, sines = old + np.arange(new), old + new + np.arange(new)
    grown[cosines, cosines], grown[sines, sines] = weights.real, -weights.real
    grown[cosines, sines] = grown[sines, cosines] = -weights.imag
    return grown


def _least(log_magnitude: Callable[[float], float]) -> float:
    """The tilt with the smallest integrand, where rounding is amplified least; the function is convex."""
    bounds = (-_STEEPEST_TILT, _STEEPEST_TILT)
    return float(minimize_scalar(log_magnitude, bounds=bounds, method="bounded", options={"xatol": 1e-3}).x)


def _path(
    tilt: float, log_value: float, log_bounds: FloatArray, refinement: int, *, log_size: float | None = None
) -> Path:
    r"""Choose step and length of a path.

    A step h adds to the integral copies shifted by 2 pi / h, at most bound_1 exp(-(1/2 - s) 2 pi / h) and
    bound_2 exp(-(1/2 + s) 2 pi / h); beyond the last node the integrand has fallen by exp(-pi T). Both are held below
    exp(-_DIGITS) of the value, which is put a factor exp(_LAPLACE) below the integrand at the center.
    """
    if (log_value if log_size is None else log_size) < _UNDERFLOW:
        return Path(tilt, 1.0, 0)
    decay = np.array([0.5 - tilt, 0.5 + tilt])
    shift = float(np.max((log_bounds - log_value + _LAPLACE + _DIGITS) / decay))
    step = 2 * np.pi / shift / refinement
    return Path(tilt, step, 1 + int(np.ceil((_DIGITS + _LAPLACE) / (np.pi * step))))


def _integrand(classes: TwoClasses, path: Path, order: int) -> Iterator[tuple[FloatArray, np.ndarray]]:
    """Walk the nodes t >= 0 in chunks, each with its weight; the other half is the conjugate."""
    log_ratios, tilted = classes.log_ratios, np.exp(classes.log_tilted(path.tilt))
    b = np.log(classes.class_probabilities[0]) - np.log(classes.class_probabilities[1])
    log_prior = (0.5 + path.tilt) * np.log(classes.class_probabilities[0])
    log_prior += (0.5 - path.tilt) * np.log(classes.class_probabilities[1])
    weights = classes.length_probabilities * classes.falling(order)
    used = weights > 0
    chunk = max(1, _CHUNK // len(log_ratios))
    for start in range(0, path.n_nodes, chunk):
        nodes = path.step * np.arange(start, min(start + chunk, path.n_nodes))
        characteristic = tilted @ np.exp(1j * np.outer(log_ratios, nodes))
        powers = np.zeros_like(characteristic)
        for length, weight in zip(classes.lengths[used], weights[used], strict=True):
            powers += weight * characteristic ** int(length - order)
        values = np.exp(log_prior + 1j * b * nodes) * powers / (2 * np.cosh(np.pi * (nodes - 1j * path.tilt)))
        values *= path.step * np.where(nodes == 0, 1.0, 2.0)
        yield nodes, values
