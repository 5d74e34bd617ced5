"""Presence and absence: a class, and binary features drawn independently given the class."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from labelworth.arrays import AnyArray, FloatArray, IntArray, as_floats, require_shape
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.coordinates import Coordinates, FreeTable, SimplexRows
from labelworth.models.doors import require_classes, require_feature_names, require_features, stored
from labelworth.models.names import Numbered
from labelworth.models.probability_rows import (
    require_interior,
    require_rows,
    row_curvature,
    row_scores,
    squared_distance,
)

_VALUES_AT_ONCE = 1 << 22


def require_binary(counts: sp.csr_array) -> None:
    """Refuse stored values other than 0 and 1."""
    if counts.nnz and not np.isin(counts.data, (0.0, 1.0)).all():
        other = counts.data[~np.isin(counts.data, (0.0, 1.0))][0]
        raise InvalidInputError(f"Features must be 0 or 1 (absent or present). Got {other:g} instead; use X > 0.")


@dataclass(frozen=True, eq=False)
class BernoulliModel:
    r"""Bernoulli naive Bayes.

    .. math:: p(x, y) = \pi_y \prod_v \theta_{yv}^{x_v} (1 - \theta_{yv})^{1 - x_v}

    Attributes
    ----------
    classes : tuple
        What the class codes stand for.
    class_probabilities : array of shape (K,)
        :math:`\pi`.
    feature_probabilities : array of shape (K, V)
        :math:`\theta`, the probability that a feature is present.
    feature_names : tuple of str, optional
        What the columns stand for.
    """

    kind: ClassVar[str] = "bernoulli"

    classes: tuple[Hashable, ...]
    class_probabilities: FloatArray
    feature_probabilities: FloatArray
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", require_classes(self.classes))
        priors = as_floats("class_probabilities", self.class_probabilities, ndim=1)
        require_rows("class_probabilities", priors)
        table = as_floats("feature_probabilities", self.feature_probabilities, ndim=2)
        if table.size and not (table.min() >= 0 and table.max() <= 1):
            raise InvalidInputError(
                f"feature_probabilities must lie in [0, 1]. Got values from {table.min():g} to {table.max():g}."
            )
        object.__setattr__(self, "class_probabilities", priors)
        object.__setattr__(self, "feature_probabilities", table)
        require_shape("class_probabilities", priors, (self.n_classes,))
        require_shape("feature_probabilities", table, (self.n_classes, self.n_features))
        names = require_feature_names(self.feature_names, self.n_features)
        object.__setattr__(self, "feature_names", names)

    @property
    def n_classes(self) -> int:
        """The number of classes, K."""
        return len(self.classes)

    @property
    def n_features(self) -> int:
        """The number of columns, V."""
        return int(self.feature_probabilities.shape[1])

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

    @property
    def tables(self) -> dict[str, FloatArray]:
        """``class_probabilities`` (1, K) and ``feature_probabilities`` (K, V)."""
        return {
            "class_probabilities": self.class_probabilities[None, :],
            "feature_probabilities": self.feature_probabilities,
        }

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        """The same classes and features with other probabilities."""
        return replace(
            self,
            class_probabilities=np.ravel(tables["class_probabilities"]),
            feature_probabilities=tables["feature_probabilities"],
        )

    def log_joint(self, samples: Samples) -> FloatArray:
        """log p(x, y), shape (n, K); minus infinity where a feature rules the class out."""
        require_features(samples, self.n_features)
        require_binary(samples.counts)
        return self.log_joint_of(samples.counts)

    def log_joint_of(self, counts: sp.csr_array) -> FloatArray:
        r"""The same from clean binary counts, without making them dense.

        .. math:: \log \pi_y + \sum_v \log(1 - \theta_{yv}) + \sum_{v : x_v = 1} \operatorname{logit} \theta_{yv}
        """
        log_odds, log_nothing = self._log_tables
        with np.errstate(divide="ignore"):
            log_joint = np.asarray(counts @ log_odds.T) + (np.log(self.class_probabilities) + log_nothing)
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
        """Draw fully labeled samples."""
        codes: IntArray = rng.choice(self.n_classes, size=n_samples, p=self.class_probabilities).astype(np.int64)
        parts, n_rows = [], max(1, _VALUES_AT_ONCE // self.n_features)
        for first in range(0, n_samples, n_rows):
            chosen = self.feature_probabilities[codes[first : first + n_rows]]
            parts.append(sp.csr_array((rng.random(chosen.shape) < chosen).astype(np.float64)))
        features = sp.csr_array(sp.vstack(parts)) if parts else sp.csr_array((0, self.n_features))
        return Samples(features, Evidence(codes, self.classes), feature_names=self.feature_names)

    def complete_information(self) -> FloatArray:
        r"""Information of a labeled sample, (d, d): for features :math:`\pi_k / (\theta_{kv} (1 - \theta_{kv}))`."""
        weights = self.class_probabilities
        return self.curvature(weights, weights[:, None] * self.feature_probabilities)

    def class_scores(self, samples: Samples) -> FloatArray:
        """Gradient of log p(x, y) in free coordinates for every sample and class, (n, K, d)."""
        self._require_interior()
        require_features(samples, self.n_features)
        features, table = samples.counts.toarray(), self.feature_probabilities
        scores = np.zeros((len(features), self.n_classes, self.coordinates.n_free))
        scores[:, :, : self.n_classes - 1] = row_scores(np.eye(self.n_classes), self.class_probabilities)
        start = self.n_classes - 1
        for code in range(self.n_classes):
            stop = start + self.n_features
            scores[:, code, start:stop] = (features - table[code]) / (table[code] * (1 - table[code]))
            start = stop
        return scores

    def complete_curvature(self, samples: Samples, responsibilities: FloatArray) -> FloatArray:
        """Minus the Hessian of sum_i sum_k r_ik log p(x_i, k), (d, d)."""
        require_features(samples, self.n_features)
        require_shape("responsibilities", responsibilities, (samples.n_samples, self.n_classes))
        present = np.asarray((samples.counts.T @ responsibilities).T)
        return self.curvature(responsibilities.sum(axis=0), present)

    def curvature(
        self, class_weights: FloatArray, present: FloatArray, absent: FloatArray | None = None
    ) -> FloatArray:
        r"""Minus the Hessian of a weighted sum of log probabilities, (d, d).

        .. math:: \sum_k N_k \log \pi_k + \sum_{kv} P_{kv} \log \theta_{kv} + A_{kv} \log (1 - \theta_{kv})

        `absent`, A, is what is left of the class weight when it is not given.
        """
        self._require_interior()
        table = self.feature_probabilities
        absent = class_weights[:, None] - present if absent is None else absent
        diagonal = present / np.square(table) + absent / np.square(1 - table)
        return np.asarray(
            block_diag(row_curvature(class_weights, self.class_probabilities), np.diag(diagonal.ravel()))
        )

    def divergence(self, other: Self) -> float:
        """Half the squared step in the complete information, in nats per sample."""
        present = squared_distance(self.feature_probabilities, other.feature_probabilities)
        absent = squared_distance(1 - self.feature_probabilities, 1 - other.feature_probabilities)
        features = float(self.class_probabilities @ (present + absent))
        return 2 * (float(squared_distance(self.class_probabilities, other.class_probabilities)) + features)

    def to_arrays(self) -> dict[str, AnyArray]:
        """The two tables."""
        return {
            "class_probabilities": self.class_probabilities,
            "feature_probabilities": self.feature_probabilities,
        }

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, AnyArray],
        *,
        classes: tuple[Hashable, ...],
        feature_names: tuple[str, ...] | None = None,
    ) -> Self:
        """Build the model again, checking everything."""
        return cls(
            classes, stored(arrays, "class_probabilities"), stored(arrays, "feature_probabilities"), feature_names
        )

    def _require_interior(self) -> None:
        require_interior("class_probabilities", self.class_probabilities)
        require_interior("feature_probabilities", self.feature_probabilities)
        require_interior("1 - feature_probabilities", 1 - self.feature_probabilities)
