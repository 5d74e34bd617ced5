"""p(y | x, evidence): what the features and the evidence together say about the class."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.shards.bounds import shard_bounds
from labelworth.engines.runner import plus
from labelworth.errors import InvalidInputError
from labelworth.models.protocol import Expectation, Model

Statistics = Callable[[Any, FloatArray], dict[str, FloatArray]]
"""(features of some rows, weighted responsibilities (n, K)) -> sums over these rows."""


def restrict_to_evidence(log_joint: FloatArray, codes: IntArray, candidate_weights: FloatArray) -> None:
    """Add log w(y) to log p(x, y), in place: what the evidence rules out becomes minus infinity."""
    gold = np.flatnonzero(codes >= 0)
    kept = log_joint[gold, codes[gold]]
    log_joint[gold] = -np.inf
    log_joint[gold, codes[gold]] = kept
    ambiguous = np.flatnonzero(codes < -1)
    if ambiguous.size:
        with np.errstate(divide="ignore"):
            log_joint[ambiguous] += np.log(candidate_weights[-2 - codes[ambiguous]])


def normalize(log_weights: FloatArray) -> FloatArray:
    """Turn log weights (n, K) into probabilities along the rows, in place; return the log of each row's sum.

    A row of minus infinities has the log-sum minus infinity and gets zeros: it belongs to no class.
    """
    largest = log_weights.max(axis=1)
    shift = np.where(np.isneginf(largest), 0.0, largest)
    log_weights -= shift[:, None]
    np.exp(log_weights, out=log_weights)
    sums = log_weights.sum(axis=1)
    log_weights /= np.where(sums > 0, sums, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        return np.asarray(shift + np.log(sums))


def condition(log_joint: FloatArray, evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    r"""Bayes' rule with evidence.

    .. math:: r_{ik} = \frac{p(x_i, k)\, w_i(k)}{\sum_y p(x_i, y)\, w_i(y)}

    Returns
    -------
    responsibilities : array of shape (n, K)
    log_evidence : array of shape (n,)
        log of the denominator; minus infinity where the sample is impossible, and its responsibilities are zero.
    """
    responsibilities = log_joint.copy()
    restrict_to_evidence(responsibilities, evidence.codes, evidence.weights)
    return responsibilities, normalize(responsibilities)


class DensityModel(Protocol):
    """A model that knows log p(x, y) from bare features."""

    def log_joint_of(self, features: Any) -> FloatArray:
        """log p(x, y), (n, K)."""


class ShardedPass:
    """Samples laid out for passes; shards and the order of adding depend on the data alone."""

    def __init__(
        self,
        features: Any,
        evidence: Evidence,
        row_weights: FloatArray,
        cumulative_work: AnyArray,
        statistics: Statistics,
    ) -> None:
        self._features = features
        self._evidence = evidence
        self._row_weights = row_weights
        self._statistics = statistics
        self._bounds = shard_bounds(cumulative_work)

    def expectation(self, model: DensityModel) -> Expectation:
        """Expected statistics and log-likelihood under `model`."""
        parts = (self._shard(model, slice(first, stop)) for first, stop in self._bounds)
        total = next(parts)
        for part in parts:
            total = Expectation(plus(total.statistics, part.statistics), total.log_likelihood + part.log_likelihood)
        return total

    def _shard(self, model: DensityModel, rows: slice) -> Expectation:
        features, weights = self._features[rows], self._row_weights[rows]
        responsibilities = model.log_joint_of(features)
        restrict_to_evidence(responsibilities, self._evidence.codes[rows], self._evidence.weights)
        log_likelihood = float(weights @ normalize(responsibilities))
        responsibilities *= weights[:, None]
        statistics = {"class_weights": np.asarray(responsibilities.sum(axis=0))}
        return Expectation(statistics | self._statistics(features, responsibilities), log_likelihood)


def posterior(model: Model, samples: Samples) -> FloatArray:
    """p(y | x, evidence) for every sample and class, shape (n, K); rows sum to one.

    Hide the labels (``samples.hide()``) for p(y | x).

    Raises
    ------
    InvalidInputError
        If a sample has probability zero under every class its evidence allows, so that nothing can be said.
    """
    if samples.evidence.classes != model.classes:
        raise InvalidInputError(
            f"The samples have the classes {samples.evidence.classes!r}, the model {model.classes!r}. "
            "Both must name the same classes in the same order."
        )
    responsibilities, log_evidence = condition(model.log_joint(samples), samples.evidence)
    impossible = np.flatnonzero(~np.isfinite(log_evidence))
    if impossible.size:
        raise InvalidInputError(
            f"{impossible.size} sample(s) have probability zero under every class, the first at row {impossible[0]}: "
            "they have features the model has never seen. Fit with smoothing above 0."
        )
    return responsibilities
