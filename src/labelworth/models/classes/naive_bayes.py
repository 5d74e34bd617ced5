"""What multinomial and Bernoulli models share: a class, and features drawn independently given the class.

Given the class a sample is a number of independent draws from rows of probabilities: a document is m draws from one
row over all words, a binary vector is one draw from each of V rows of two, present or absent. In terms of these
*cells*, shape (K, rows, columns), scores, curvatures, distances and priors are the same for both.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from labelworth.arrays import AnyArray, FloatArray, as_floats, require_shape
from labelworth.data.counts import as_counts
from labelworth.data.samples import Samples
from labelworth.kernels.rows.tables import sum_of_logarithms
from labelworth.models.coordinates import Coordinates
from labelworth.models.doors import (
    check_family,
    require_classes,
    require_feature_names,
    require_features,
    require_rows_for,
    stored,
)
from labelworth.models.probability_rows import (
    require_interior,
    require_rows,
    row_curvature,
    row_scores,
    squared_distance,
)


@dataclass(frozen=True, eq=False)
class NaiveBayesModel(ABC):
    """Class probabilities, and one table (K, V) of probabilities of features given the class."""

    table_name: ClassVar[str]

    classes: tuple[Hashable, ...]  # What the class codes stand for.
    class_probabilities: FloatArray  # (K,)

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...] | None:
        """What the columns stand for, if they have names."""

    @property
    @abstractmethod
    def coordinates(self) -> Coordinates:
        """Class probabilities, then a row of the table per class."""

    @property
    @abstractmethod
    def cells(self) -> FloatArray:
        """The rows of probabilities that a sample is drawn from, (K, rows, columns)."""

    @property
    @abstractmethod
    def n_draws(self) -> float:
        """How many draws from every row of cells a sample is expected to have."""

    @abstractmethod
    def as_cells(self, sums: FloatArray, totals: FloatArray) -> FloatArray:
        """Counts in cells, (n, rows, columns), from sums of features (n, V) over `totals` (n,) samples."""

    @abstractmethod
    def checked_counts(self, samples: Samples) -> sp.csr_array:
        """The features, if the model can have drawn such; without stored zeros."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", require_classes(self.classes))
        priors = as_floats("class_probabilities", self.class_probabilities, ndim=1)
        require_rows("class_probabilities", priors)
        table = as_floats(self.table_name, self._table, ndim=2)
        object.__setattr__(self, "class_probabilities", priors)
        object.__setattr__(self, self.table_name, table)
        require_shape("class_probabilities", priors, (self.n_classes,))
        require_shape(self.table_name, table, (self.n_classes, self.n_features))
        names = require_feature_names(self.feature_names, self.n_features)
        object.__setattr__(self, "feature_names", names)

    @property
    def _table(self) -> FloatArray:
        table: FloatArray = getattr(self, self.table_name)
        return table

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_features(self) -> int:
        return int(self._table.shape[1])

    @property
    def tables(self) -> dict[str, FloatArray]:
        """``class_probabilities`` (1, K) and the table of the features (K, V)."""
        return {"class_probabilities": self.class_probabilities[None, :], self.table_name: self._table}

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        """The same classes and features with other probabilities."""
        changed: dict[str, Any] = {
            "class_probabilities": np.ravel(tables["class_probabilities"]),
            self.table_name: tables[self.table_name],
        }
        return replace(self, **changed)

    def to_arrays(self) -> dict[str, AnyArray]:
        return {"class_probabilities": self.class_probabilities, self.table_name: self._table}

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, AnyArray],
        *,
        classes: tuple[Hashable, ...],
        feature_names: tuple[str, ...] | None = None,
    ) -> Self:
        values: dict[str, Any] = {name: stored(arrays, name) for name in ("class_probabilities", cls.table_name)}
        values |= {"classes": classes, "feature_names": feature_names, **cls._further(arrays)}
        return cls(**values)

    @classmethod
    def _further(cls, arrays: Mapping[str, AnyArray]) -> dict[str, Any]:
        """What a model holds besides its tables."""
        return {}

    @cached_property
    def log_class_probabilities(self) -> FloatArray:
        """log pi, minus infinity for zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.class_probabilities)

    def complete_information(self) -> FloatArray:
        r"""Information of one labeled sample, (d, d).

        Block diagonal: :math:`\operatorname{diag}(1/\pi) + 1/\pi_K` for the classes, and
        :math:`\pi_k m (\operatorname{diag}(1/p) + 1/p_{last})` for every row p of cells of class k, from which m
        draws are expected.
        """
        expected = self.n_draws * self.class_probabilities[:, None, None] * self.cells
        return self.curvature(self.class_probabilities, expected)

    def class_scores(self, samples: Samples) -> FloatArray:
        """Gradient of log p(x, y) in free coordinates for every sample and class, (n, K, d)."""
        self._require_interior()
        features = self.checked_counts(samples).toarray()
        counts, n_samples = self.as_cells(features, np.ones(len(features))), len(features)
        scores = np.zeros((n_samples, self.n_classes, self.coordinates.n_free))
        scores[:, :, : self.n_classes - 1] = row_scores(np.eye(self.n_classes), self.class_probabilities)
        start = self.n_classes - 1
        for code, cells in enumerate(self.cells):
            in_cells = row_scores(counts, cells).reshape(n_samples, -1)
            stop = start + in_cells.shape[1]
            scores[:, code, start:stop] = in_cells
            start = stop
        return scores

    def complete_curvature(self, samples: Samples, responsibilities: FloatArray) -> FloatArray:
        """Minus the Hessian of sum_i sum_k r_ik log p(x_i, k), (d, d)."""
        counts = self.checked_counts(samples)
        require_shape("responsibilities", responsibilities, (samples.n_samples, self.n_classes))
        class_weights = responsibilities.sum(axis=0)
        return self.curvature(
            class_weights, self.as_cells(np.asarray((counts.T @ responsibilities).T), class_weights)
        )

    def curvature(self, class_weights: FloatArray, cell_counts: FloatArray) -> FloatArray:
        """Minus the Hessian of sum_k N_k log pi_k + sum of N log p over all cells, (d, d)."""
        self._require_interior()
        blocks = [row_curvature(class_weights, self.class_probabilities)]
        n_columns = cell_counts.shape[-1]
        rows = zip(cell_counts.reshape(-1, n_columns), self.cells.reshape(-1, n_columns), strict=True)
        return np.asarray(block_diag(*blocks, *(row_curvature(counts, cells) for counts, cells in rows)))

    def divergence(self, other: Self) -> float:
        """Half the squared step in the complete information, in nats per sample."""
        per_class = squared_distance(*(model.cells.reshape(self.n_classes, -1) for model in (self, other)))
        features = self.n_draws * float(self.class_probabilities @ per_class)
        return 2 * (float(squared_distance(self.class_probabilities, other.class_probabilities)) + features)

    def _require_interior(self) -> None:
        require_interior("class_probabilities", self.class_probabilities)
        require_interior(self.table_name, self._table)


NaiveBayesT = TypeVar("NaiveBayesT", bound=NaiveBayesModel)


@dataclass(frozen=True, eq=False)
class NaiveBayesFamily(ABC, Generic[NaiveBayesT]):
    """Such models with a Dirichlet prior: the objective gains `smoothing` log p for every cell."""

    classes: tuple[Hashable, ...]  # What the class codes stand for.
    n_features: int  # The number of columns, V.
    smoothing: float = 1.0  # 0 for plain maximum likelihood.
    class_smoothing: float = 1.0  # The same for the class probabilities.
    feature_names: tuple[str, ...] | None = None  # What the columns stand for.

    def __post_init__(self) -> None:
        check_family(self, ("smoothing", "class_smoothing"))

    @classmethod
    def for_samples(cls, samples: Samples, *, smoothing: float = 1.0, class_smoothing: float = 1.0) -> Self:
        """The family with the classes, columns and names of `samples`."""
        return cls(samples.evidence.classes, samples.n_features, smoothing, class_smoothing, samples.feature_names)

    def log_prior(self, model: NaiveBayesT) -> float:
        """Smoothing times the sum of the log probabilities; 0 without smoothing."""
        total = 0.0
        if self.class_smoothing:
            total += self.class_smoothing * float(model.log_class_probabilities.sum())
        if self.smoothing:
            total += self.smoothing * sum_of_logarithms(model.cells)
        return total

    def prior_curvature(self, model: NaiveBayesT) -> FloatArray:
        """Minus the Hessian of the log prior: that of `smoothing` more counts in every cell, (d, d)."""
        return model.curvature(
            np.full(len(self.classes), self.class_smoothing), np.full(model.cells.shape, self.smoothing)
        )

    def smoother(self, factor: float) -> Self:
        """The same family with priors `factor` times as strong; as strong as `factor` where there is none."""
        return replace(
            self,
            smoothing=factor * (self.smoothing or 1.0),
            class_smoothing=factor * (self.class_smoothing or 1.0),
        )

    def _checked_counts(self, samples: Samples, row_weights: FloatArray) -> sp.csr_array:
        self._require_fitting(samples, row_weights)
        return as_counts(samples.counts)

    def _require_fitting(self, samples: Samples, row_weights: FloatArray) -> None:
        require_features(samples, self.n_features)
        require_rows_for(samples, self.classes, row_weights)
