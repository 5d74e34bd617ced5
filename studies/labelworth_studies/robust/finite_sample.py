"""What n rows add to the pseudo-true point: every row pulls the fit towards itself, and the fit is noisy.

The pseudo-true path is the limit of endless data. With a few rows per parameter a fitted model is surer of the very
rows it was fitted to than it would be of new ones, and its noise blurs what it says of them. Both change where EM
comes to rest. Derivation: docs/derivations/robust.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.models.protocol import Family, Model, ModelT
from labelworth.progress import SILENT, Progress, tracking
from labelworth.robust.row_forms import RowForms
from labelworth_studies.robust.corrections import Corrections, contrast_root, expected_drift, normal_nodes
from labelworth_studies.robust.sandwich import Sandwich, require_population

_MAX_STEPS = 200
_MAX_ROUNDS = 60
_ROUNDS_BETWEEN = 3
_SETTLED = 1e-4  # squared moves, against the variance
_STILL = 1e-6
_DRIFT_EVERY = 5
_LONGEST_STEP = 1.5


@dataclass(frozen=True, eq=False)
class FiniteSamplePoint(Generic[ModelT]):
    """Where the estimate at size n is centered, and how it spreads."""

    model: ModelT  # The center of theta_hat.
    sandwich: Sandwich  # Its spread, times n.
    # By how much fitting a hidden row can raise its own log-odds between two classes, averaged over the rows. A
    # row beyond 4 can settle in either class: the likelihood then has many maxima.
    self_influence: float
    converged: bool  # Whether the rounds settled.


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

    Leaving row i out changes the estimate by :math:`H^{-1} \beta \sum_k p_{ik} s_{ik} / n`, so the posterior of a
    hidden row under the model fitted to it solves

    .. math::

        p_i &= \operatorname{softmax}\bigl(a_i + \varepsilon_i + G_i p_i\bigr), \qquad
            a_i = \log p(x_i, \cdot), \quad G_i = \beta\, s_i H^{-1} s_i' / n \\
        \varepsilon_i &\sim N\bigl(\tfrac12 \operatorname{tr}(\nabla^2 a_i\, C),\; s_i C s_i'\bigr), \qquad
            C = H^{-1} J H^{-1} / n

    with :math:`s_i` the (K, d) class scores. The center is the fixed point of EM with these posteriors, averaged over
    :math:`\varepsilon`; H and J are those of the same posteriors. As n grows the corrections vanish like d / n and
    the point becomes the pseudo-true one with its sandwich.

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
    fixed = family.adapted(population, population.sample_weights)
    rounds = _Rounds(fixed, population, float(n_samples), unlabeled_weight, random_labels)
    points: dict[float, FiniteSamplePoint[ModelT]] = {}
    asked = {float(fraction) for fraction in fractions}
    stops = walk_down(sorted(asked, reverse=True))
    with tracking(progress, "finite-sample path", len(stops)) as task:
        for stop in stops:
            points[stop] = rounds.settle(stop, _MAX_ROUNDS if stop in asked else _ROUNDS_BETWEEN)
            task.advance()
    return [points[float(fraction)] for fraction in fractions]


def walk_down(fractions: Sequence[float]) -> list[float]:
    """From 1 through the given falling fractions, with stops between so that no step is longer than a factor 1.5.

    Examples
    --------
    >>> walk_down([0.9, 0.5])
    [1.0, 0.9, 0.6708203932499369, 0.5]
    """
    stops = [1.0]
    for fraction in fractions:
        n_steps = int(np.ceil(np.log(stops[-1] / fraction) / np.log(_LONGEST_STEP)))
        # The given fraction itself, not what rounding makes of it.
        stops += [*np.geomspace(stops[-1], fraction, n_steps + 1)[1:-1].tolist(), fraction] if n_steps else []
    return stops


def named_distance(first: Model, second: Model) -> float:
    """Squared distance of two models in their named tables."""
    coordinates = first.coordinates
    gap = coordinates.flatten_named(first.tables) - coordinates.flatten_named(second.tables)
    return float(gap @ gap)


@dataclass
class _Rounds(Generic[ModelT]):
    """The fixed point, walked from one fraction to the next."""

    family: Family[ModelT]
    population: Samples
    n_samples: float
    unlabeled_weight: float
    random_labels: bool
    model: ModelT = field(init=False)
    variance: float = field(init=False)
    corrections: Corrections = field(init=False)

    def __post_init__(self) -> None:
        evidence = self.population.evidence
        self.gold = np.eye(evidence.n_classes)[evidence.codes]
        self.shares = self.population.sample_weights / self.population.sample_weights.sum()
        self.nodes, self.node_weights = normal_nodes(evidence.n_classes - 1)
        self.corrections = Corrections.none(self.population.n_samples, evidence.n_classes)
        self.model = self._maximized(1.0, self.gold)
        complete = self.model.complete_information()
        self.variance = Sandwich(self.model.coordinates, complete, complete).total_variance

    def settle(self, fraction: float, n_rounds: int) -> FiniteSamplePoint[ModelT]:
        converged = False
        for number in range(n_rounds):
            before, before_variance = self.model, self.variance
            self._climb(fraction)
            forms = RowForms(self.model, self.population)
            spread = self._spread(fraction, forms)
            self.variance = spread.total_variance
            moved = self.n_samples * named_distance(self.model, before)
            change = abs(self.variance - before_variance)
            converged = max(moved, change) <= _SETTLED * self.variance
            self._correct(spread, forms, renew_drift=number % _DRIFT_EVERY == 0)
            if converged or fraction == 1:
                break
        return FiniteSamplePoint(
            self.model, spread, float(self.shares @ self.corrections.largest_pull()), converged or fraction == 1
        )

    def _climb(self, fraction: float) -> None:
        """EM with the corrections as they are, until it stands still: only there is the bread a curvature."""
        for _ in range(_MAX_STEPS):
            before = self.model
            self.model = self._maximized(fraction, self._posteriors() @ self.node_weights)
            if self.n_samples * named_distance(self.model, before) <= _STILL * self.variance:
                break

    def _posteriors(self) -> FloatArray:
        return self.corrections.posteriors(self.model.log_joint(self.population), self.nodes)

    def _maximized(self, fraction: float, hidden: FloatArray) -> ModelT:
        """The M-step: rows shared out among the classes by their posteriors, n samples in all."""
        weights = fraction * self.gold + (1 - fraction) * self.unlabeled_weight * hidden
        totals = weights.sum(axis=1)
        # From the neutral model the class of a row is its evidence alone.
        evidence = Evidence(-2 - np.arange(len(totals)), self.population.evidence.classes, weights / totals[:, None])
        soft = Samples(self.population.features, evidence)
        prepared = self.family.prepare(soft, self.n_samples * self.shares * totals)
        return self.family.maximize(prepared.expectation(self.family.neutral()).statistics)

    def _spread(self, fraction: float, forms: RowForms) -> Sandwich:
        """Bread and meat with the in-sample posteriors of the hidden rows."""
        posteriors = self._posteriors()
        mean: FloatArray = posteriors @ self.node_weights
        square = np.matmul(posteriors * self.node_weights, posteriors.transpose(0, 2, 1))
        given_x = self._given_x(posteriors, mean, square)
        shares, hidden_share = self.shares[:, None], (1 - fraction) * self.unlabeled_weight
        complete = (fraction * self.gold + hidden_share * mean) * shares
        bread = self.model.complete_curvature(self.population, complete)
        bread += self.family.prior_curvature(self.model) / self.n_samples
        bread -= forms.total(hidden_share * shares[:, :, None] * given_x)
        labeled = self.gold[:, :, None] * self.gold[:, None, :]
        weighted_square = fraction * labeled + hidden_share * self.unlabeled_weight * square
        meat = forms.total(shares[:, :, None] * weighted_square)
        labeled_mean = forms.mean(self.gold * shares)
        hidden_mean = self.unlabeled_weight * forms.mean(mean * shares)
        meat -= fraction * np.outer(labeled_mean, labeled_mean) + (1 - fraction) * np.outer(hidden_mean, hidden_mean)
        if self.random_labels:
            gap = labeled_mean - hidden_mean
            meat += fraction * (1 - fraction) * np.outer(gap, gap)
        return Sandwich(self.model.coordinates, bread, meat)

    def _given_x(self, posteriors: FloatArray, mean: FloatArray, square: FloatArray) -> FloatArray:
        """How posteriors answer a change of the fit, (n, K, K)."""
        if not self.corrections.spread.any():
            return np.asarray(mean[:, :, None] * np.eye(mean.shape[1]) - square)
        return self.corrections.responses(posteriors, self.nodes, self.node_weights)

    def _correct(self, spread: Sandwich, forms: RowForms, *, renew_drift: bool) -> None:
        covariance = spread.covariance / self.n_samples
        # The drift costs twice d evaluations and hardly moves.
        drift = expected_drift(self.model, self.population, covariance) if renew_drift else self.corrections.drift
        influence = self.unlabeled_weight * forms.each(spread.solve(np.eye(len(covariance))) / self.n_samples)
        self.corrections = self.corrections.halfway(
            Corrections(influence, contrast_root(forms.each(covariance)), drift)
        )
