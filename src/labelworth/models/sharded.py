"""What fits ask of data that lie in shards: E-steps, and values with gradients."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.data.shards.passes import DataT, Layout, PassesOverShards, is_sharded
from labelworth.engines.runner import Sums
from labelworth.models.protocol import EMFamily, Expectation, ParametersT, Pass

_LOG_LIKELIHOOD = "log likelihood"
_TILE = 256
"""So many columns of some dozens of rows stay in the cache."""


def prepared(family: EMFamily[ParametersT, DataT], data: DataT, weights: FloatArray) -> Pass[ParametersT]:
    """The data laid out for passes, wherever it lies; `weights` (n,) is how much each row or sequence counts."""
    if is_sharded(data) and getattr(family, "adds_up", True):
        return PassOverShards(family, data, weights)
    return family.prepare(data, weights)


@dataclass(frozen=True)
class ExpectationLayout:
    """Rows as a family lays them out for E-steps."""

    family: Any

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        names: tuple[str, ...] | None = self.family.feature_names
        return names

    @property
    def walks(self) -> bool:
        """Whether shards are not read for it: it reads them itself, with every pass."""
        return bool(getattr(self.family, "walks", False))

    def prepare(self, data: Any, weights: FloatArray, /) -> "ExpectationSums":
        return ExpectationSums(self.family.prepare(data, weights))


@dataclass(frozen=True)
class ExpectationSums:
    """A pass whose expectations are sums by name."""

    inner: Any

    def expectation(self, model: Any) -> Sums:
        expectation = self.inner.expectation(model)
        return {**expectation.statistics, _LOG_LIKELIHOOD: np.asarray(expectation.log_likelihood)}


class PassOverShards:
    """Data that lie in shards, for E-steps of one family; see `labelworth.models.protocol.Pass`."""

    def __init__(self, family: Any, data: "Samples | Sequences", weights: FloatArray) -> None:
        self._passes = PassesOverShards(ExpectationLayout(family), data, weights)

    def expectation(self, model: Any) -> Expectation:
        # An object of this pass alone, which shares its tables: what was made of it for all shards goes with it.
        sums = dict(self._passes.total("expectation", copy(model)))
        log_likelihood = float(sums.pop(_LOG_LIKELIHOOD))
        return Expectation({name: _in_rows(sums.pop(name)) for name in tuple(sums)}, log_likelihood)


def _in_rows(sums: FloatArray) -> FloatArray:
    """The same, its rows one after the other in memory; a table that was walked to has its columns so."""
    if sums.ndim != 2 or sums.flags.c_contiguous:
        return sums
    rows = np.empty(sums.shape)
    for first in range(0, sums.shape[1], _TILE):
        inside = slice(first, first + _TILE)
        rows[:, inside] = sums[:, inside]
    return rows


@dataclass(frozen=True, eq=False)
class SlopeSums:
    """An objective without its penalty, whose value and gradient are sums by name."""

    objective: Any  # (theta, gradient to be written) -> value

    def slope(self, theta: FloatArray) -> Sums:
        gradient = np.empty_like(theta)
        value = self.objective(theta, gradient)
        return {"value": np.asarray(value), "gradient": gradient}


class ObjectiveOverShards:
    r"""What L-BFGS minimizes: the objectives of all shards, and :math:`c |\theta|^2` once."""

    def __init__(self, layout: Layout[SlopeSums], data: Sequences, weights: FloatArray, penalty: float) -> None:
        self._passes = PassesOverShards(layout, data, weights)
        self._penalty = penalty

    def __call__(self, theta: FloatArray, gradient: FloatArray) -> float:
        """The value; its gradient is written to the second argument."""
        # The compiler is loaded with the first pass, not with an estimator.
        from labelworth.kernels.rows.long_vectors import inner

        # A copy: what is sent must not change while it is under way.
        sums = self._passes.total("slope", theta.copy())
        np.multiply(theta, 2 * self._penalty, out=gradient)
        gradient += sums["gradient"]
        return float(sums["value"]) + self._penalty * inner(theta, theta)
