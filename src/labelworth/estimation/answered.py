r"""Model and annotators together, from any mixture of gold, answers and nothing.

An answer is evidence e of the class that the annotator had in mind, which is v with probability q(v | y) where y is
the true one. The objective is

.. math:: \sum_i w_i \log \sum_y p_\theta(x_i, y)\, e_i(y) \prod_{a} \sum_v e_{ia}(v)\, q_a(v | y)
    + \log \text{prior}(\theta) + \log \text{prior}(q)

with the product over the answers to row i; of a sequence over those to all its tokens. Where an answer counts less
than 1, each factor of that product is raised to that power. An `AnsweredFamily` is an
`EMFamily` around another one, so `fit` climbs it as it climbs any.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Self

import numpy as np
from scipy.linalg import block_diag

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence, compact
from labelworth.data.rows import Rows
from labelworth.data.sequences import Sequences
from labelworth.data.shards.passes import DataT
from labelworth.errors import InvalidInputError
from labelworth.estimation.annotators import Annotators
from labelworth.estimation.starts import models_to_begin
from labelworth.models.blocks import Block, FreeTable, SimplexRows
from labelworth.models.classes.responsibilities import condition
from labelworth.models.coordinates import Coordinates
from labelworth.models.probability_rows import row_curvature, squared_distance
from labelworth.models.protocol import BegunFamily, EMFamily, Expectation, ParametersT, Pass, SlopedPass

CONFUSION, ACCURACY = "confusion", "accuracy"


@dataclass(frozen=True, eq=False)
class AnsweredModel(Generic[ParametersT]):
    """Parameters of the model, and the confusion tables of those who answer."""

    inner: ParametersT
    annotators: Annotators
    confusions: FloatArray  # (n_channels, K, K): q(v | y), a row per true class y.
    # (n_channels, K): How many answers about rows of each class there are, per unit of weight; for `divergence`.
    answer_rates: FloatArray

    @property
    def classes(self) -> tuple[Hashable, ...]:
        return self.inner.classes

    @cached_property
    def coordinates(self) -> Coordinates:
        """Those of the inner model, then what is estimated of the confusions: whole tables, then accuracies."""
        classes = [str(name) for name in self.classes]
        names, blocks = self.annotators.channel_names, list[Block]()
        if self.annotators.whole.size:
            rows = [f"{names[channel]}, {label}" for channel in self.annotators.whole for label in classes]
            blocks.append(SimplexRows(CONFUSION, rows, classes))
        if self.annotators.coins.size:
            rows = [names[channel] for channel in self.annotators.coins]
            blocks.append(FreeTable(ACCURACY, rows, [""], low=0.0, high=1.0))
        return Coordinates((*self.inner.coordinates.blocks, *blocks))

    @property
    def tables(self) -> Mapping[str, FloatArray]:
        own = {
            CONFUSION: self.confusions[self.annotators.whole].reshape(-1, len(self.classes)),
            ACCURACY: self.confusions[self.annotators.coins, :1, :1][:, 0],
        }
        return {**self.inner.tables, **{name: table for name, table in own.items() if table.size}}

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        confusions, n_classes = self.confusions.copy(), len(self.classes)
        if CONFUSION in tables:
            confusions[self.annotators.whole] = tables[CONFUSION].reshape(-1, n_classes, n_classes)
        if ACCURACY in tables:
            confusions[self.annotators.coins] = self.annotators.coin_tables(tables[ACCURACY][:, 0])
        inner = {name: table for name, table in tables.items() if name not in (CONFUSION, ACCURACY)}
        return replace(self, inner=self.inner.with_tables(inner), confusions=confusions)

    def divergence(self, other: Self) -> float:
        """Half the squared step in the complete information, in nats per sample."""
        steps = squared_distance(self.confusions, other.confusions)
        return self.inner.divergence(other.inner) + 2 * float((self.answer_rates * steps).sum())


@dataclass(frozen=True, eq=False)
class AnsweredFamily(Generic[ParametersT, DataT]):
    """How a model and those who answer are fitted together."""

    inner: EMFamily[ParametersT, DataT]
    annotators: Annotators
    begun: tuple[ParametersT, FloatArray] | None = None  # A model and confusions to begin from, if there are any.

    @property
    def classes(self) -> tuple[Hashable, ...]:
        return self.inner.classes

    def adapted(self, data: DataT, weights: FloatArray, /) -> Self:
        return replace(self, inner=self.inner.adapted(data, weights))

    def prepare(self, data: DataT, weights: FloatArray, /) -> "AnsweredPass[ParametersT, DataT]":
        return AnsweredPass(self, data, weights)

    def neutral(self) -> AnsweredModel[ParametersT]:
        return self._model(self.inner.neutral(), self.annotators.center)

    def starting_models(
        self, data: DataT, weights: FloatArray, n_starts: int, rng: np.random.Generator
    ) -> Iterator[AnsweredModel[ParametersT]]:
        """Where a fit was before, if it was; then the model of labels and answers as audited rows explain these.

        Without audited rows that is a vote, in which everybody is as good as the prior says.
        """
        if self.begun is not None:
            yield self._model(*self.begun)
            n_starts -= 1
        confusions = audited_confusions(self.annotators, data, weights)
        known = evidence_through(self.annotators, confusions, data)
        begun = replace(data, evidence=known, answers=None)
        for model in models_to_begin(self.inner, begun, weights, n_starts, rng):
            yield self._model(model, confusions)

    def maximize(self, statistics: Mapping[str, FloatArray]) -> AnsweredModel[ParametersT]:
        """The M-step of the inner family, and shares of the expected counts of (y, v)."""
        counts = statistics[CONFUSION]
        inner = {name: value for name, value in statistics.items() if name not in (CONFUSION, _WEIGHT)}
        model = self._model(self.inner.maximize(inner), self.annotators.maximize(counts))
        return replace(model, answer_rates=counts.sum(axis=2) / float(statistics[_WEIGHT]))

    def log_prior(self, model: AnsweredModel[ParametersT]) -> float:
        return self.inner.log_prior(model.inner) + self.annotators.log_prior(model.confusions)

    def prior_curvature(self, model: AnsweredModel[ParametersT]) -> FloatArray:
        blocks = [self.inner.prior_curvature(model.inner), *self.channel_curvatures(model)]
        return np.asarray(block_diag(*(block for block in blocks if block.size)))

    def channel_curvatures(self, model: AnsweredModel[ParametersT]) -> list[FloatArray]:
        """Minus the Hessian of the log prior of every channel that is estimated: whole tables, then accuracies."""
        annotators, blocks = self.annotators, []
        for channel in annotators.whole:
            pairs = zip(annotators.pseudo_counts[channel], model.confusions[channel], strict=True)
            blocks.append(np.asarray(block_diag(*(row_curvature(*pair) for pair in pairs))))
        for channel in annotators.coins:
            right, wrong = annotators.coin_counts(annotators.pseudo_counts[channel])
            accuracy = model.confusions[channel, 0, 0]
            blocks.append(np.full((1, 1), right / accuracy**2 + wrong / (1 - accuracy) ** 2))
        return blocks

    def smoother(self, factor: float) -> Self:
        """The same with an inner prior `factor` times as strong."""
        return replace(self, inner=self.inner.smoother(factor))

    def _model(self, inner: ParametersT, confusions: FloatArray) -> AnsweredModel[ParametersT]:
        return AnsweredModel(inner, self.annotators, confusions, np.ones(confusions.shape[:2]))


_WEIGHT = "total_weight"


class AnsweredPass(Generic[ParametersT, DataT]):
    """Data laid out for passes: what has no answer, or gold beside it, once; the rest anew with every pass."""

    def __init__(self, family: AnsweredFamily[ParametersT, DataT], data: DataT, weights: FloatArray) -> None:
        if data.answers is None:
            raise InvalidInputError("There are no answers: fit the family itself.")
        self._family: EMFamily[ParametersT, DataT] = family.inner
        self._total_weight = float(weights.sum())
        self._votes = family.annotators.votes(data.answers)
        positions = self._votes.positions
        owners = np.repeat(np.arange(data.n_samples), data.lengths)[positions]
        self._row_weights = weights[owners]
        self._gold = data.evidence.codes[positions]
        is_open = self._gold < 0
        self._is_open = np.flatnonzero(is_open)
        # An M-step that somebody wrote sees all rows at once: its statistics are no sums.
        self._is_open_sample = np.full(data.n_samples, isinstance(family.inner, BegunFamily))
        self._is_open_sample[owners[is_open]] = True
        bare = replace(data, answers=None)
        settled = np.flatnonzero(~self._is_open_sample)
        self._settled: Pass[ParametersT] | None = None
        if settled.size:
            self._settled = family.inner.prepare(bare.take(settled), weights[settled])
            self._require_m_step(self._settled)
        chosen = np.flatnonzero(self._is_open_sample)
        self._open: DataT = bare.take(chosen)
        self._open_weights = weights[chosen]
        # Where the rows with answers lie among the positions of what is open.
        among = np.searchsorted(data.positions_of(chosen), positions[is_open])
        self._open_positions: IntArray = among
        with np.errstate(divide="ignore"):
            self._log_labels: FloatArray = np.log(self._open.evidence.take(among).dense())

    def expectation(self, model: AnsweredModel[ParametersT]) -> Expectation:
        """The expected statistics of the inner model, and ``confusion``: the expected counts of (y, v)."""
        votes, tables = self._votes, model.confusions
        likelihood = votes.likelihood(tables)
        log_answers = votes.log_by_row(likelihood)
        responsibilities = np.zeros_like(log_answers)
        seen = np.flatnonzero(self._gold >= 0)
        responsibilities[seen, self._gold[seen]] = 1.0
        total = float(self._row_weights[seen] @ log_answers[seen, self._gold[seen]])
        parts = [] if self._settled is None else [self._settled.expectation(model.inner)]
        if self._open.n_samples:
            log_known = log_answers[self._is_open] + self._log_labels
            largest = log_known.max(axis=1)
            if np.isneginf(largest).any():
                return Expectation({}, -np.inf)
            total += float(self._row_weights[self._is_open] @ largest)
            open_data = self._known_as(np.exp(log_known - largest[:, None]))
            laid_out = self._family.prepare(open_data, self._open_weights)
            self._require_m_step(laid_out)
            parts.append(laid_out.expectation(model.inner))
            if self._is_open.size:
                responsibilities[self._is_open] = posteriors(model.inner, open_data)[self._open_positions]
        statistics = dict(parts[0].statistics)
        for part in parts[1:]:
            statistics = {name: value + part.statistics[name] for name, value in statistics.items()}
        responsibilities *= self._row_weights[:, None]
        statistics[CONFUSION] = votes.counts(tables, likelihood, responsibilities[votes.row])
        statistics[_WEIGHT] = np.array(self._total_weight)
        return Expectation(statistics, total + sum(part.log_likelihood for part in parts))

    def _known_as(self, weights: FloatArray) -> DataT:
        """What is open, with this evidence where there are answers."""
        evidence = self._open.evidence
        codes = evidence.codes.copy()
        codes[self._open_positions] = -2 - len(evidence.weights) - np.arange(len(weights))
        known = compact(codes, np.concatenate([evidence.weights, weights]), evidence.classes)
        return self._open.with_evidence(known)

    def _require_m_step(self, laid_out: Pass[ParametersT]) -> None:
        if isinstance(laid_out, SlopedPass):
            raise InvalidInputError(
                "A model that is fitted along the slope of its likelihood cannot learn from answers: it has no "
                "M-step. Give one (maximize=), or use labels alone."
            )


def posteriors(model: Any, data: Rows | Sequences) -> FloatArray:
    """p(y | x, evidence) at every sample or token, (n_positions, K)."""
    if isinstance(data, Sequences):
        return np.asarray(model.marginals(data))
    return condition(model.log_joint(data), data.evidence)[0]


def audited_confusions(annotators: Annotators, data: Rows | Sequences, weights: FloatArray) -> FloatArray:
    """The confusions that rows with gold and answers alone would give, (n_channels, K, K); the prior without any."""
    answers = require_answers(data)
    votes = annotators.votes(answers)
    owners = np.repeat(np.arange(data.n_samples), data.lengths)[votes.positions]
    gold = data.evidence.codes[votes.positions]
    seen = np.flatnonzero(gold >= 0)
    responsibilities = np.zeros((votes.n_rows, len(data.evidence.classes)))
    responsibilities[seen, gold[seen]] = weights[owners[seen]]
    tables = annotators.center
    return annotators.maximize(votes.counts(tables, votes.likelihood(tables), responsibilities[votes.row]))


def evidence_through(annotators: Annotators, confusions: FloatArray, data: Rows | Sequences) -> Evidence:
    """What labels and answers say of every sample or token, through these confusions.

    Raises
    ------
    InvalidInputError
        If some of it cannot be together.
    """
    return scaled_evidence(annotators, confusions, data)[0]


def scaled_evidence(
    annotators: Annotators, confusions: FloatArray, data: Rows | Sequences
) -> tuple[Evidence, FloatArray]:
    """The same, and the logarithms of what it was divided by where there are answers, (n_answered,)."""
    answers = require_answers(data)
    votes = annotators.votes(answers)
    log_known = votes.log_by_row(votes.likelihood(confusions))
    with np.errstate(divide="ignore"):
        log_known += np.log(data.evidence.take(votes.positions).dense())
    largest = log_known.max(axis=1, initial=-np.inf)
    impossible = np.flatnonzero(np.isneginf(largest))
    if impossible.size:
        position = int(votes.positions[impossible[0]])
        said_by = sorted({answers.names[code] for code in answers.annotators[answers.rows == position]})
        unit = "Token" if isinstance(data, Sequences) else "Row"
        raise InvalidInputError(
            f"{unit} {position} has labels and answers (of {', '.join(said_by[:8])}) that cannot be together: a "
            "confusion that was given as known rules out every class. Give it no zeros, or let it be estimated."
        )
    codes = data.evidence.codes.copy()
    is_open = codes[votes.positions] < 0
    weights = np.exp(log_known - largest[:, None])[is_open]
    codes[votes.positions[is_open]] = -2 - len(data.evidence.weights) - np.arange(len(weights))
    known = compact(codes, np.concatenate([data.evidence.weights, weights]), data.evidence.classes)
    return known, largest


def require_answers(data: Rows | Sequences) -> Answers:
    if data.answers is None:
        raise InvalidInputError("There are no answers; give Samples or Sequences with answers=.")
    return data.answers
