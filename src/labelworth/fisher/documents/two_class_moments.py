r"""Moments of :math:`p(1-p)` for documents of two classes, exactly: one contour integral each.

Words are independent given the class, so with :math:`l_w = \log\theta_{1w}/\theta_{2w}` a document's log-odds are
a sum, and the mean of anything times :math:`p(1-p)` is an integral of powers of
:math:`\varphi(t) = \sum_w \sqrt{\theta_{1w}\theta_{2w}}\, e^{i t l_w}`. The path of integration and the step are
chosen so that rounding and aliasing stay at the last digits of the *result*, however small it is;
docs/derivations/two_class_formula.md derives both.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from labelworth.arrays import FloatArray
from labelworth.linalg.low_rank import compress

ComplexArray = NDArray[np.complex128]

_STEEPEST_TILT = 0.45  # the poles of 1/cosh(pi t) stand at 1/2; nodes grow like 1 / (1/2 - tilt)
_WORTHWHILE = np.log(30.0)  # a word leaves the common path when another one loses this many times less
_DIGITS = 38.0  # exp(-38) = 3e-17
_LAPLACE = 6.0  # an integral may be this factor, in logs, smaller than its integrand at the center
_COLUMNS = 128  # low-rank columns gathered before they are compressed
_UNHEARD = 1e-18  # nodes this much weaker than the strongest do not reach the last digit
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
        ratios: FloatArray = np.log(self.word_probabilities[0]) - np.log(self.word_probabilities[1])
        return ratios

    @property
    def pooled(self) -> FloatArray:
        """The probability of each word whatever the class."""
        pooled: FloatArray = self.class_probabilities @ self.word_probabilities
        return pooled

    @property
    def whitening(self) -> FloatArray:
        r"""What a count of word w weighs in whitened coordinates, times :math:`\sqrt{\theta_{1w}\theta_{2w}}`."""
        weights: FloatArray = np.sqrt(self.pooled / (self.mean_length * self.class_probabilities.prod()))
        return weights

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


class Waves:
    r"""The waves :math:`e^{i t_j l_w}` on all nodes of a path, as products of a few coarse and a few fine ones."""

    def __init__(self, log_ratios: FloatArray, path: Path) -> None:
        self.n_nodes = path.n_nodes
        self._stride = max(1, int(np.ceil(np.sqrt(path.n_nodes))))
        n_coarse = -(-path.n_nodes // self._stride)
        self._fine: ComplexArray = np.exp(1j * np.outer(log_ratios, path.step * np.arange(self._stride)))
        self._coarse: ComplexArray = np.exp(1j * np.outer(log_ratios, path.step * self._stride * np.arange(n_coarse)))

    def mixed(self, weights: FloatArray) -> ComplexArray:
        """Sum over the words, weighted, at every node."""
        table = (weights[:, None] * self._coarse).T @ self._fine
        return table.ravel()[: self.n_nodes]

    def summed(self, weights: ComplexArray) -> ComplexArray:
        """Sum over the nodes, weighted, for every word."""
        table = np.zeros(self._coarse.shape[1] * self._stride, dtype=np.complex128)
        table[: self.n_nodes] = weights
        summed: ComplexArray = np.sum(self._coarse * (self._fine @ table.reshape(-1, self._stride).T), axis=1)
        return summed

    def at(self, nodes: NDArray[np.intp]) -> ComplexArray:
        """The waves of all words at some nodes."""
        waves: ComplexArray = self._coarse[:, nodes // self._stride] * self._fine[:, nodes % self._stride]
        return waves


@dataclass(frozen=True)
class MissingMoments:
    r"""What the missing information is made of; c are a document's word counts, p its posterior."""

    zeroth: float  # :math:`E[p(1-p)]`.
    first: FloatArray  # (V,): :math:`E[p(1-p)\,c_w]`.
    # (V, r) and (r, r): Their product is :math:`h_w h_v E[p(1-p)(c_w c_v - [w=v]\,c_w)]`, h the whitening
    # divided by :math:`\sqrt{\theta_{1w}\theta_{2w}}`.
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
    return float(_integrand(classes, path, 0, Waves(classes.log_ratios, path)).real.sum())


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
        path = _path(tilt, float(size.max()), (bounds[:, words] - size).max(axis=1) + size.max(), refinement)
        waves = Waves(classes.log_ratios, path)
        summed = waves.summed(_integrand(classes, path, 1, waves)).real
        first[words] = np.exp(classes.log_tilted(tilt)[words]) * summed[words]
    return first


