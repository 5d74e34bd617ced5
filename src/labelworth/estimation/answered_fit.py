"""Fit a model and those who answer together; strength that annotators share is chosen on the way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray, require_between
from labelworth.channels.channel import Channel
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.data.shards.passes import DataT
from labelworth.estimation.annotators import Annotators, ConfusionKind
from labelworth.estimation.answered import AnsweredFamily, AnsweredModel, require_answers
from labelworth.estimation.fit import Fit, fit
from labelworth.estimation.starts import LARGEST
from labelworth.estimation.turns import SteppedFamily, fit_in_turns
from labelworth.estimation.votes import Votes
from labelworth.models.protocol import EMFamily, ParametersT

_ROUNDS = 2
_STEPS = 6  # of EM, where classes are not far from known
_N_FOLDS = 4
_N_STRENGTHS = 9
_MOST_ANSWERS = 20_000
_WEAKEST, _STRONGEST = 0.3, 1e3  # answers about each class


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
        return fit_together(AnsweredFamily(family, separate), data, options)
    pooled = Annotators.of(answers.names, family.classes, pooled=True, **given)
    fitted = fit_together(AnsweredFamily(family, pooled), data, options)
    inner, tables = fitted.model.inner, fitted.model.confusions[pooled.channels]
    # Every annotator has a table of their own in `separate`, in the order of the names.
    common = np.flatnonzero(is_common)
    for _ in range(_ROUNDS):
        others = _seen_by_others(AnsweredModel(inner, separate, tables, np.ones(tables.shape[:2])), data, common)
        center, strengths = separate.center.copy(), separate.pseudo_counts.sum(axis=2)
        center[common], strengths[common] = shared_prior(others, separate.pseudo_counts[common[0]], tables[common])
        annotators = separate.with_prior(center, strengths)
        fitted = fit_together(AnsweredFamily(family, annotators, (inner, tables)), data, options)
        inner, tables = fitted.model.inner, fitted.model.confusions
    return fitted


def fit_together(
    family: AnsweredFamily[ParametersT, DataT], data: DataT, options: Mapping[str, Any]
) -> Fit[AnsweredModel[ParametersT], Any]:
    """Fit model and annotators as they are given: by EM, or in turns where the model is known by its fits alone."""
    if isinstance(family.inner, SteppedFamily):
        return fit_in_turns(family, data, **options)
    return fit(family, data, **options)


@dataclass(frozen=True, eq=False)
class SeenByOthers:
    """Answers, each with what all else says of the true class: features, label, and the other answers."""

    votes: Votes
    classes: FloatArray  # (m, K)

    def expected_counts(self, tables: FloatArray, counted: BoolArray | None = None) -> FloatArray:
        """What every annotator is expected to have meant, with these tables, (A, K, K); of some answers or all."""
        likelihood = self.votes.likelihood(tables)
        shares = self.classes * likelihood
        shares /= shares.sum(axis=1, keepdims=True)
        return self.votes.counts(tables, likelihood, shares if counted is None else shares * counted[:, None])

    def tables(self, pseudo_counts: FloatArray, counted: BoolArray) -> FloatArray:
        """The tables of every annotator from these answers, by EM, (A, K, K)."""
        tables: FloatArray = pseudo_counts / pseudo_counts.sum(axis=2, keepdims=True)
        for _ in range(_STEPS):
            total = pseudo_counts + self.expected_counts(tables, counted)
            tables = np.asarray(total / total.sum(axis=2, keepdims=True))
        return tables

    def part(self, most: int) -> "SeenByOthers":
        """The answers of as many annotators, drawn at random, as have so many together."""
        channel = self.votes.channel
        counts = np.bincount(channel)
        order = np.random.default_rng(0).permutation(len(counts))
        kept = order[: max(int(np.searchsorted(np.cumsum(counts[order]), most)), 1)]
        if len(kept) == len(counts):
            return self
        entries = np.flatnonzero(np.isin(channel, kept))
        codes = np.arange(int(channel.max()) + 1)
        return SeenByOthers(self.votes.only(entries, codes, self.votes.n_channels), self.classes[entries])


def _seen_by_others(model: AnsweredModel[Any], data: Any, common: IntArray) -> SeenByOthers:
    """The answers of these annotators, who are counted anew from 0."""
    answers = require_answers(data)
    votes = model.annotators.votes(answers)
    shares = truth_posteriors(model, data)[votes.positions][votes.row]
    with np.errstate(divide="ignore"):
        own = votes.likelihood(model.confusions) ** -votes.weight
    # What nobody holds possible stays so.
    rest = np.multiply(shares, own, out=np.zeros_like(shares), where=shares > 0)
    code = np.full(len(answers.names), -1)
    code[common] = np.arange(len(common))
    chosen = np.flatnonzero(code[votes.channel] >= 0)
    return SeenByOthers(votes.only(chosen, code, len(common)), rest[chosen] / rest[chosen].sum(axis=1, keepdims=True))


def shared_prior(
    others: SeenByOthers, pseudo_counts: FloatArray, tables: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""What all others say of each annotator: prior means (A, K, K), and how many answers that is worth (A, K).

    The mean of a is the table of all others together. It is as strong as they are alike (s of `shared_strength`), and
    no stronger than it is known itself: with n_b answers of each other about a class, N in all,

    .. math:: \frac{1}{\text{strength}} = \frac{1}{s} + \frac{1}{N} + \frac{\sum_b n_b^2}{s N^2}

    for the spread of annotators about their mean, of answers about their annotator, and of those who happened to be
    asked about all who could be.
    """
    counts = others.expected_counts(tables)
    totals = counts.sum(axis=2)
    center = pseudo_counts + counts.sum(axis=0) - counts
    center /= center.sum(axis=2, keepdims=True)
    alike = shared_strength(others, center)
    sums = pseudo_counts.sum(axis=1) + totals.sum(axis=0) - totals
    squares = np.square(totals).sum(axis=0) - np.square(totals)
    return center, 1 / (1 / alike + 1 / sums + squares / (alike * np.square(sums)))


