r"""How surely confusions are known: standard errors from the information that was observed.

By Louis' identity the observed information is what would be if classes had been seen, less what not seeing them took,

.. math:: J = E[-\nabla^2 \log p(x, y, \text{answers}) | \text{seen}] - \text{Var}(\nabla \log p | \text{seen})
    - \nabla^2 \log \text{prior}

over the model's parameters and those of the confusions. With the prior in it, the errors are those of estimates that
know the prior, as the curvature of a posterior density tells them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.estimation.annotators import Annotators
from labelworth.estimation.answered import (
    CONFUSION,
    AnsweredFamily,
    AnsweredModel,
    evidence_through,
    posteriors,
    require_answers,
)
from labelworth.estimation.turns import SteppedFamily
from labelworth.models.blocks import SimplexRows

MOST_PARAMETERS = 600
"""Up to so many the parameters of model and annotators are taken together."""
_ROWS_AT_ONCE = 256
_STEP = 1e-5
_OPEN = 1e-10  # of a scaled information: below it is rounding of zero


@dataclass(frozen=True, eq=False)
class ConfusionErrors:
    """Standard errors of confusions."""

    errors: FloatArray  # (n_channels, K, K): Of every entry; zero where it is known.
    # (n_channels,): Of the share of right answers, where classes are as frequent as among what was answered.
    accuracy_errors: FloatArray
    # Whether it is counted in that the model, and all other annotators, are estimated too; else errors are too small,
    # by the more the less surely the classes of answered rows are known. NaN where nothing pins a confusion down.
    is_joint: bool


def confusion_errors(
    family: AnsweredFamily[Any, Any],
    model: AnsweredModel[Any],
    data: Samples | Sequences,
    weights: FloatArray,
    class_shares: FloatArray,
) -> ConfusionErrors:
    """Standard errors of the confusions of a fit, at its maximum.

    With up to `MOST_PARAMETERS` parameters all of them are taken together; with more, each annotator is taken alone,
    all else held.
    """
    errors, accuracy_errors = np.zeros_like(model.confusions), np.zeros(model.annotators.n_channels)
    n_classes = len(model.classes)
    if n_classes == 1:
        return ConfusionErrors(errors, accuracy_errors, is_joint=True)
    answered = _Answered.of(model, data, weights)
    # Of a model that is known by its fits alone nobody knows how surely it is known.
    is_stepped = isinstance(family.inner, SteppedFamily)
    is_joint = not is_stepped and model.coordinates.n_free <= MOST_PARAMETERS and _is_interior(model)
    if is_joint:
        n_inner = model.inner.coordinates.n_free
        covariance = _inverse(_joint_information(family, model, data, weights, answered))[n_inner:, n_inner:]
        covariances = {part.channel: covariance[part.columns, part.columns] for part in answered.parts}
    else:
        priors = dict(zip(_estimated(model.annotators), family.channel_curvatures(model), strict=True))
        covariances = {
            part.channel: _inverse(priors[part.channel] + answered.own_information(part)) for part in answered.parts
        }
    for channel, covariance in covariances.items():
        named = _named(model.annotators, channel, covariance)
        errors[channel] = np.sqrt(named.diagonal()).reshape(n_classes, n_classes)
        right = np.diag(class_shares).ravel()
        accuracy_errors[channel] = np.sqrt(right @ named @ right)
    return ConfusionErrors(errors, accuracy_errors, is_joint)


def _inverse(information: FloatArray) -> FloatArray:
    """The covariance; NaN where the information is not positive definite, so that something is open."""
    scale = 1 / np.sqrt(np.where(information.diagonal() > 0, information.diagonal(), np.nan))
    scaled = scale[:, None] * information * scale
    if not np.isfinite(scaled).all() or np.linalg.eigvalsh(scaled)[0] < _OPEN:
        return np.full_like(information, np.nan)
    return np.asarray(scale[:, None] * np.linalg.inv(scaled) * scale)


def _is_interior(model: AnsweredModel[Any]) -> bool:
    """Whether every probability lies inside, where scores are."""
    blocks = {block.table for block in model.coordinates.blocks if isinstance(block, SimplexRows)}
    return all(bool((table > 0).all()) for name, table in model.tables.items() if name in blocks)


def _named(annotators: Annotators, channel: int, covariance: FloatArray) -> FloatArray:
    """From free parameters to the whole table of a channel, (K K, K K)."""
    n_classes = annotators.n_classes
    if channel in annotators.coins:
        moves = (np.eye(n_classes) - annotators.errors).reshape(-1, 1)
    else:
        row = np.concatenate([np.eye(n_classes - 1), -np.ones((1, n_classes - 1))])
        moves = np.kron(np.eye(n_classes), row)
    return np.asarray(moves @ covariance @ moves.T)


def _estimated(annotators: Annotators) -> list[int]:
    """The channels that are estimated, in the order of their parameters."""
    return [*annotators.whole.tolist(), *annotators.coins.tolist()]


@dataclass(frozen=True, eq=False)
class _Part:
    """The answers of one channel, and how the logarithms of their probabilities move with its parameters."""

    channel: int
    columns: slice  # Where its parameters lie among those of all channels.
    rows: IntArray  # (m,): The row of every answer, among those that have answers.
    slopes: FloatArray  # (m, K, p)


@dataclass(frozen=True, eq=False)
class _Answered:
    """Rows that have answers, with what is thought of their classes."""

    positions: IntArray  # (n,): Which samples or tokens they are.
    weights: FloatArray  # (n, K): The weight of the row times the probability of the class.
    shares: FloatArray  # (n, K): That probability.
    answer_weight: float
    parts: tuple[_Part, ...]

    @classmethod
    def of(cls, model: AnsweredModel[Any], data: Samples | Sequences, weights: FloatArray) -> "_Answered":
        annotators = model.annotators
        votes = annotators.votes(require_answers(data))
        likelihood, said = votes.likelihood(model.confusions), votes.evidence
        known = data.with_evidence(evidence_through(annotators, model.confusions, data))
        shares = posteriors(model.inner, known)[votes.positions]
        owners = np.repeat(np.arange(data.n_samples), data.lengths)[votes.positions]
        parts, start = [], 0
        for channel in _estimated(annotators):
            own = np.flatnonzero(votes.channel == channel)
            slopes = _slopes(annotators, channel, said[own], likelihood[own])
            parts.append(_Part(channel, slice(start, start + slopes.shape[2]), votes.row[own], slopes))
            start += slopes.shape[2]
        return cls(votes.positions, weights[owners][:, None] * shares, shares, annotators.answer_weight, tuple(parts))

    @property
    def n_parameters(self) -> int:
        return self.parts[-1].columns.stop if self.parts else 0

    def curvature(self, part: _Part) -> FloatArray:
        """Probabilities of answers are linear in the parameters, so their logarithms bend by the squared slopes."""
        roots = np.sqrt(self.weights[part.rows])[:, :, None] * part.slopes
        flat = roots.reshape(-1, part.slopes.shape[2])
        return np.asarray(self.answer_weight * (flat.T @ flat))

    def own_information(self, part: _Part) -> FloatArray:
        """Of one channel's parameters, all else held."""
        rows, position = np.unique(part.rows, return_inverse=True)
        scores = np.zeros((len(rows), *part.slopes.shape[1:]))
        np.add.at(scores, position, self.answer_weight * part.slopes)
        roots = _spread(scores, self.shares[rows], self.weights[rows])
        return np.asarray(self.curvature(part) - roots.T @ roots)

    def scores(self, rows: IntArray) -> FloatArray:
        """The slopes in all parameters, summed over the answers of these rows, (n, K, p)."""
        scores = np.zeros((len(rows), self.shares.shape[1], self.n_parameters))
        position = np.full(len(self.positions), -1)
        position[rows] = np.arange(len(rows))
        for part in self.parts:
            own = np.flatnonzero(position[part.rows] >= 0)
            slopes = self.answer_weight * part.slopes[own]
            np.add.at(scores[:, :, part.columns], position[part.rows[own]], slopes)
        return scores


