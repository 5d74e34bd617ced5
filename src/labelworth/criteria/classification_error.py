"""How much estimation adds to the classification error, by the delta method."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from labelworth.arrays import FloatArray, IntArray
from labelworth.criteria.asymptotic import excess_log_loss
from labelworth.data.samples import Samples
from labelworth.fisher.curve import Estimate, FractionCurve
from labelworth.fisher.outcomes import enumerate_outcomes, n_outcomes
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import Model

_ENUMERATION_LIMIT = 20_000
_NUMBERS_PER_CHUNK = 4_000_000


class DenseCurve(FractionCurve, Protocol):
    """A curve small enough to give the covariance of the estimate."""

    def covariance_root(self, n_samples: float, fraction: float) -> FloatArray:
        """R with R R' = I(f)^-1 / n, (d, d)."""


def excess_error(
    model: Model,
    curve: DenseCurve,
    n_samples: float,
    fractions: FloatArray,
    rng: np.random.Generator,
    *,
    n_documents: int = 20_000,
    n_draws: int = 400,
) -> Estimate:
    r"""The classification error beyond that of the true model, if the estimate is N(theta, Cov).

    Two classes, with log-odds :math:`t(x)` whose gradient is the difference of the class scores:

    .. math::

        E_x\, |2 \eta(x) - 1| \; \Phi\bigl(-|t(x)| / \operatorname{sd} t(x)\bigr), \qquad
        \operatorname{sd}^2 = \nabla t' \, Cov \, \nabla t

    More classes: draw estimates from N(theta, Cov), move every log p(x, y) along its gradient, classify, and count
    what the chosen class falls short of the best, :math:`\max_y p(y | x) - p(\hat y | x)`. No refits. For two
    classes that would give the same number.

    Parameters
    ----------
    model : Model
        The truth, or what is taken for it.
    curve : DenseCurve
        Its information.
    n_samples : float
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
    inputs = _inputs(model, rng, n_documents)
    roots = [curve.covariance_root(n_samples, float(fraction)) for fraction in fractions]
    if len(model.classes) == 2:
        shortfalls = _two_class_shortfalls(model, inputs, roots)
        values = shortfalls @ inputs.weights
        errors = np.zeros(len(fractions)) if inputs.is_exact else _mean_errors(shortfalls)
        is_exact = inputs.is_exact
    else:
        by_draw, by_sample = _drawn_shortfalls(model, inputs, roots, rng, n_draws)
        values, is_exact = by_draw.mean(axis=1), False
        # Draws are shared by all x, and x by all draws: the two sources of chance add.
        between_samples = 0.0 if inputs.is_exact else _mean_errors(by_sample)
        errors = np.hypot(_mean_errors(by_draw), between_samples)
    loss = excess_log_loss(curve, n_samples, fractions)
    if loss.standard_errors is not None:
        errors, is_exact = np.hypot(errors, values * loss.standard_errors / loss.values), False
    return Estimate(values, None if is_exact else errors)


@dataclass(frozen=True)
class _Inputs:
    """The x to average over, p(y | x), and how much each counts."""

    samples: Samples
    posterior: FloatArray
    weights: FloatArray
    is_exact: bool


def _inputs(model: Model, rng: np.random.Generator, n_documents: int) -> _Inputs:
    count = n_outcomes(model)
    if count is not None and count <= _ENUMERATION_LIMIT:
        outcomes = enumerate_outcomes(model)
        return _Inputs(outcomes.samples, outcomes.posterior, outcomes.probabilities, is_exact=True)
    samples = model.sample(n_documents, rng).hide()
    posterior, _ = condition(model.log_joint(samples), samples.evidence)
    return _Inputs(samples, posterior, np.full(n_documents, 1 / n_documents), is_exact=False)


def _chunks(n_samples: int, numbers_per_sample: int) -> Iterator[IntArray]:
    size = max(1, _NUMBERS_PER_CHUNK // numbers_per_sample)
    for start in range(0, n_samples, size):
        yield np.arange(start, min(start + size, n_samples))


def _two_class_shortfalls(model: Model, inputs: _Inputs, roots: list[FloatArray]) -> FloatArray:
    """What each x is expected to lose at each fraction, shape (n_fractions, n)."""
    shortfalls = np.empty((len(roots), inputs.samples.n_samples))
    for part in _chunks(inputs.samples.n_samples, 2 * model.coordinates.n_free):
        samples = inputs.samples.take(part)
        scores, log_joint = model.class_scores(samples), model.log_joint(samples)
        gradient, margin = scores[:, 0] - scores[:, 1], np.abs(log_joint[:, 0] - log_joint[:, 1])
        lost = np.abs(inputs.posterior[part, 0] - inputs.posterior[part, 1])
        for place, root in enumerate(roots):
            shortfalls[place, part] = lost * ndtr(-margin / np.linalg.norm(gradient @ root, axis=1))
    return shortfalls


def _drawn_shortfalls(
    model: Model, inputs: _Inputs, roots: list[FloatArray], rng: np.random.Generator, n_draws: int
) -> tuple[FloatArray, FloatArray]:
    """Losses by draw, averaged over x, (n_fractions, n_draws), and by x, averaged over draws, (n_fractions, n)."""
    n_classes, d = len(model.classes), model.coordinates.n_free
    draws = rng.standard_normal((d, n_draws))
    by_draw, by_sample = np.zeros((len(roots), n_draws)), np.empty((len(roots), inputs.samples.n_samples))
    for part in _chunks(inputs.samples.n_samples, n_classes * max(d, n_draws)):
        samples, posterior = inputs.samples.take(part), inputs.posterior[part]
        scores, log_joint = model.class_scores(samples), model.log_joint(samples)
        best = posterior.max(axis=1, keepdims=True)
        for place, root in enumerate(roots):
            chosen = (log_joint[:, :, None] + scores @ (root @ draws)).argmax(axis=1)
            lost = best - np.take_along_axis(posterior, chosen, axis=1)
            by_draw[place] += inputs.weights[part] @ lost
            by_sample[place, part] = lost.mean(axis=1)
    return by_draw, by_sample


def _mean_errors(rows: FloatArray) -> FloatArray:
    return np.asarray(rows.std(axis=1, ddof=1) / np.sqrt(rows.shape[1]))
