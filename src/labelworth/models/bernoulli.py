"""How Bernoulli models are fitted: expected presences, smoothed shares."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.counts import as_counts
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.bernoulli_model import BernoulliModel, require_binary
from labelworth.models.doors import (
    require_classes,
    require_feature_names,
    require_features,
    require_rows_for,
    require_strength,
)
from labelworth.models.probability_rows import require_resolved, smoothed_rows
from labelworth.models.protocol import Pass
from labelworth.models.sharded_pass import ShardedPass

__all__ = ["BernoulliFamily", "BernoulliModel"]


@dataclass(frozen=True, eq=False)
class BernoulliFamily:
    r"""Bernoulli models with a Beta prior.

    The objective gains :math:`a \sum_k \log \pi_k + \alpha \sum_{kv} (\log \theta_{kv} + \log (1 - \theta_{kv}))`, so
    that the maximizer for labeled data is :math:`\hat\theta_{kv} = (N_{kv} + \alpha) / (N_k + 2 \alpha)`.

    Attributes
    ----------
    classes : tuple
        What the class codes stand for.
    n_features : int
        The number of columns, V.
    smoothing : float
        :math:`\alpha`; 0 for plain maximum likelihood.
    class_smoothing : float
        :math:`a`, the same for the class probabilities.
    feature_names : tuple of str, optional
        What the columns stand for.
    """

    classes: tuple[Hashable, ...]
    n_features: int
    smoothing: float = 1.0
    class_smoothing: float = 1.0
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.n_features < 1:
            raise InvalidInputError(f"n_features must be at least 1. Got {self.n_features} instead.")
        object.__setattr__(self, "classes", require_classes(self.classes))
        object.__setattr__(self, "smoothing", require_strength("smoothing", self.smoothing))
        object.__setattr__(self, "class_smoothing", require_strength("class_smoothing", self.class_smoothing))
        names = require_feature_names(self.feature_names, self.n_features)
        object.__setattr__(self, "feature_names", names)

    @classmethod
    def for_samples(cls, samples: Samples, *, smoothing: float = 1.0, class_smoothing: float = 1.0) -> Self:
        """The family with the classes, columns and names of `samples`."""
        return cls(samples.evidence.classes, samples.n_features, smoothing, class_smoothing, samples.feature_names)

    def adapted(self, samples: Samples, row_weights: FloatArray) -> Self:
        """Nothing is read off the features."""
        return self

    def prepare(self, samples: Samples, row_weights: FloatArray) -> Pass[BernoulliModel]:
        """Check the samples and lay them out."""
        require_features(samples, self.n_features)
        require_rows_for(samples, self.classes, row_weights)
        counts = as_counts(samples.counts)
        require_binary(counts)
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

    def log_prior(self, model: BernoulliModel) -> float:
        """Smoothing times the sum of the log probabilities of presence and absence; 0 without smoothing."""
        total = 0.0
        with np.errstate(divide="ignore"):
            if self.class_smoothing:
                total += self.class_smoothing * float(np.log(model.class_probabilities).sum())
            if self.smoothing:
                table = model.feature_probabilities
                total += self.smoothing * float((np.log(table) + np.log1p(-table)).sum())
        return total

    def prior_curvature(self, model: BernoulliModel) -> FloatArray:
        """Minus the Hessian of the log prior: that of `smoothing` more presences and absences, (d, d)."""
        pseudo = np.full((len(self.classes), self.n_features), self.smoothing)
        return model.curvature(np.full(len(self.classes), self.class_smoothing), pseudo, pseudo)

    def smoother(self, factor: float) -> Self:
        """The same family with priors `factor` times as strong; as strong as `factor` where there is none."""
        return replace(
            self,
            smoothing=factor * (self.smoothing or 1.0),
            class_smoothing=factor * (self.class_smoothing or 1.0),
        )


def _presences(counts: Any, responsibilities: FloatArray) -> dict[str, FloatArray]:
    return {"presences": np.ascontiguousarray((counts.T @ responsibilities).T)}