def _slopes(annotators: Annotators, channel: int, said: FloatArray, likelihood: FloatArray) -> FloatArray:
    """Of log P(answer | y) in the free parameters of one channel, (m, K, p)."""
    inverse = np.divide(1.0, likelihood, out=np.zeros_like(likelihood), where=likelihood > 0)
    if channel in annotators.coins:
        return np.asarray(((said - said @ annotators.errors.T) * inverse)[:, :, None])
    n_classes = said.shape[1]
    slopes = np.zeros((len(said), n_classes, n_classes, n_classes - 1))
    steps = said[:, :-1] - said[:, -1:]
    for true_class in range(n_classes):
        slopes[:, true_class, true_class] = steps * inverse[:, true_class, None]
    return slopes.reshape(len(said), n_classes, n_classes * (n_classes - 1))


def _spread(scores: FloatArray, shares: FloatArray, weights: FloatArray) -> FloatArray:
    """Roots of the variance of the score (n, K, d) over classes, with these shares: (n K, d)."""
    centered = scores - np.einsum("nk,nkd->nd", shares, scores)[:, None]
    return np.asarray((np.sqrt(weights)[:, :, None] * centered).reshape(-1, scores.shape[2]))


def _joint_information(
    family: AnsweredFamily[Any, Any],
    model: AnsweredModel[Any],
    data: Samples | Sequences,
    weights: FloatArray,
    answered: _Answered,
) -> FloatArray:
    """Of all parameters of model and channels, with the prior, (d, d)."""
    information = family.prior_curvature(model)
    if isinstance(data, Sequences):
        return information + _differentiated(family, model, data, weights)
    n_inner = model.inner.coordinates.n_free
    known = data.with_evidence(evidence_through(model.annotators, model.confusions, data))
    shares = posteriors(model.inner, known)
    information[:n_inner, :n_inner] += model.inner.complete_curvature(data, weights[:, None] * shares)
    for part in answered.parts:
        columns = slice(n_inner + part.columns.start, n_inner + part.columns.stop)
        information[columns, columns] += answered.curvature(part)
    row_of = np.full(data.n_samples, -1)
    row_of[answered.positions] = np.arange(len(answered.positions))
    for first in range(0, data.n_samples, _ROWS_AT_ONCE):
        rows = np.arange(first, min(first + _ROWS_AT_ONCE, data.n_samples))
        scores = np.zeros((len(rows), len(model.classes), len(information)))
        scores[:, :, :n_inner] = model.inner.class_scores(data.take(rows))
        told = np.flatnonzero(row_of[rows] >= 0)
        scores[told, :, n_inner:] = answered.scores(row_of[rows[told]])
        roots = _spread(scores, shares[rows], weights[rows][:, None] * shares[rows])
        information -= roots.T @ roots
    return information


