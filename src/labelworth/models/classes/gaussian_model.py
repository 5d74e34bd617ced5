"""Dense vectors: a class, and a Gaussian around the mean of the class."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, Self, get_args

import numpy as np
from scipy.linalg import block_diag

from labelworth.arrays import AnyArray, FloatArray, IntArray, as_floats, require_shape
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.blocks import Block, FreeTable, Numbered, SimplexRows, SymmetricMatrices
from labelworth.models.classes.spread import MatrixSpread, Moments, Spread, VarianceSpread
from labelworth.models.coordinates import Coordinates
from labelworth.models.doors import require_classes, require_feature_names, require_features, stored
from labelworth.models.probability_rows import (
    require_interior,
    require_rows,
    row_curvature,
    row_scores,
    squared_distance,
)

Covariance = Literal["shared", "diagonal", "full"]

_TABLES = {"shared": "shared_covariance", "diagonal": "variances", "full": "covariances"}


def require_covariance(covariance: str) -> None:
    """Refuse another kind of covariance."""
    if covariance not in get_args(Covariance):
        raise InvalidInputError(f"covariance must be 'shared', 'diagonal' or 'full'. Got {covariance!r} instead.")


@dataclass(frozen=True, eq=False)
class GaussianModel:
    r"""A Gaussian per class.

    .. math:: p(x, y) = \pi_y N(x; \mu_y, C_y)
    """

    kind: ClassVar[str] = "gaussian"

    classes: tuple[Hashable, ...]  # What the class codes stand for.
    class_probabilities: FloatArray  # (K,): :math:`\pi`.
    means: FloatArray  # (K, D): :math:`\mu`.
    covariances: FloatArray  # (1, D, D) for "shared", the variances (K, D) for "diagonal", (K, D, D) for "full".
    covariance: Covariance  # Which of them.
    feature_names: tuple[str, ...] | None = None  # What the columns stand for.

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", require_classes(self.classes))
        require_covariance(self.covariance)
        for name, ndim in (("class_probabilities", 1), ("means", 2), ("covariances", None)):
            object.__setattr__(self, name, as_floats(name, getattr(self, name), ndim=ndim))
        require_rows("class_probabilities", self.class_probabilities)
        n_classes, n_features = self.n_classes, self.n_features
        require_shape("class_probabilities", self.class_probabilities, (n_classes,))
        require_shape("means", self.means, (n_classes, n_features))
        shape = {
            "shared": (1, n_features, n_features),
            "diagonal": (n_classes, n_features),
            "full": (n_classes, n_features, n_features),
        }[self.covariance]
        require_shape("covariances", self.covariances, shape)
        names = require_feature_names(self.feature_names, n_features)
        object.__setattr__(self, "feature_names", names)
        _ = self.spread

    @property
    def n_classes(self) -> int:
        """The number of classes, K."""
        return len(self.classes)

    @property
    def n_features(self) -> int:
        return int(self.means.shape[1])

    @cached_property
    def spread(self) -> Spread:
        """The covariances with what follows from them."""
        if self.covariance == "diagonal":
            return VarianceSpread(self.covariances)
        return MatrixSpread(self.covariances, shared=self.covariance == "shared")

    @cached_property
    def coordinates(self) -> Coordinates:
        """Class probabilities, means, then variances or lower triangles of the covariances."""
        classes = [str(name) for name in self.classes]
        features = list(self.feature_names or Numbered("feature", self.n_features))
        return Coordinates(
            (
                SimplexRows("class_probabilities", [""], classes),
                FreeTable("means", classes, features),
                _spread_block(self.covariance, classes, features),
            )
        )

    @property
    def tables(self) -> dict[str, FloatArray]:
        """``class_probabilities`` (1, K), ``means`` (K, D) and the spread under the name of its kind."""
        return {
            "class_probabilities": self.class_probabilities[None, :],
            "means": self.means,
            _TABLES[self.covariance]: self.covariances,
        }

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        return replace(
            self,
            class_probabilities=np.ravel(tables["class_probabilities"]),
            means=tables["means"],
            covariances=tables[_TABLES[self.covariance]],
        )

    def log_joint(self, samples: Samples) -> FloatArray:
        """log p(x, y), shape (n, K)."""
        require_features(samples, self.n_features)
        return self.log_joint_of(samples.vectors)

    def log_joint_of(self, vectors: FloatArray) -> FloatArray:
        """The same from bare vectors."""
        with np.errstate(divide="ignore"):
            log_class = np.log(self.class_probabilities)
        return self.spread.log_density(vectors, self.means) + log_class

    def sample(self, n_samples: int, rng: np.random.Generator) -> Samples:
        codes: IntArray = rng.choice(self.n_classes, size=n_samples, p=self.class_probabilities).astype(np.int64)
        noise = self.spread.noise(codes, rng.standard_normal((n_samples, self.n_features)))
        return Samples(self.means[codes] + noise, Evidence(codes, self.classes), feature_names=self.feature_names)

    def complete_information(self) -> FloatArray:
        r"""Information of one labeled sample, (d, d).

        Means: :math:`\pi_k C_k^{-1}`. Covariances in a direction A:
        :math:`\tfrac12 \pi_k \operatorname{tr}(C_k^{-1} A C_k^{-1} A)`, summed over the classes when shared. The
        blocks are orthogonal.
        """
        weights = self.class_probabilities
        return self.curvature(weights, self.spread.expected_moments(weights))

    def class_scores(self, samples: Samples) -> FloatArray:
        """Gradient of log p(x, y) in free coordinates for every sample and class, (n, K, d)."""
        require_features(samples, self.n_features)
        require_interior("class_probabilities", self.class_probabilities)
        vectors, slices = samples.vectors, self.coordinates.slices()
        scores = np.zeros((len(vectors), self.n_classes, self.coordinates.n_free))
        scores[:, :, slices["class_probabilities"]] = row_scores(np.eye(self.n_classes), self.class_probabilities)
        start = slices["means"].start
        for code in range(self.n_classes):
            stop = start + self.n_features
            in_mean, in_spread = self.spread.scores(vectors - self.means[code], code)
            scores[:, code, start:stop] = in_mean
            scores[:, code, slices[_TABLES[self.covariance]]] = in_spread
            start = stop
        return scores

    def complete_curvature(self, samples: Samples, responsibilities: FloatArray) -> FloatArray:
        """Minus the Hessian of sum_i sum_k r_ik log p(x_i, k), (d, d)."""
        require_features(samples, self.n_features)
        require_shape("responsibilities", responsibilities, (samples.n_samples, self.n_classes))
        class_weights = responsibilities.sum(axis=0)
        sums, scatters = [], []
        for code, mean in enumerate(self.means):
            centered = samples.vectors - mean
            sums.append(responsibilities[:, code] @ centered)
            scatters.append(self.spread.scatter(centered, responsibilities[:, code]))
        return self.curvature(
            class_weights, Moments(class_weights, class_weights, np.array(sums), np.array(scatters))
        )

    def curvature(self, class_weights: FloatArray, moments: Moments) -> FloatArray:
        """Minus the Hessian of the log-likelihood with the given class weights and moments, (d, d)."""
        require_interior("class_probabilities", self.class_probabilities)
        parts = self.spread.curvature(moments)
        corner = block_diag(row_curvature(class_weights, self.class_probabilities), *parts.means)
        cross = np.zeros((len(corner), parts.spread.shape[0]))
        cross[self.n_classes - 1 :] = parts.cross.reshape(self.n_classes * self.n_features, -1)
        return np.asarray(np.block([[corner, cross], [cross.T, parts.spread]]))

    def divergence(self, other: Self) -> float:
        """Half the squared step in the complete information, in nats per sample."""
        classes = 2 * float(squared_distance(self.class_probabilities, other.class_probabilities))
        return classes + self.spread.half_squared_step(
            other.covariances, other.means - self.means, self.class_probabilities
        )

    def to_arrays(self) -> dict[str, AnyArray]:
        """The tables; the name of the last one says which kind of covariance it is."""
        return {
            "class_probabilities": self.class_probabilities,
            "means": self.means,
            _TABLES[self.covariance]: self.covariances,
        }

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, AnyArray],
        *,
        classes: tuple[Hashable, ...],
        feature_names: tuple[str, ...] | None = None,
    ) -> Self:
        for covariance in get_args(Covariance):
            if _TABLES[covariance] in arrays:
                return cls(
                    classes,
                    stored(arrays, "class_probabilities"),
                    stored(arrays, "means"),
                    arrays[_TABLES[covariance]],
                    covariance,
                    feature_names,
                )
        raise InvalidInputError("The stored model lacks its covariances; the file is damaged or of another kind.")


def _spread_block(covariance: Covariance, classes: list[str], features: list[str]) -> Block:
    """The named table of one kind of covariance."""
    table = _TABLES[covariance]
    if covariance == "diagonal":
        return FreeTable(table, classes, features, low=0.0)
    return SymmetricMatrices(table, [""] if covariance == "shared" else classes, features)
