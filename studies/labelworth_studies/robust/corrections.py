"""What a fit of n rows does to its own rows: the pull of each row on itself, and the noise of the fit."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, qmc

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.models.protocol import Model

_HERMITE_NODES = 9
_SOBOL_NODES = 64
_POSTERIOR_STEPS = 30
_POSTERIOR_TOLERANCE = 1e-6
_DRIFT_STEP = 1e-2
_NEGLIGIBLE = 1e-12
_SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class Corrections:
    """Per row and class."""

    # (n, K, K): How much the log-joint of each class rises when the row itself is fitted, per unit of its
    # posterior.
    influence: FloatArray
    spread: FloatArray  # (n, K, K-1): A root of the covariance of the log-odds under the noise of the fit.
    drift: FloatArray  # (n, K): What that noise does to log p(x, y) on average.

    @classmethod
    def none(cls, n_rows: int, n_classes: int) -> "Corrections":
        """Those of endless data."""
        shape = (n_rows, n_classes)
        return cls(np.zeros((*shape, n_classes)), np.zeros((*shape, n_classes - 1)), np.zeros(shape))

    def halfway(self, other: "Corrections") -> "Corrections":
        """The mean of the two: rounds that alternate with it swing less."""
        return Corrections(
            (self.influence + other.influence) / 2, (self.spread + other.spread) / 2, (self.drift + other.drift) / 2
        )

    def posteriors(self, log_joint: FloatArray, nodes: FloatArray) -> FloatArray:
        """In-sample posteriors at every node of the noise, (n, K, n_nodes): p = softmax(log-joint + noise + G p)."""
        noise = np.einsum("nkj,mj->nkm", self.spread, nodes)
        logits = (log_joint + self.drift)[:, :, None] + noise
        # Of several resting places EM reaches the one it meets first, coming from a fit that has not seen the row.
        posteriors = _softmax(logits)
        for _ in range(_POSTERIOR_STEPS):
            before, posteriors = posteriors, _softmax(logits + np.matmul(self.influence, posteriors))
            if np.abs(posteriors - before).max(initial=0.0) < _POSTERIOR_TOLERANCE:
                break
        return np.asarray(posteriors)

    def responses(self, posteriors: FloatArray, nodes: FloatArray, node_weights: FloatArray) -> FloatArray:
        r"""How a row's average posterior answers a change of a fit that has not seen it, D (n, K, K).

        :math:`dp = D s\, d\theta`, by Stein's identity :math:`D = E[p\, z'] R^{-1}` for noise :math:`R z`: the row's
        own pull and its leaps from class to class are included. Without noise and pull it is the posterior variance
        of the class; with them it is larger.
        """
        against_last = _contrasts(self.influence.shape[1])
        answer = np.einsum("nkm,m,mj->nkj", posteriors[:, :-1], node_weights, nodes)
        answer = np.matmul(answer, np.linalg.pinv(self.spread[:, :-1], rcond=_SINGULAR))
        return np.asarray(against_last.T @ ((answer + answer.transpose(0, 2, 1)) / 2) @ against_last)

    def largest_pull(self) -> FloatArray:
        """By how much fitting a row can raise its log-odds between two classes, shape (n,)."""
        diagonal = np.einsum("nkk->nk", self.influence)
        between: FloatArray = diagonal[:, :, None] + diagonal[:, None, :] - 2 * self.influence
        return np.asarray(between.max(axis=(1, 2)))


def _contrasts(n_classes: int) -> FloatArray:
    """Log-odds against the last class as a matrix, (K-1, K)."""
    return np.hstack([np.eye(n_classes - 1), -np.ones((n_classes - 1, 1))])


def _softmax(logits: FloatArray) -> FloatArray:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(weights)


def expected_drift(model: Model, population: Samples, covariance: FloatArray) -> FloatArray:
    r"""Average change of log p(x, y) under noise of this covariance, :math:`\operatorname{tr}(\nabla^2 a\, C) / 2`.

    By second differences of log p(x, y) along every column of a root of C: twice d evaluations.

    Returns
    -------
    array of shape (n, K)
    """
    values, vectors = np.linalg.eigh(covariance)
    # Rounding may leave eigenvalues just below zero; what is that small moves nothing.
    kept = values > _NEGLIGIBLE * values[-1]
    steps = _DRIFT_STEP * (vectors[:, kept] * np.sqrt(values[kept])).T
    coordinates = model.coordinates
    theta = coordinates.flatten(model.tables)
    middle = model.log_joint(population)
    total = np.zeros_like(middle)
    for step in steps:
        for moved in (theta + step, theta - step):
            total += model.with_tables(coordinates.named(moved)).log_joint(population)
    return (total - 2 * len(steps) * middle) / (2 * _DRIFT_STEP**2)


def contrast_root(covariance: FloatArray) -> FloatArray:
    """A root (n, K, K-1) of each row's covariance (n, K, K) of log-odds against the last class, whose row is zero."""
    last = covariance[:, :, -1:]
    contrasts = (covariance - last - last.transpose(0, 2, 1) + covariance[:, -1:, -1:])[:, :-1, :-1]
    values, vectors = np.linalg.eigh(contrasts)
    # A row without features has no noise but in the class probabilities: zero up to rounding.
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return np.concatenate([root, np.zeros((len(root), 1, root.shape[2]))], axis=1)


def normal_nodes(dimension: int) -> tuple[FloatArray, FloatArray]:
    """Nodes (m, dimension) and weights (m,) of a standard normal: Gauss-Hermite on a line, else a fixed Sobol set.

    The set is symmetric and whitened, so that polynomials up to the third degree are integrated exactly: with little
    noise the responses are then exact.
    """
    if dimension == 1:
        nodes, weights = np.polynomial.hermite_e.hermegauss(_HERMITE_NODES)
        return nodes[:, None], weights / weights.sum()
    uniform = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(0)).random(_SOBOL_NODES // 2)
    half = norm.ppf(uniform)
    half = np.linalg.solve(np.linalg.cholesky(half.T @ half / len(half)), half.T).T
    return np.concatenate([half, -half]), np.full(_SOBOL_NODES, 1 / _SOBOL_NODES)