def _pair_moments(classes: TwoClasses, refinement: int) -> tuple[FloatArray, FloatArray]:
    factor, core = np.empty((classes.word_probabilities.shape[1], 0)), np.empty((0, 0))
    if not np.any(classes.length_probabilities * classes.falling(2) > 0):
        return factor, core
    log_weights = 2 * np.log(classes.whitening)

    def log_size(tilt: float) -> float:
        return float(classes.log_center(tilt, 2) + logsumexp(log_weights + 2 * tilt * classes.log_ratios))

    tilt = _least(log_size)
    # Aliasing leaves, for each class, m(m-1) pi_k h_w theta_kw h_v theta_kv: a matrix of rank one.
    norms = [logsumexp(log_weights + classes.log_ratios), logsumexp(log_weights - classes.log_ratios)]
    bounds = np.log(classes.class_probabilities * (classes.length_probabilities @ classes.falling(2))) + norms
    path = _path(tilt, log_size(tilt), bounds, refinement)
    rows = classes.whitening * np.exp(tilt * classes.log_ratios)
    waves = Waves(classes.log_ratios, path)
    weights = _integrand(classes, path, 2, waves)
    heard = np.flatnonzero(np.abs(weights) > _UNHEARD * np.abs(weights).max(initial=0.0))
    for start in range(0, len(heard), _COLUMNS // 2):
        nodes = heard[start : start + _COLUMNS // 2]
        columns = rows[:, None] * waves.at(nodes)
        factor = np.concatenate([factor, columns.real, columns.imag], axis=1)
        factor, core = compress(factor, _stacked(core, weights[nodes]))
    return factor, core


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


def _path(tilt: float, log_value: float, log_bounds: FloatArray, refinement: int) -> Path:
    r"""Choose step and length of a path.

    A step h adds to the integral copies shifted by 2 pi / h, at most bound_1 exp(-(1/2 - s) 2 pi / h) and
    bound_2 exp(-(1/2 + s) 2 pi / h); beyond the last node the integrand has fallen by exp(-pi T). Both are held below
    exp(-_DIGITS) of the value, which is put a factor exp(_LAPLACE) below the integrand at the center.
    """
    if log_value < _UNDERFLOW:
        return Path(tilt, 1.0, 0)
    decay = np.array([0.5 - tilt, 0.5 + tilt])
    shift = float(np.max((log_bounds - log_value + _LAPLACE + _DIGITS) / decay))
    step = 2 * np.pi / shift / refinement
    return Path(tilt, step, 1 + int(np.ceil((_DIGITS + _LAPLACE) / (np.pi * step))))


def _integrand(classes: TwoClasses, path: Path, order: int, waves: Waves) -> ComplexArray:
    """The weights of the nodes t >= 0, without the words' own waves; the nodes t < 0 are the conjugates."""
    nodes = path.step * np.arange(path.n_nodes)
    characteristic = waves.mixed(np.exp(classes.log_tilted(path.tilt)))
    powers = np.zeros_like(characteristic)
    for length, weight in zip(classes.lengths, classes.length_probabilities * classes.falling(order), strict=True):
        if weight > 0:
            powers += weight * characteristic ** int(length - order)
    logs = np.log(classes.class_probabilities)
    priors = np.exp((0.5 + path.tilt) * logs[0] + (0.5 - path.tilt) * logs[1] + 1j * (logs[0] - logs[1]) * nodes)
    halves = np.where(nodes == 0, 1.0, 2.0)
    values: ComplexArray = path.step * halves * priors * powers / (2 * np.cosh(np.pi * (nodes - 1j * path.tilt)))
    return values
