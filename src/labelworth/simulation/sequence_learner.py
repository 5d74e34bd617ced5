"""Learners of label sequences: HMM, Boltzmann chain and CRF through one interface."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.kernels.chains.layout import unweighted
from labelworth.kernels.chains.paths import draw_paths
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens, make_chain, make_tokens, nodes_from_logs
from labelworth.kernels.chains.sums import marginals
from labelworth.models.chains.protocol import ChainModel
from labelworth.simulation.learner import Learner

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

    def fit_model(self, data: Sequences, start: ChainModel | None) -> ChainModel:
        return self.fit_chain(data, start)

    def predict(self, model: ChainModel, data: Sequences) -> ChainPrediction:
        return ChainPrediction(model, data.hide())
