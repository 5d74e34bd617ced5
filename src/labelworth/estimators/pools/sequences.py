"""Sequences as plans are made from them: with the words or attributes that occur, and which are labeled in part."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.channels.channel import Channel
from labelworth.data.sequences import Sequences
from labelworth.errors import LabelworthWarning, NotIdentifiableError
from labelworth.estimation.annotators import Annotators
from labelworth.estimation.answered import AnsweredFamily
from labelworth.estimation.answered_fit import fit_together
from labelworth.estimators.pools.pool import Abilities, Pool, PoolKind
from labelworth.fisher.criteria import CRITERIA
from labelworth.kernels.chains.layout import unweighted
from labelworth.kernels.chains.paths import draw_paths
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens, make_chain, make_tokens, nodes_from_logs
from labelworth.kernels.chains.sums import marginals
from labelworth.models.chains.occurrence import Occurrence
from labelworth.models.chains.protocol import ChainModel, Reference
from labelworth.progress import SILENT, Progress
from labelworth.robust.support import SequenceSupport
from labelworth.simulation.learner import MODES, Learner, LearnerKind, Mode

SearchAnswered = Callable[[Sequences, Progress], tuple[Any, dict[str, Any]]]
"""Sequences with answers -> the family to fit to them, and how a fit of it is found."""
FitChain = Callable[[Sequences, Any], ChainModel]
"""Sequences and a model to start from (or None) -> the fitted model."""


@dataclass(frozen=True, eq=False)
class ChainPrediction:
    r"""Predictions of tokens under :math:`p(y | x)^{1/T}`, the chain with all log-potentials divided by T."""

    model: ChainModel
    sequences: Sequences  # Without labels.

    @cached_property
    def best(self) -> IntArray:
        """The labels of the most probable sequence; the temperature does not change it."""
        return self.model.best_labels(self.sequences)

    def log_posteriors(self, temperature: float) -> FloatArray:
        """Logarithms of the marginals at every token."""
        chain, nodes, tokens = self._tempered(temperature)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(marginals(chain, nodes, unweighted(tokens))[1]))

    def draw(self, temperature: float, rng: np.random.Generator) -> IntArray:
        """Whole label sequences, neighbors agreeing with each other."""
        chain, nodes, tokens = self._tempered(temperature)
        return draw_paths(chain, nodes, tokens, rng.random(self.sequences.n_tokens))

    def _tempered(self, temperature: float) -> tuple[Chain, Nodes, Tokens]:
        potentials = self.model.log_potentials(self.sequences)
        chain = make_chain(potentials.start / temperature, potentials.transition / temperature)
        evidence = self.sequences.evidence
        tokens = make_tokens(
            np.arange(self.sequences.n_tokens), self.sequences.offsets, evidence.codes, evidence.weights, None
        )
        return chain, nodes_from_logs(potentials.nodes / temperature), tokens


@dataclass(frozen=True, eq=False)
class SequenceLearner(Learner[Sequences]):
    """A chain model on sequences with and without labels; labels only: sequences without any label are left out."""

    fit_chain: FitChain
    search: SearchAnswered | None = None  # How it learns from answers; None: it cannot.
    channels: tuple[Channel, ...] = ()  # What is known of those who answer.

    @property
    def kind(self) -> LearnerKind:
        return "sequences"

    @property
    def learns_answers(self) -> bool:
        return self.search is not None

    def fit_model(self, data: Sequences, start: ChainModel | None) -> ChainModel:
        if data.answers is None or self.search is None:
            return self.fit_chain(data, start)
        names = data.answers.names
        known = [channel for channel in self.channels if channel.name in names]
        family, options = self.search(data, SILENT)
        annotators = Annotators.of(names, family.classes, channels=known)
        model: ChainModel = fit_together(AnsweredFamily(family, annotators), data, options).model.inner
        return model

    def predict(self, model: ChainModel, data: Sequences) -> ChainPrediction:
        return ChainPrediction(model, data.hide())


@dataclass(frozen=True, eq=False)
class SequencePool(Pool[Sequences]):
    """Sequences with and without labels, and the model fitted to them."""

    refit: Callable[[Sequences, Progress], Any]  # Fits such a model to other sequences.
    search: SearchAnswered | None = None  # How such a model learns from answers; None: it cannot.

    kind: ClassVar[PoolKind] = "sequences"
    abilities: ClassVar[Abilities] = Abilities(formula_criteria=tuple(CRITERIA), most_parameters=300, rules=True)

    @cached_property
    def occurrence(self) -> Occurrence:
        """Which words or attributes occur in the sequences; the others are left out of plans by formulas."""
        return Occurrence.of(self.data)

    @cached_property
    def occurring_model(self) -> Any:
        """The model with no other words or attributes than those that occur."""
        return self.occurrence.of_model(self.model)

    @property
    def n_parameters(self) -> int:
        return int(self.occurring_model.coordinates.n_free)

    @cached_property
    def is_whole(self) -> BoolArray:
        """Which of the sequences that carry a label have one at every token."""
        labeled = self.data.take(self.is_labeled)
        return np.logical_and.reduceat(~labeled.evidence.is_unlabeled, labeled.offsets[:-1])

    @property
    def is_conditional(self) -> bool:
        return bool(self.model.reference is Reference.LABELS)

    @property
    def notes(self) -> list[str]:
        """What is left out of the count of parameters, where something is."""
        what = "attribute" if self.is_conditional else "word"
        return [] if self.occurrence.is_complete else [self.occurrence.note(what)]

    @cached_property
    def learner(self) -> SequenceLearner:
        modes: tuple[Mode, ...] = ("labels-only",) if self.is_conditional else MODES
        return SequenceLearner(
            lambda sequences, start: self.refit(sequences, SILENT).model, self.search, mode=modes[-1], modes=modes
        )

    def search_answered(self, data: Sequences) -> tuple[Any, dict[str, Any]]:
        """The family that learns from answers, and how a fit of it is found; only where the learner does."""
        assert self.search is not None
        return self.search(data, SILENT)

    def require_anchored(self) -> None:
        support = SequenceSupport.of(self.data)
        if support.indistinguishable:
            raise NotIdentifiableError(" ".join(support.lines()), [str(name) for name in support.never_labeled])

    def refit_reweighted(self, rng: np.random.Generator) -> Any:
        r"""The model of what occurs, fitted to the same sequences with other weights (the Bayesian bootstrap).

        Labeled and unlabeled sequences each among their own: the weights of n are n times a draw from the flat
        Dirichlet distribution. To first order that is drawing with replacement; but no label, word or attribute is
        ever lost, so that all fits have the same parameters.
        """
        weights = self.data.sequence_weights.copy()
        for group in (self.is_labeled, ~self.is_labeled):
            size = int(group.sum())
            if size:
                weights[group] *= size * rng.dirichlet(np.ones(size))
        with warnings.catch_warnings():
            # A fit may be slow to settle with weights far from each other: that is part of how unsure it is.
            warnings.simplefilter("ignore", LabelworthWarning)
            fitted = self.refit(replace(self.data, weights=weights), SILENT)
        return self.occurrence.of_model(fitted.model)


def require_sequences(sequences: Sequences) -> None:
    """Refuse data from which no plan can be made."""
    if sequences.evidence.is_unlabeled.all():
        raise NotIdentifiableError(
            "No token is labeled, so there is no pilot to plan from. Draw one with `labelworth next --count 50`."
        )