def _differentiated(
    family: AnsweredFamily[Any, Any], model: AnsweredModel[Any], data: Sequences, weights: FloatArray
) -> FloatArray:
    """Minus the Hessian of the log-likelihood of sequences: central differences of its gradient."""
    coordinates = model.coordinates
    center = coordinates.flatten(model.tables)
    laid_out = family.prepare(data, weights)

    def gradient(theta: FloatArray) -> FloatArray:
        moved = model.with_tables(coordinates.named(theta))
        known = data.with_evidence(evidence_through(moved.annotators, moved.confusions, data))
        inner = weights @ moved.inner.scores(known)
        counts = laid_out.expectation(moved).statistics[CONFUSION]
        ratios = counts / np.where(moved.confusions > 0, moved.confusions, 1.0)
        whole = ratios[moved.annotators.whole]
        own = (whole[:, :, :-1] - whole[:, :, -1:]).ravel()
        right, wrong = moved.annotators.coin_counts(counts[moved.annotators.coins])
        accuracies = moved.confusions[moved.annotators.coins, 0, 0]
        return np.concatenate([inner, own, right / accuracies - wrong / (1 - accuracies)])

    hessian = np.empty((len(center), len(center)))
    for index in range(len(center)):
        # No step leaves the probabilities.
        step = np.zeros(len(center))
        step[index] = _STEP * min(1.0, _room(coordinates, center, index))
        hessian[index] = (gradient(center + step) - gradient(center - step)) / (2 * step[index])
    return np.asarray(-(hessian + hessian.T) / 2)


def _room(coordinates: Any, center: FloatArray, index: int) -> float:
    """How far a probability, and what is left of its row, is from zero."""
    unit = np.zeros(len(center))
    unit[index] = 1.0
    values = coordinates.flatten_named(coordinates.named(center))
    moves = coordinates.push(unit[:, None])[:, 0]
    moved = np.abs(moves) > 0
    return float(values[moved].min())
