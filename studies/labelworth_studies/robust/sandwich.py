"""The covariance of an estimate whose model is wrong: moments of scores over rows as they are, bread and meat."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from labelworth.arrays import FloatArray, require_between, require_shape
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.fisher.directions import most_changed
from labelworth.models.classes.responsibilities import condition
from labelworth.models.coordinates import Coordinates
from labelworth.models.protocol import Model
from labelworth.robust.row_forms import RowForms


@dataclass(frozen=True, eq=False)
class Moments:
    """What one sample contributes on average, in free coordinates, at one theta."""

    mean: FloatArray  # (d,): Of the score; not zero unless the model is right.
    variance: FloatArray  # (d, d): Of the score, around its mean.
    curvature: FloatArray  # (d, d): Minus the mean Hessian of the log-likelihood.

    def counting(self, weight: float) -> "Moments":
        """Those of a sample that counts `weight` in the likelihood."""
        return Moments(weight * self.mean, weight**2 * self.variance, weight * self.curvature)

    @classmethod
    def mixture(cls, parts: Sequence["Moments"], shares: Sequence[float], *, is_random: bool = True) -> "Moments":
        """Those of a sample that is of each kind with a given probability.

        With `is_random` False the shares are fixed beforehand: which kind a sample is of adds no variance.
        """
        means = np.stack([part.mean for part in parts])
        mean = np.tensordot(shares, means, axes=1)
        variance = np.tensordot(shares, np.stack([part.variance for part in parts]), axes=1)
        curvature = np.tensordot(shares, np.stack([part.curvature for part in parts]), axes=1)
        if is_random:
            variance += (means - mean).T * shares @ (means - mean)
        return cls(mean, variance, curvature)


@dataclass(frozen=True, eq=False)
class ScoreMoments:
    """What one row contributes with its label and without."""

    labeled: Moments  # Of log p(x, y), and of log p(x).
    hidden: Moments


def require_population(population: Samples) -> None:
    """Refuse rows whose class is not known: both likelihoods must be computable on every row."""
    unknown = int((~population.evidence.is_gold).sum())
    if population.n_samples == 0 or unknown:
        raise InvalidInputError(
            "A population needs the class of every row, since each row counts once with its label and once without. "
            f"Got {population.n_samples} rows, {unknown} of them without a class; use samples.labeled_only()."
        )


def score_moments(model: Model, population: Samples) -> ScoreMoments:
    r"""Average scores, their squares and curvatures over a population of labeled rows.

    With S the score of log p(x, y), the score of log p(x) is :math:`E[S | x]` (Fisher) and its curvature

    .. math:: -\nabla^2 \log p(x) = E[-\nabla^2 \log p(x, Y) \mid x] - \operatorname{Var}(S \mid x)

    (Louis), the expectation over y being the model's, that over x the population's.

    Parameters
    ----------
    model : Model
        Where to evaluate; d is at most a few thousand.
    population : Samples
        Every row with its class; weights are shares.

    Notes
    -----
    O(n K d^2). Paper: prop:efficiency1 is the case of a right model: both means are zero, variance equals curvature.
    """
    require_population(population)
    shares = population.sample_weights / population.sample_weights.sum()
    hidden, _ = condition(model.log_joint(population), population.evidence.hidden())
    gold = np.zeros_like(hidden)
    gold[np.arange(len(gold)), population.evidence.codes] = 1.0
    sums = _Sums(model.coordinates.n_free)
    for rows, class_scores in RowForms(model, population).chunks():
        sums.add(class_scores, gold[rows], hidden[rows], shares[rows])
    plain = population.weighted(None)
    labeled_curvature = model.complete_curvature(plain, gold * shares[:, None])
    hidden_curvature = model.complete_curvature(plain, hidden * shares[:, None]) - sums.variance_given_x
    labeled_variance = sums.labeled_square - np.outer(sums.labeled_mean, sums.labeled_mean)
    hidden_variance = sums.hidden_square - np.outer(sums.hidden_mean, sums.hidden_mean)
    return ScoreMoments(
        Moments(sums.labeled_mean, labeled_variance, labeled_curvature),
        Moments(sums.hidden_mean, hidden_variance, hidden_curvature),
    )


class _Sums:
    """Running sums over chunks of rows."""

    def __init__(self, d: int) -> None:
        self.labeled_square = np.zeros((d, d))
        self.hidden_square = np.zeros((d, d))
        self.variance_given_x = np.zeros((d, d))
        self.labeled_mean = np.zeros(d)
        self.hidden_mean = np.zeros(d)

    def add(self, class_scores: FloatArray, gold: FloatArray, hidden: FloatArray, shares: FloatArray) -> None:
        labeled_score = np.einsum("nk,nka->na", gold, class_scores)
        hidden_score = np.einsum("nk,nka->na", hidden, class_scores)
        self.labeled_mean += shares @ labeled_score
        self.hidden_mean += shares @ hidden_score
        self.labeled_square += (labeled_score * shares[:, None]).T @ labeled_score
        self.hidden_square += (hidden_score * shares[:, None]).T @ hidden_score
        for code in range(class_scores.shape[1]):
            spread = class_scores[:, code] - hidden_score
            self.variance_given_x += (spread * (shares * hidden[:, code])[:, None]).T @ spread


@dataclass(frozen=True, eq=False)
class Sandwich:
    r"""The asymptotic covariance :math:`H^{-1} J H^{-1}` of :math:`\sqrt n (\hat\theta - \theta^*)`.

    Examples
    --------
    >>> from labelworth.models.coordinates import FreeTable
    >>> line = Coordinates((FreeTable("mean", [""], ["x"]),))
    >>> Sandwich(line, np.array([[4.0]]), np.array([[8.0]])).total_variance
    0.5
    """

    coordinates: Coordinates  # Of the model.
    # (d, d): H, minus the expected Hessian of the objective of one sample, the prior's share included.
    bread: FloatArray
    meat: FloatArray  # (d, d): J, the variance of the score of one sample.

    def __post_init__(self) -> None:
        d = self.coordinates.n_free
        require_shape("bread", self.bread, (d, d))
        require_shape("meat", self.meat, (d, d))

    @cached_property
    def _factor(self) -> Any:
        try:
            return cho_factor(self.bread, lower=True)
        except LinAlgError as error:
            _, vectors = np.linalg.eigh(self.bread)
            (weak,) = most_changed(self.coordinates, vectors[:, :1])
            raise NotIdentifiableError(
                "The objective is not curved downwards in every direction where the fit stopped, so the estimate has "
                f"no asymptotic covariance; the weakest direction moves {weak} most. Label more, smooth more (raise "
                "the penalty), or lower unlabeled_weight.",
                [weak],
            ) from error

    def solve(self, right: FloatArray) -> FloatArray:
        """H^-1 times vectors.

        Raises
        ------
        NotIdentifiableError
            If H is not positive definite: theta is not an isolated maximum.
        """
        return np.asarray(cho_solve(self._factor, right))

    @cached_property
    def covariance(self) -> FloatArray:
        """H^-1 J H^-1 in free coordinates, (d, d); that of theta_hat once divided by n."""
        return self.solve(self.solve(self.meat).T)

    @cached_property
    def total_variance(self) -> float:
        """Its trace in the named tables."""
        return self.trace_with_named(self.covariance)

    def trace_with_named(self, matrix: FloatArray) -> float:
        """trace(G matrix), G = Jacobian' Jacobian of the named tables."""
        return float(np.trace(self.coordinates.pull(self.coordinates.push(matrix))))


