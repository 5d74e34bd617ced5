"""The E-step of any class-conditional model, shard by shard."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from labelworth.arrays import AnyArray, FloatArray
from labelworth.data.evidence import Evidence
from labelworth.engines.shards import map_shards, shard_bounds
from labelworth.models.protocol import Expectation
from labelworth.models.responsibilities import normalize, restrict_to_evidence

Statistics = Callable[[Any, FloatArray], dict[str, FloatArray]]
"""(features of some rows, weighted responsibilities (n, K)) -> sums over these rows."""


class DensityModel(Protocol):
    """A model that knows log p(x, y) from bare features."""

    def log_joint_of(self, features: Any) -> FloatArray:
        """log p(x, y), (n, K)."""


class ShardedPass:
    """Samples laid out for passes; shards and the order of adding depend on the data alone.

    Parameters
    ----------
    features : CSR array or dense array of shape (n, n_features)
        Checked.
    evidence : Evidence
        What is known of each class.
    row_weights : array of shape (n,)
        How much each row counts.
    cumulative_work : array of shape (n + 1,)
        By which rows are cut into shards; see `shard_bounds`.
    statistics : callable
        What is summed besides the class weights.
    """

    def __init__(
        self,
        features: Any,
        evidence: Evidence,
        row_weights: FloatArray,
        cumulative_work: AnyArray,
        statistics: Statistics,
        n_workers: int = 1,
    ) -> None:
        self._features = features
        self._evidence = evidence
        self._row_weights = row_weights
        self._statistics = statistics
        self._bounds = shard_bounds(cumulative_work)
        self._n_workers = n_workers

    def expectation(self, model: DensityModel) -> Expectation:
        """Expected statistics and log-likelihood under `model`."""
        parts = map_shards(lambda first, stop: self._shard(model, slice(first, stop)), self._bounds, self._n_workers)
        total = next(parts)
        for part in parts:
            total = Expectation(_added(total.statistics, part.statistics), total.log_likelihood + part.log_likelihood)
        return total

    def _shard(self, model: DensityModel, rows: slice) -> Expectation:
        features, weights = self._features[rows], self._row_weights[rows]
        responsibilities = model.log_joint_of(features)
        restrict_to_evidence(responsibilities, self._evidence.codes[rows], self._evidence.weights)
        log_likelihood = float(weights @ normalize(responsibilities))
        responsibilities *= weights[:, None]
        statistics = {"class_weights": np.asarray(responsibilities.sum(axis=0))}
        return Expectation(statistics | self._statistics(features, responsibilities), log_likelihood)


def _added(first: Mapping[str, FloatArray], second: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    return {name: value + second[name] for name, value in first.items()}
