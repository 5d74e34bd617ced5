"""Means, variances and curvatures of the scores over rows as they are, not as the model would have them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import Model
from labelworth.robust.misspecified.row_forms import RowForms


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
    labeled_log_loss: float  # Mean of -log p(x, y), up to what carries no parameter, and of -log p(y | x).
    conditional_log_loss: float


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
    log_joint = model.log_joint(population)
    hidden, log_marginal = condition(log_joint, population.evidence.hidden())
    gold = np.zeros_like(hidden)
    gold[np.arange(len(gold)), population.evidence.codes] = 1.0
    sums = _Sums(model.coordinates.n_free)
    for rows, class_scores in RowForms(model, population).chunks():
        sums.add(class_scores, gold[rows], hidden[rows], shares[rows])
    plain = population.weighted(None)
    labeled_log = (log_joint * gold).sum(axis=1)
    labeled_curvature = model.complete_curvature(plain, gold * shares[:, None])
    hidden_curvature = model.complete_curvature(plain, hidden * shares[:, None]) - sums.variance_given_x
    labeled_variance = sums.labeled_square - np.outer(sums.labeled_mean, sums.labeled_mean)
    hidden_variance = sums.hidden_square - np.outer(sums.hidden_mean, sums.hidden_mean)
    return ScoreMoments(
        Moments(sums.labeled_mean, labeled_variance, labeled_curvature),
        Moments(sums.hidden_mean, hidden_variance, hidden_curvature),
        float(-shares @ labeled_log),
        float(shares @ (log_marginal - labeled_log)),
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