def shared_strength(others: SeenByOthers, center: FloatArray) -> float:
    r"""How alike annotators are: the s with which their tables foretell their own answers best.

    The answers of each are cut into folds; a fold has the probability
    :math:`\prod_j \sum_y r_j(y) \sum_v e_j(v)\, q_a(v | y)` with q the table that the other folds give when the
    center counts as s answers about each class, and r what all else says of the class. Expected counts taken for
    counts would not do, nor would a bound by variational Bayes: what is vague in answers follows the center, and
    everybody would look like it.
    """
    others = others.part(_MOST_ANSWERS)
    fold = _folds(others.votes.channel)
    logarithms = np.linspace(np.log(_WEAKEST), np.log(_STRONGEST), _N_STRENGTHS)
    fits = np.zeros(_N_STRENGTHS)
    for number, strength in enumerate(np.exp(logarithms)):
        for own in range(_N_FOLDS):
            tables = others.tables(strength * center, fold != own)
            likelihood = (others.classes * others.votes.likelihood(tables))[fold == own].sum(axis=1)
            fits[number] += float(np.log(likelihood).sum())
    # Where nobody has two answers to tell by, all fit alike, and everybody is taken to be.
    best = int(np.flatnonzero(fits >= fits.max() - 1e-9)[-1])
    around = slice(max(best - 1, 0), best + 2)
    if len(fits[around]) < 3 or best == _N_STRENGTHS - 1:
        return float(np.exp(logarithms[best]))
    curve = np.polyfit(logarithms[around], fits[around], 2)
    return float(np.exp(-curve[1] / (2 * curve[0])))


def _folds(channel: IntArray) -> IntArray:
    """The answers of every annotator in turn."""
    order = np.lexsort((np.random.default_rng(0).random(len(channel)), channel))
    fold = np.empty(len(channel), dtype=np.int64)
    fold[order] = np.arange(len(channel)) % _N_FOLDS
    return fold


def truth_posteriors(fitted: AnsweredModel[Any], data: Samples | Sequences) -> FloatArray:
    """p(true class | features, labels, answers) at every sample or token, (n_positions, K)."""
    from labelworth.estimation.answered import evidence_through, posteriors

    known = evidence_through(fitted.annotators, fitted.confusions, data)
    return posteriors(fitted.inner, replace(data, evidence=known, answers=None))
