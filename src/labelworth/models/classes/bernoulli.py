"""Presence and absence: a class, and binary features drawn independently given the class."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.blocks import Numbered
from labelworth.models.classes.naive_bayes import NaiveBayesFamily, NaiveBayesModel
from labelworth.models.classes.responsibilities import ShardedPass
from labelworth.models.coordinates import Coordinates, FreeTable, SimplexRows
from labelworth.models.doors import require_features
from labelworth.models.probability_rows import require_interior, require_resolved, smoothed_rows

_VALUES_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class BernoulliModel(NaiveBayesModel):
    r"""Bernoulli naive Bayes.

    .. math:: p(x, y) = \pi_y \prod_v \theta_{yv}^{x_v} (1 - \theta_{yv})^{1 - x_v}
    """

    kind: ClassVar[str] = "bernoulli"
    table_name: ClassVar[str] = "feature_probabilities"

    feature_probabilities: FloatArray  # (K, V): :math:`\theta`, the probability that a feature is present.
    feature_names: tuple[str, ...] | None = None  # What the columns stand for.

    def __post_init__(self) -> None:
        super().__post_init__()
        table = self.feature_probabilities
        if table.size and not (table.min() >= 0 and table.max() <= 1):
            raise InvalidInputError(
                f"feature_probabilities must lie in [0, 1]. Got values from {table.min():g} to {table.max():g}."
            )

    @cached_property
    def coordinates(self) -> Coordinates:
        """Class probabilities, then a row of feature probabilities per class."""
        classes = [str(name) for name in self.classes]
        features = self.feature_names or Numbered("feature", self.n_features)
        return Coordinates(
            (
                SimplexRows("class_probabilities", [""], classes),
                FreeTable("feature_probabilities", classes, features, low=0.0, high=1.0),
            )
        )

    @cached_property
    def cells(self) -> FloatArray:
        """A row of two per feature, present and absent, (K, V, 2)."""
        return np.stack([self.feature_probabilities, 1 - self.feature_probabilities], axis=-1)

    @property
    def n_draws(self) -> float:
        """Every feature is present or absent once."""
        return 1.0

    def as_cells(self, sums: FloatArray, totals: FloatArray) -> FloatArray:
        """Present, and absent in the rest of the samples."""
        return np.stack([sums, totals[:, None] - sums], axis=-1)

    def log_joint(self, samples: Samples) -> FloatArray:
        """log p(x, y), shape (n, K); minus infinity where a feature rules the class out."""
        return self.log_joint_of(self.checked_counts(samples))

    def log_joint_of(self, counts: sp.csr_array) -> FloatArray:
        r"""The same from clean binary counts, without making them dense.

        .. math:: \log \pi_y + \sum_v \log(1 - \theta_{yv}) + \sum_{v : x_v = 1} \operatorname{logit} \theta_{yv}
        """
        log_odds, log_nothing = self._log_tables
        log_joint = np.asarray(counts @ log_odds.T) + (self.log_class_probabilities + log_nothing)
        never, always = self.feature_probabilities == 0, self.feature_probabilities == 1
        if never.any() or always.any():
            # Certain features: present where they never are, or absent where they always are.
            signed = never.astype(np.float64) - always
            violations = np.asarray(counts @ signed.T) + always.sum(axis=1)
            log_joint[violations > 0] = -np.inf
        return log_joint

    @cached_property
    def _log_tables(self) -> tuple[FloatArray, FloatArray]:
        """Log odds (K, V), zero for certain features, and the log-probability of nothing present (K,)."""
        certain = (self.feature_probabilities == 0) | (self.feature_probabilities == 1)
        inside = np.where(certain, 0.5, self.feature_probabilities)
        log_absent = np.where(certain, 0.0, np.log1p(-inside))
        return np.where(certain, 0.0, np.log(inside) - log_absent), np.asarray(log_absent.sum(axis=1))

    def sample(self, n_samples: int, rng: np.random.Generator) -> Samples:
        codes: IntArray = rng.choice(self.n_classes, size=n_samples, p=self.class_probabilities).astype(np.int64)
        parts, n_rows = [], max(1, _VALUES_AT_ONCE // self.n_features)
        for first in range(0, n_samples, n_rows):
            chosen = self.feature_probabilities[codes[first : first + n_rows]]
            parts.append(sp.csr_array((rng.random(chosen.shape) < chosen).astype(np.float64)))
        features = sp.csr_array(sp.vstack(parts)) if parts else sp.csr_array((0, self.n_features))
        return Samples(features, Evidence(codes, self.classes), feature_names=self.feature_names)

    def checked_counts(self, samples: Samples) -> sp.csr_array:
        """The features, all of which must be 0 or 1."""
        require_features(samples, self.n_features)
        _require_binary(samples.counts)
        return samples.counts

    def _require_interior(self) -> None:
        super()._require_interior()
        require_interior("1 - feature_probabilities", 1 - self.feature_probabilities)


@dataclass(frozen=True, eq=False)
class BernoulliFamily(NaiveBayesFamily[BernoulliModel]):
    r"""Bernoulli models with a Beta prior.

    The objective gains :math:`a \sum_k \log \pi_k + \alpha \sum_{kv} (\log \theta_{kv} + \log (1 - \theta_{kv}))`, so
    that the maximizer for labeled data is :math:`\hat\theta_{kv} = (N_{kv} + \alpha) / (N_k + 2 \alpha)`.
    """

    def adapted(self, samples: Samples, row_weights: FloatArray) -> Self:
        """Nothing is read off the features."""
        return self

    def prepare(self, samples: Samples, row_weights: FloatArray) -> ShardedPass:
        """Check the samples and lay them out."""
        counts = self._checked_counts(samples, row_weights)
        _require_binary(counts)
        # Every row has its share of the (rows, classes) work besides the stored values.
        work = counts.indptr.astype(np.int64) + np.arange(len(counts.indptr))
        return ShardedPass(counts, samples.evidence, row_weights, work, _presences)

    def neutral(self) -> BernoulliModel:
        """Uniform class probabilities, every feature present half of the time."""
        n_classes = len(self.classes)
        halves = np.full((n_classes, self.n_features), 0.5)
        return BernoulliModel(self.classes, np.full(n_classes, 1 / n_classes), halves, self.feature_names)

    def maximize(self, statistics: Mapping[str, FloatArray]) -> BernoulliModel:
        """Smoothed shares of the expected presences."""
        class_weights = statistics["class_weights"]
        # Rounding may carry a sum of presences past the class weight by its last bit.
        present = np.minimum(statistics["presences"], class_weights[:, None])
        shares = smoothed_rows(np.stack([present, class_weights[:, None] - present], axis=-1), self.smoothing)
        if self.smoothing > 0:
            require_resolved(1 - shares[..., 0], self.smoothing)
        return BernoulliModel(
            self.classes, smoothed_rows(class_weights, self.class_smoothing), shares[..., 0], self.feature_names
        )


def _presences(counts: Any, responsibilities: FloatArray) -> dict[str, FloatArray]:
    return {"presences": np.ascontiguousarray((counts.T @ responsibilities).T)}


def _require_binary(counts: sp.csr_array) -> None:
    if counts.nnz and not np.isin(counts.data, (0.0, 1.0)).all():
        other = counts.data[~np.isin(counts.data, (0.0, 1.0))][0]
        raise InvalidInputError(f"Features must be 0 or 1 (absent or present). Got {other:g} instead; use X > 0.")
