"""What n rows add to the pseudo-true point: every row pulls the fit towards itself, and the fit is noisy.

The pseudo-true path is the limit of endless data. With a few rows per parameter a fitted model is surer of the very
rows it was fitted to than it would be of new ones, and its noise blurs what it says of them. Both change where EM comes
to rest. Derivation: docs/derivations/robust.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

import numpy as np
from scipy.special import softmax
from scipy.stats import norm, qmc

from labelworth.arrays import FloatArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.models.protocol import Family, Model, ModelT
from labelworth.progress import SILENT, Progress, tracking
from labelworth.robust.row_forms import RowForms
from labelworth.robust.sandwich import Sandwich
from labelworth.robust.score_moments import require_population

_HERMITE_NODES = 9
_SOBOL_NODES = 64
_POSTERIOR_STEPS = 10
_EM_STEPS = 8
_MAX_ROUNDS = 60
_SETTLED = 1e-6
_DRIFT_STEP = 1e-2
_DRIFT_EVERY = 5
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class FiniteSamplePoint(Generic[ModelT]):
    """Where the estimate at size n is centered, and how it spreads.

    Attributes
    ----------
    model : Model
        The center of theta_hat.
    sandwich : Sandwich
        Its spread, times n.
    self_influence : float
        By how much the log-odds of a hidden row exceed what the same model would say had it not seen the row, were its
        class certain: the mean over rows. Far above 4 the likelihood has many maxima.
    converged : bool
        Whether the rounds settled.
    """

    model: ModelT
    sandwich: Sandwich
    self_influence: float
    converged: bool


@dataclass
class _Corrections:
    """Per row: `influence` (n, K, K), the pull of the row on itself; `spread` (n, K, K-1), a root of the noise;
    `drift` (n, K), what the noise does to log p(x, y) on average.
    """

    influence: FloatArray
    spread: FloatArray
    drift: FloatArray

    @classmethod
    def none(cls, n_rows: int, n_classes: int) -> "_Corrections":
        shape = (n_rows, n_classes)
        return cls(np.zeros((*shape, n_classes)), np.zeros((*shape, n_classes - 1)), np.zeros(shape))

    def halfway(self, other: "_Corrections") -> "_Corrections":
        """The mean of the old and the new: the rounds swing less."""
        return _Corrections(
            (self.influence + other.influence) / 2, (self.spread + other.spread) / 2, (self.drift + other.drift) / 2
        )


def finite_sample_path(
    family: Family[ModelT],
    population: Samples,
    fractions: Sequence[float] | FloatArray,
    *,
    n_samples: float,
    unlabeled_weight: float = 1.0,
    random_labels: bool = True,
    progress: Progress = SILENT,
) -> list[FiniteSamplePoint[ModelT]]:
    r"""Follow the center and the spread of the estimate at size n, from full labels down to few.

    Leaving row i out changes the estimate by :math:`H^{-1} \beta \sum_k p_{ik} s_{ik} / n`, so the posterior of a hidden
    row under the model fitted to it solves

    .. math::

        p_i = \operatorname{softmax}\bigl(\log p(x_i, \cdot) + \varepsilon_i + G_i p_i\bigr), \quad
        G_i = \beta\, s_i H^{-1} s_i' / n, \quad \varepsilon_i \sim N(\tfrac12 \operatorname{tr}(\nabla^2 \log p(x_i, \cdot)\, C),\; s_i C s_i')

    with :math:`s_i` the (K, d) class scores and :math:`C = H^{-1} J H^{-1} / n`. The center is the fixed point of EM with these posteriors, averaged over
    :math:`\varepsilon`; H and J are those of the same posteriors. As n grows both corrections vanish like d / n and the
    point becomes the pseudo-true one with its sandwich.

    Parameters
    ----------
    family, population, fractions, n_samples, unlabeled_weight
        As for `pseudo_true_path`.
    random_labels : bool
        Whether a coin decides for each sample if it is labeled, or their number is fixed.

    Returns
    -------
    list of FiniteSamplePoint
        One per fraction, in the order given.
    """
    require_population(population)
    fixed: Any = family.adapted(population, population.sample_weights)
    rounds = _Rounds(fixed, population, float(n_samples), unlabeled_weight, random_labels)
    found: dict[float, FiniteSamplePoint[ModelT]] = {}
    values = sorted({float(fraction) for fraction in fractions}, reverse=True)
    with tracking(progress, "finite-sample path", len(values)) as task:
        for value in values:
            found[value] = rounds.settle(value)
            task.advance()
    return [found[float(fraction)] for fraction in fractions]


@dataclass
class _Rounds(Generic[ModelT]):
    """The fixed point, walked from one fraction to the next."""

    family: Family[ModelT]
    population: Samples
    n_samples: float
    unlabeled_weight: float
    random_labels: bool
    model: ModelT = field(init=False)
    corrections: _Corrections = field(init=False)

    def __post_init__(self) -> None:
        evidence = self.population.evidence
        self.gold = np.eye(evidence.n_classes)[evidence.codes]
        self.shares = self.population.sample_weights / self.population.sample_weights.sum()
        self.nodes, self.node_weights = normal_nodes(evidence.n_classes - 1)
        self.corrections = _Corrections.none(self.population.n_samples, evidence.n_classes)
        self.model = self._maximized(1.0, self.gold)

    def settle(self, fraction: float) -> FiniteSamplePoint[ModelT]:
        converged = False
        variance = np.inf
        for number in range(_MAX_ROUNDS):
            before, before_variance = self.model, variance
            for _ in range(_EM_STEPS):
                self.model = self._maximized(fraction, self._posteriors() @ self.node_weights)
            found, forms = self._spread(fraction)
            variance = found.total_variance
            moved = self.n_samples * named_distance(self.model, before)
            converged = moved <= _SETTLED * variance and abs(variance - before_variance) <= _SETTLED * variance
            self._correct(found, forms, renew_drift=number % _DRIFT_EVERY == 0)
            if converged or fraction == 1.0:
                break
        return FiniteSamplePoint(self.model, found, self._mean_influence(), converged or fraction == 1.0)

    def _posteriors(self) -> FloatArray:
        """In-sample posteriors of the hidden rows at every node of the noise, (n, K, n_nodes)."""
        noise = np.einsum("nkj,mj->nkm", self.corrections.spread, self.nodes)
        center = self.model.log_joint(self.population) + self.corrections.drift
        logits = center[:, :, None] + noise
        # Begin with the class the row leans to: of two resting places that is the higher one.
        posteriors = (logits == logits.max(axis=1, keepdims=True)).astype(np.float64)
        for _ in range(_POSTERIOR_STEPS):
            posteriors = softmax(logits + np.matmul(self.corrections.influence, posteriors), axis=1)
        return posteriors

    def _maximized(self, fraction: float, hidden: FloatArray) -> ModelT:
        """The M-step: rows shared out among the classes as told, n samples in all."""
        hidden_share = (1 - fraction) * self.unlabeled_weight
        weights = fraction * self.gold + hidden_share * hidden
        totals = weights.sum(axis=1)
        codes = -2 - np.arange(len(totals))
        soft = Samples(
            self.population.features,
            Evidence(codes, self.population.evidence.classes, weights / totals[:, None]),
            feature_names=self.population.feature_names,
        )
        prepared = self.family.prepare(soft, self.n_samples * self.shares * totals)
        return self.family.maximize(prepared.expectation(self.family.neutral()).statistics)

    def _spread(self, fraction: float) -> tuple[Sandwich, RowForms]:
        """Bread and meat with the in-sample posteriors of the hidden rows."""
        posteriors = self._posteriors()
        mean = posteriors @ self.node_weights
        square = np.einsum("nkm,nlm,m->nkl", posteriors, posteriors, self.node_weights, optimize=True)
        hidden_share = (1 - fraction) * self.unlabeled_weight
        forms = RowForms(self.model, self.population)
        given_x = np.einsum("nk,kl->nkl", mean, np.eye(mean.shape[1])) - square
        responsibilities = fraction * self.gold + hidden_share * mean
        bread = self.model.complete_curvature(
            self.population.weighted(None), responsibilities * self.shares[:, None]
        ) - forms.total(hidden_share * self.shares[:, None, None] * given_x)
        bread += self.family.prior_curvature(self.model) / self.n_samples
        labeled = np.einsum("nk,nl->nkl", self.gold, self.gold)
        raw = fraction * labeled + hidden_share * self.unlabeled_weight * square
        labeled_mean = forms.mean(self.gold * self.shares[:, None])
        hidden_mean = self.unlabeled_weight * forms.mean(mean * self.shares[:, None])
        meat = forms.total(self.shares[:, None, None] * raw)
        if self.random_labels:
            center = fraction * labeled_mean + (1 - fraction) * hidden_mean
            meat -= np.outer(center, center)
        else:
            meat -= fraction * np.outer(labeled_mean, labeled_mean)
            meat -= (1 - fraction) * np.outer(hidden_mean, hidden_mean)
        return Sandwich(self.model.coordinates, bread, meat), forms

    def _correct(self, found: Sandwich, forms: RowForms, *, renew_drift: bool) -> None:
        covariance = found.covariance / self.n_samples
        self.corrections = self.corrections.halfway(
            _Corrections(
                self.unlabeled_weight * forms.each(found.inverse_bread / self.n_samples),
                contrast_root(forms.each(covariance)),
                # It costs d passes and hardly moves.
                expected_drift(self.model, self.population, covariance) if renew_drift else self.corrections.drift,
            )
        )

    def _mean_influence(self) -> float:
        """Mean over rows of the largest pull between two classes."""
        influence = self.corrections.influence
        diagonal = np.einsum("nkk->nk", influence)
        between = diagonal[:, :, None] + diagonal[:, None, :] - 2 * influence
        return float(self.shares @ between.max(axis=(1, 2)))


def named_distance(first: ModelT, second: ModelT) -> float:
    """Squared distance of two models in their named tables."""
    coordinates = first.coordinates
    gap = coordinates.flatten_named(first.tables) - coordinates.flatten_named(second.tables)
    return float(gap @ gap)


def expected_drift(model: Model, population: Samples, covariance: FloatArray) -> FloatArray:
    r"""What noise of this covariance does to log p(x, y) on average, :math:`\tfrac12 \operatorname{tr}(\nabla^2 a\, C)`.

    By second differences of log p(x, y) along every column of a root of C.

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
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return np.concatenate([root, np.zeros((len(root), 1, root.shape[2]))], axis=1)


def normal_nodes(dimension: int) -> tuple[FloatArray, FloatArray]:
    """Nodes (m, dimension) and weights (m,) of a standard normal: Gauss-Hermite on a line, else a fixed Sobol set."""
    if dimension == 1:
        nodes, weights = np.polynomial.hermite_e.hermegauss(_HERMITE_NODES)
        return nodes[:, None], weights / weights.sum()
    uniform = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(0)).random(_SOBOL_NODES // 2)
    half = norm.ppf(uniform)
    return np.concatenate([half, -half]), np.full(_SOBOL_NODES, 1 / _SOBOL_NODES)