def sandwich(
    coordinates: Coordinates,
    moments: ScoreMoments,
    fraction: float,
    *,
    unlabeled_weight: float = 1.0,
    prior_curvature: FloatArray | None = None,
    n_samples: float = np.inf,
    random_labels: bool = True,
) -> Sandwich:
    r"""Combine the moments of labeled and hidden rows at one labeled fraction.

    A sample is labeled with probability f; an unlabeled one counts :math:`\beta`:

    .. math::

        H &= f H_{XY} + (1-f)\,\beta\, H_X - \nabla^2 \log \text{prior} / n \\
        J &= f \operatorname{Var}(s_{XY}) + (1-f)\,\beta^2 \operatorname{Var}(s_X)
            + f(1-f)\, g g', \qquad g = E s_{XY} - \beta\, E s_X

    The last term is there when a coin decides for every sample whether it is labeled; with a fixed number of labels
    (`random_labels` False) it is not.

    Parameters
    ----------
    moments : ScoreMoments
        At the pseudo-true theta of this fraction.
    fraction : float
        f, in [0, 1].
    prior_curvature : array of shape (d, d), optional
        Minus the Hessian of the log prior; shared by `n_samples`.

    Notes
    -----
    At f, the mean score :math:`f E s_{XY} + (1-f) \beta E s_X` is minus the prior's gradient over n, not zero;
    J is a variance around it, so nothing is left out. If the model is right, there is no prior and :math:`\beta = 1`,
    H = J = I(f): the sandwich is the inverse information. Paper: prop:efficiency1.
    """
    require_between("The labeled fraction", fraction, 0.0, 1.0)
    require_between("unlabeled_weight", unlabeled_weight, 0.0, float(np.finfo(float).max))
    mixed = Moments.mixture(
        (moments.labeled, moments.hidden.counting(unlabeled_weight)),
        (fraction, 1 - fraction),
        is_random=random_labels,
    )
    prior = 0.0 if prior_curvature is None else prior_curvature / n_samples
    return Sandwich(coordinates, mixed.curvature + prior, mixed.variance)
