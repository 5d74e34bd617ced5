"""How much estimation adds to the classification error, by the delta method."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.samples import Samples
from labelworth.fisher.criteria import Estimate
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.documents.population import chunks, enumerate_outcomes, n_outcomes
from labelworth.fisher.information import of_fraction, over_fractions
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import AnyModel, Model

_ENUMERATION_LIMIT = 20_000


@dataclass(frozen=True, eq=False)
class Inputs:
    """The x to average over, p(y | x), and how much each counts."""

    samples: Samples
    posterior: FloatArray  # (n, K)
    weights: FloatArray  # (n,)
    is_exact: bool  # Whether these are all there are.

    @classmethod
    def enumerated(cls, model: AnyModel, most: int) -> "Inputs | None":
        """All of them; None if they are more than `most`."""
        count = n_outcomes(model)
        if count is None or count > most:
            return None
        outcomes = enumerate_outcomes(model)
        return cls(outcomes.samples, outcomes.posterior, outcomes.probabilities, True)

    @classmethod
    def of(cls, model: AnyModel, samples: Samples) -> "Inputs":
        """These, each counting the same."""
        hidden, count = samples.hide(), samples.n_samples
        posterior, _ = condition(model.log_joint(hidden), hidden.evidence)
        return cls(hidden, posterior, np.full(count, 1 / count), False)

    def take(self, rows: IntArray) -> "Inputs":
        return Inputs(self.samples.take(rows), self.posterior[rows], self.weights[rows], False)


@dataclass(frozen=True, eq=False)
class ScoredInputs:
    r"""What estimates that are :math:`N(\theta, Cov)` lose on some x, for every Cov that is diagonal in one basis.

    Two classes, with log-odds :math:`t(x)` whose gradient is the difference of the class scores:

    .. math::

        |2 \eta(x) - 1| \; \Phi\bigl(-|t(x)| / \operatorname{sd} t(x)\bigr), \qquad
        \operatorname{sd}^2 = \nabla t' \, Cov \, \nabla t

    More classes: draw estimates, move every log p(x, y) along its gradient, classify, and count what the chosen class
    falls short of the best, :math:`\max_y p(y | x) - p(\hat y | x)`. No refits. For two classes that would give the
    same number.
    """

    log_joint: FloatArray  # (n, K): log p(x, y).
    scores: FloatArray  # (n, K, d): In the basis in which the information of labels and of none are diagonal.
    posterior: FloatArray  # (n, K)
    draws: FloatArray  # (d, n_draws): Standard normal directions; none with two classes.

    @classmethod
    def of(cls, model: AnyModel, inputs: Inputs, information: DenseInformation, draws: FloatArray) -> "ScoredInputs":
        """Carry the scores to the basis of the information of single samples."""
        basis = information.whitened
        scores = model.class_scores(inputs.samples) @ basis.vectors
        directions = basis.carried(draws) if draws.size else draws
        return cls(model.log_joint(inputs.samples), scores, inputs.posterior, directions)

    def lost(self, variances: FloatArray) -> FloatArray:
        """What each x loses under every drawn estimate, (n, n_draws); with two classes in expectation, (n, 1)."""
        return self._drawn(variances) if self.draws.size else self._expected(variances)

    def _expected(self, variances: FloatArray) -> FloatArray:
        gradient = self.scores[:, 0] - self.scores[:, 1]
        spread = np.sqrt(np.square(gradient) @ variances)
        margin = np.abs(self.log_joint[:, 0] - self.log_joint[:, 1])
        lost = np.abs(self.posterior[:, 0] - self.posterior[:, 1]) * ndtr(-margin / spread)
        return np.asarray(lost[:, None])

    def _drawn(self, variances: FloatArray) -> FloatArray:
        directions = np.sqrt(variances)[:, None] * self.draws
        best = self.posterior.max(axis=1)
        highest, lost = None, np.zeros((len(best), directions.shape[1]))
        # Class by class: an argmax over so short an axis is many times slower.
        for code in range(self.posterior.shape[1]):
            moved = self.scores[:, code] @ directions
            moved += self.log_joint[:, code, None]
            if highest is None:
                highest, lost[:] = moved, (best - self.posterior[:, code])[:, None]
                continue
            wins = moved > highest
            np.copyto(highest, moved, where=wins)
            np.copyto(lost, (best - self.posterior[:, code])[:, None], where=wins)
        return lost


def variances_of(information: DenseInformation, counts: FloatArray) -> FloatArray:
    """Of estimates from so many labeled and unlabeled samples, (d,), in the basis in which both are diagonal."""
    return 1 / np.asarray(counts @ information.whitened.arms)


def excess_error(
    model: Model,
    information: DenseInformation,
    n_samples: float,
    fractions: FloatArray,
    rng: np.random.Generator,
    *,
    n_documents: int = 20_000,
    n_draws: int = 400,
) -> Estimate:
    r"""The classification error beyond that of the true model, if the estimate is N(theta, Cov); see `ScoredInputs`.

    Parameters
    ----------
    model : Model
        The truth, or what is taken for it.
    information : DenseInformation
        Of its samples, labeled or not.
    fractions : array of shape (n_fractions,)
    rng : Generator
        Draws x where there are too many to enumerate, and estimates where there are more than two classes.
    n_documents, n_draws : int
        How many of each.

    Returns
    -------
    Estimate
        Exact for two classes and enumerable x. If the information was sampled, its own error enters as that of the
        excess log-loss, relative: to first order both are proportional to the covariance.

    Notes
    -----
    First order in the estimation error, as every criterion here: right where estimates are close enough for log-odds
    to move along their gradient.
    """
    inputs = Inputs.enumerated(model, _ENUMERATION_LIMIT) or Inputs.of(model, model.sample(n_documents, rng))
    is_drawn, d = len(model.classes) > 2, model.coordinates.n_free
    draws = rng.standard_normal((d, n_draws)) if is_drawn else np.empty((d, 0))
    variances = [variances_of(information, n_samples * of_fraction(float(fraction))) for fraction in fractions]
    by_draw, by_input = expected_losses(model, inputs, information, variances, draws)
    values, is_exact = by_draw.mean(axis=1), inputs.is_exact and not is_drawn
    # Draws are shared by all x, and x by all draws: the two sources of chance add.
    errors = np.zeros(len(values)) if inputs.is_exact else _mean_errors(by_input)
    if is_drawn:
        errors = np.hypot(_mean_errors(by_draw), errors)
    loss = over_fractions(information, "excess_log_loss", fractions, n_samples=n_samples)
    if loss.standard_errors is not None:
        errors, is_exact = np.hypot(errors, values * loss.standard_errors / loss.values), False
    return Estimate(values, None if is_exact else errors)


def expected_losses(
    model: Model, inputs: Inputs, information: DenseInformation, variances: list[FloatArray], draws: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """By draw, averaged over x, (n_fractions, n_draws or 1), and by x, averaged over draws, (n_fractions, n)."""
    n_samples, width = inputs.samples.n_samples, max(draws.shape[1], 1)
    by_draw, by_input = np.zeros((len(variances), width)), np.empty((len(variances), n_samples))
    for rows in chunks(n_samples, len(model.classes) * max(model.coordinates.n_free, width)):
        part = inputs.take(rows)
        scored = ScoredInputs.of(model, part, information, draws)
        for index, variance in enumerate(variances):
            lost = scored.lost(variance)
            by_draw[index] += part.weights @ lost
            by_input[index, rows] = lost.mean(axis=1)
    return by_draw, by_input


def _mean_errors(rows: FloatArray) -> FloatArray:
    return np.asarray(rows.std(axis=1, ddof=1) / np.sqrt(rows.shape[1]))
