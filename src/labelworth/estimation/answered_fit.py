"""Fit a model and those who answer together; strength that annotators share is chosen on the way."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from labelworth.arrays import FloatArray, require_between
from labelworth.channels.channel import Channel
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.estimation.annotators import Annotators, ConfusionKind
from labelworth.estimation.answered import CONFUSION, AnsweredFamily, AnsweredModel, require_answers
from labelworth.estimation.fit import Fit, fit
from labelworth.estimation.starts import LARGEST, DataT, counting
from labelworth.models.protocol import EMFamily, ParametersT

_ROUNDS = 2
_WEAKEST, _STRONGEST = 0.1, 1e4  # answers about each class


def fit_answered(
    family: EMFamily[ParametersT, DataT],
    data: DataT,
    *,
    channels: Sequence[Channel] = (),
    confusion: ConfusionKind = "shared",
    answer_weight: float = 1.0,
    unlabeled_weight: float = 1.0,
    **options: Any,
) -> Fit[AnsweredModel[ParametersT], Any]:
    """Maximize the penalized likelihood of labels and answers.

    Parameters
    ----------
    family : EMFamily
        The kind of model.
    data : Samples or Sequences
        With answers. What one annotator says of a row again is one answer with what was said before.
    channels : sequence of Channel
        What is known of the annotators of these names; the others are estimated.
    confusion : "shared", "separate" or "accuracy"
        What is estimated of them. Shared: whole tables, drawn to the one of all annotators together, as strongly as
        they are alike. Separate: whole tables, each by itself. Accuracy: one number each.
    answer_weight : float
        How much an answer counts: the power to which its probability is raised. Below 1 where annotators err together
        on a row, or where words are not as independent as the model has them and so count less too.
    unlabeled_weight, options
        Of `labelworth.estimation.fit.fit`.

    Returns
    -------
    Fit
        Its model has the model (``inner``) and the ``confusions``.
    """
    answers = require_answers(data)
    independent = [channel.name for channel in channels if channel.is_independent]
    data = replace(data, answers=answers.one_vote_each(independent))
    require_between("answer_weight", answer_weight, 0.0, LARGEST, open_low=True)
    given: dict[str, Any] = {"channels": channels, "answer_weight": answer_weight}
    separate = Annotators.of(answers.names, family.classes, accuracy_only=confusion == "accuracy", **given)
    options = {**options, "unlabeled_weight": unlabeled_weight}
    is_common = ~np.isin(separate.names, [channel.name for channel in channels])
    if confusion != "shared" or int(is_common.sum()) < 2:
        return _fitted(AnsweredFamily(family, separate), data, options)
    pooled = Annotators.of(answers.names, family.classes, pooled=True, **given)
    fitted = _fitted(AnsweredFamily(family, pooled), data, options)
    inner, tables = fitted.model.inner, fitted.model.confusions[pooled.channels]
    # Every annotator has a table of their own in `separate`, in the order of the names.
    common = np.flatnonzero(is_common)
    for _ in range(_ROUNDS):
        counts = _expected_counts(AnsweredFamily(family, separate), inner, tables, data, unlabeled_weight)
        center, strengths = separate.center.copy(), separate.pseudo_counts.sum(axis=2)
        center[common], strengths[common] = shared_prior(counts[common], separate.pseudo_counts[common[0]])
        annotators = separate.with_prior(center, strengths)
        fitted = _fitted(AnsweredFamily(family, annotators, (inner, tables)), data, options)
        inner, tables = fitted.model.inner, fitted.model.confusions
    return fitted


def _fitted(
    family: AnsweredFamily[ParametersT, DataT], data: DataT, options: Mapping[str, Any]
) -> Fit[AnsweredModel[ParametersT], Any]:
    return fit(family, data, **options)


def _expected_counts(
    family: AnsweredFamily[ParametersT, DataT],
    inner: ParametersT,
    tables: FloatArray,
    data: DataT,
    unlabeled_weight: float,
) -> FloatArray:
    """What every annotator is expected to have meant, where the model and these tables are right."""
    counted, weights = counting(data, unlabeled_weight)
    family = family.adapted(counted, weights)
    model = replace(family.neutral(), inner=inner, confusions=tables)
    return family.prepare(counted, weights).expectation(model).statistics[CONFUSION]


def shared_prior(counts: FloatArray, pseudo_counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""What all others say of each annotator: prior means (A, K, K), and how many answers that is worth (A, K).

    The mean of a is the table of all others together. It is as strong as they are alike (s of `shared_strength`), and
    no stronger than it is known itself: with n_b answers of each other about a class, N in all,

    .. math:: \frac{1}{\text{strength}} = \frac{1}{s} + \frac{1}{N} + \frac{\sum_b n_b^2}{s N^2}

    for the spread of annotators about their mean, of answers about their annotator, and of those who happened to be
    asked about all who could be.
    """
    totals = counts.sum(axis=2)
    center = pseudo_counts + counts.sum(axis=0) - counts
    center /= center.sum(axis=2, keepdims=True)
    alike = shared_strength(counts, center)
    others = pseudo_counts.sum(axis=1) + totals.sum(axis=0) - totals
    squares = np.square(totals).sum(axis=0) - np.square(totals)
    return center, 1 / (1 / alike + 1 / others + squares / (alike * np.square(others)))


def shared_strength(counts: FloatArray, center: FloatArray) -> float:
    r"""How alike annotators are: the s that makes their counts most probable.

    Rows of tables drawn from Dirichlet distributions around the center, :math:`q_a(\cdot | y) \sim D(s\, c(y))`, give
    counts (A, K, K) of the probability

    .. math:: \prod_{a, y} \frac{\Gamma(s)}{\Gamma(s + N)} \prod_v \frac{\Gamma(s c_v + n_v)}{\Gamma(s c_v)}

    in answers about a class: with s of them an annotator's own answers and the center count the same.
    """
    totals = counts.sum(axis=2)

    def misfit(log_strength: float) -> float:
        strength = np.exp(log_strength)
        prior = strength * center
        inside = np.where(center > 0, gammaln(prior + counts) - gammaln(np.where(center > 0, prior, 1.0)), 0.0)
        return -float(inside.sum() + (gammaln(strength) - gammaln(strength + totals)).sum())

    bounds = (np.log(_WEAKEST), np.log(_STRONGEST))
    return float(np.exp(minimize_scalar(misfit, bounds=bounds, method="bounded", options={"xatol": 1e-3}).x))


def truth_posteriors(fitted: AnsweredModel[Any], data: Samples | Sequences) -> FloatArray:
    """p(true class | features, labels, answers) at every sample or token, (n_positions, K)."""
    from labelworth.estimation.answered import evidence_through, posteriors

    known = evidence_through(fitted.annotators, fitted.confusions, data)
    return posteriors(fitted.inner, replace(data, evidence=known, answers=None))
