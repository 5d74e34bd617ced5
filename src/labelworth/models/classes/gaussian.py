"""How Gaussian models are fitted: expected moments around the center of the data, and a conjugate prior."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from labelworth.arrays import FloatArray, as_floats, require_shape
from labelworth.data.counts import as_vectors
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.classes.gaussian_model import Covariance, GaussianModel, require_covariance
from labelworth.models.classes.responsibilities import ShardedPass
from labelworth.models.classes.spread import Moments
from labelworth.models.doors import check_family, require_features, require_rows_for
from labelworth.models.probability_rows import smoothed_rows
from labelworth.models.protocol import Pass


def moments_around(center: FloatArray, covariance: Covariance) -> Callable[[Any, FloatArray], dict[str, FloatArray]]:
    """First and second moments around the center of the data, where they do not cancel."""

    def moments(vectors: Any, responsibilities: FloatArray) -> dict[str, FloatArray]:
        centered = vectors - center
        if covariance == "diagonal":
            squares = responsibilities.T @ np.square(centered)
        elif covariance == "shared":
            squares = ((centered * responsibilities.sum(axis=1)[:, None]).T @ centered)[None]
        else:
            squares = np.stack([(centered * column[:, None]).T @ centered for column in responsibilities.T])
        return {"sums": responsibilities.T @ centered, "squares": squares}

    return moments


def _weighted_sum(vectors: Any, weights: FloatArray) -> FloatArray:
    return np.asarray(weights @ as_vectors(vectors))


def _weighted_squares(center: FloatArray, vectors: Any, weights: FloatArray) -> FloatArray:
    return np.asarray(weights @ np.square(as_vectors(vectors) - center))


def _ends(vectors: Any, weights: FloatArray) -> FloatArray:
    return np.stack([vectors.min(axis=0), vectors.max(axis=0)])


def require_varying(samples: Samples, feature_names: tuple[str, ...] | None) -> None:
    """Refuse features without variance: a Gaussian has no density there."""
    if samples.n_samples < 2:
        raise InvalidInputError("Got 1 sample: the spread of a Gaussian needs at least 2; give more.")
    ends = np.concatenate(list(samples.each(_ends, samples.sample_weights)))
    constant = np.flatnonzero(ends.min(axis=0) == ends.max(axis=0))
    if constant.size:
        names = ", ".join(feature_names[position] if feature_names else str(position) for position in constant[:8])
        raise InvalidInputError(
            f"{constant.size} feature(s) never vary (columns {names}{', ..' if constant.size > 8 else ''}): "
            "they say nothing about the class and have no variance. Leave them out."
        )


__all__ = ["GaussianFamily", "GaussianModel"]

_SMALLEST = 1e-100  # variance
_COLLAPSED = 1e-13  # of the variance of the data: what rounding makes of moments that cancel


@dataclass(frozen=True, eq=False)
class GaussianFamily:
    r"""Gaussian models with a normal-inverse-Wishart prior around the data as a whole.

    With the center :math:`m_0` and the variances :math:`s_0^2` of all features, the objective gains

    .. math::

        a \sum_k \log \pi_k - \tfrac12 \sum_k \kappa\, (\mu_k - m_0)' C_k^{-1} (\mu_k - m_0)
        - \tfrac12 \sum_C \nu\, \bigl(\log \det C + \operatorname{tr}(C^{-1} \operatorname{diag} s_0^2)\bigr)

    (one term per distinct covariance C), as if every class had :math:`\kappa` more samples at the center, and every
    covariance :math:`\nu` more with the spread of the whole data. It keeps the likelihood bounded: without it a class
    could collapse onto a single sample.
    """

    classes: tuple[Hashable, ...]  # What the class codes stand for.
    n_features: int  # The dimension, D.
    # One covariance for all classes, variances per class, or a covariance per class.
    covariance: Covariance = "shared"
    smoothing: float = 1.0  # :math:`\nu`.
    mean_smoothing: float = 0.01  # :math:`\kappa`.
    class_smoothing: float = 1.0  # :math:`a`, a Dirichlet prior on the class probabilities.
    center: FloatArray | None = None  # (D,), optional: :math:`m_0` and :math:`s_0^2`; read off the data when absent.
    variances: FloatArray | None = None
    feature_names: tuple[str, ...] | None = None  # What the columns stand for.

    def __post_init__(self) -> None:
        check_family(self, ("smoothing", "mean_smoothing", "class_smoothing"))
        require_covariance(self.covariance)
        for name in ("center", "variances"):
            if getattr(self, name) is not None:
                values = as_floats(name, getattr(self, name), ndim=1)
                require_shape(name, values, (self.n_features,))
                object.__setattr__(self, name, values)
        if self.variances is not None and not (self.variances > 0).all():
            raise InvalidInputError(f"variances must be positive. Got {self.variances.min():g} instead.")

    @classmethod
    def for_samples(
        cls,
        samples: Samples,
        covariance: Covariance = "shared",
        *,
        smoothing: float = 1.0,
        mean_smoothing: float = 0.01,
        class_smoothing: float = 1.0,
    ) -> Self:
        """The family with the classes, columns and names of `samples`."""
        return cls(
            samples.evidence.classes,
            samples.n_features,
            covariance,
            smoothing,
            mean_smoothing,
            class_smoothing,
            feature_names=samples.feature_names,
        )

    def adapted(self, samples: Samples, row_weights: FloatArray) -> Self:
        """Read center and variances of every feature off the rows, each counting its weight."""
        if self.center is not None and self.variances is not None:
            return self
        weights = row_weights / row_weights.sum()
        center = sum(samples.each(_weighted_sum, weights)) if self.center is None else self.center
        if self.variances is not None:
            return replace(self, center=center)
        require_varying(samples, self.feature_names)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            variances = sum(samples.each(partial(_weighted_squares, center), weights))
        if not (variances.min() >= _SMALLEST and variances.max() <= 1 / _SMALLEST):
            raise InvalidInputError(
                f"The variances of the features run from {variances.min():g} to {variances.max():g}, beyond what "
                "products of doubles can hold; scale the features to moderate numbers."
            )
        return replace(self, center=center, variances=variances)

    def prepare(self, samples: Samples, row_weights: FloatArray) -> Pass[GaussianModel]:
        """Check the samples and lay them out."""
        require_features(samples, self.n_features)
        require_rows_for(samples, self.classes, row_weights)
        vectors = as_vectors(samples.vectors)
        work = np.arange(len(vectors) + 1) * (self.n_features + len(self.classes))
        center, _ = self._references()
        return ShardedPass(vectors, samples.evidence, row_weights, work, moments_around(center, self.covariance))

    def neutral(self) -> GaussianModel:
        """Every class at the center with the variances of the whole data."""
        n_classes = len(self.classes)
        center, _ = self._references()
        means = np.tile(center, (n_classes, 1))
        return self._model(np.full(n_classes, 1 / n_classes), means, self._pseudo_spread(1.0))

    def maximize(self, statistics: Mapping[str, FloatArray]) -> GaussianModel:
        """Posterior modes: moments with those of the pseudo-samples added."""
        class_weights, sums, squares = (statistics[name] for name in ("class_weights", "sums", "squares"))
        center, _ = self._references()
        mean_weights = class_weights + self.mean_smoothing
        # A class without samples and without prior is maximized by any mean: the center.
        offsets = sums / np.where(mean_weights > 0, mean_weights, 1.0)[:, None]
        if self.covariance == "diagonal":
            between = mean_weights[:, None] * np.square(offsets)
            totals = class_weights[:, None]
        else:
            between = mean_weights[:, None, None] * np.einsum("ka,kb->kab", offsets, offsets)
            totals = class_weights[:, None, None]
            if self.covariance == "shared":
                between, totals = between.sum(axis=0, keepdims=True), totals.sum(axis=0, keepdims=True)
        scatter = squares - between + self._pseudo_spread(self.smoothing)
        weights = totals + self.smoothing
        spread = np.where(weights > 0, scatter / np.where(weights > 0, weights, 1.0), self._pseudo_spread(1.0))
        if self.covariance != "diagonal":
            spread = 0.5 * (spread + spread.transpose(0, 2, 1))  # products of matrices are symmetric only to rounding
        model = self._model(smoothed_rows(class_weights, self.class_smoothing), center + offsets, spread)
        self._require_spread(model)
        return model

    def _require_spread(self, model: GaussianModel) -> None:
        """Refuse a class that fell onto a point, line or plane: its likelihood has no bound."""
        _, variances = self._references()
        smallest = float((model.spread.residual_variances / variances).min())
        if smallest < _COLLAPSED:
            raise InvalidInputError(
                f"A class has shrunk to {smallest:.1g} of the variance of the data in some direction, where its "
                "likelihood has no bound: too few samples, or features that depend on each other. Use a stronger "
                "prior (smoothing), a shared or diagonal covariance, or fewer features."
            )

    def log_prior(self, model: GaussianModel) -> float:
        """The log-density of the prior, without its constant."""
        total = 0.0
        if self.class_smoothing:
            with np.errstate(divide="ignore"):
                total += self.class_smoothing * float(np.log(model.class_probabilities).sum())
        center, variances = self._references()
        offsets = model.means - center
        if self.covariance == "diagonal":
            spread = model.covariances
            determinants = (np.log(spread) + variances / spread).sum()
            distances = (np.square(offsets) / spread).sum()
        else:
            precisions = np.linalg.inv(model.covariances)
            determinants = np.linalg.slogdet(model.covariances)[1].sum()
            determinants += np.einsum("kaa,a->", precisions, variances)
            distances = np.einsum(
                "ka,kab,kb->", offsets, np.broadcast_to(precisions, (len(offsets), *precisions.shape[1:])), offsets
            )
        return total - 0.5 * (self.mean_smoothing * float(distances) + self.smoothing * float(determinants))

    def prior_curvature(self, model: GaussianModel) -> FloatArray:
        """Minus the Hessian of the log prior: that of the pseudo-samples, (d, d)."""
        n_classes = len(self.classes)
        center, variances = self._references()
        offsets = center - model.means
        # A shared covariance has the pseudo-samples once, so each class carries its part of them.
        strength = self.smoothing / n_classes if self.covariance == "shared" else self.smoothing
        if self.covariance == "diagonal":
            scatters = strength * variances + self.mean_smoothing * np.square(offsets)
        else:
            scatters = strength * np.diag(variances) + self.mean_smoothing * np.einsum("ka,kb->kab", offsets, offsets)
        moments = Moments(
            np.full(n_classes, self.mean_smoothing),
            np.full(n_classes, strength),
            self.mean_smoothing * offsets,
            scatters,
        )
        return model.curvature(np.full(n_classes, self.class_smoothing), moments)

    def smoother(self, factor: float) -> Self:
        """The same family with priors `factor` times as strong; as strong as `factor` where there is none."""
        return replace(
            self,
            smoothing=factor * (self.smoothing or 1.0),
            mean_smoothing=factor * (self.mean_smoothing or 1.0),
            class_smoothing=factor * (self.class_smoothing or 1.0),
        )

    def _references(self) -> tuple[FloatArray, FloatArray]:
        if self.center is None or self.variances is None:
            raise InvalidInputError(
                "The family knows no center and variances; give them, or use adapted(samples, ..)."
            )
        return self.center, self.variances

    def _pseudo_spread(self, strength: float) -> FloatArray:
        """`strength` times the variances of the whole data, in the shape of the covariances."""
        _, variances = self._references()
        n_classes = len(self.classes)
        if self.covariance == "diagonal":
            return np.asarray(strength * np.tile(variances, (n_classes, 1)))
        n_matrices = 1 if self.covariance == "shared" else n_classes
        return np.asarray(strength * np.tile(np.diag(variances), (n_matrices, 1, 1)))

    def _model(self, class_probabilities: FloatArray, means: FloatArray, spread: FloatArray) -> GaussianModel:
        return GaussianModel(self.classes, class_probabilities, means, spread, self.covariance, self.feature_names)
