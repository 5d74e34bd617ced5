"""Learners of label sequences: HMM, Boltzmann chain and CRF through one interface."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.estimation.fit import fit
from labelworth.kernels.chain_layout import unweighted
from labelworth.kernels.chain_paths import draw_paths
from labelworth.kernels.chain_potentials import Chain, Nodes, Tokens, make_chain, make_tokens, nodes_from_logs
from labelworth.kernels.chain_sums import marginals
from labelworth.models.boltzmann_chain import BoltzmannChainFamily
from labelworth.models.chain_protocol import ChainModel
from labelworth.models.chain_runs import unlabeled_sequences
from labelworth.models.hidden_markov import HiddenMarkovFamily, HiddenMarkovModel
from labelworth.policies.policy import Policy
from labelworth.simulation.learner import MODES, Mode

FitChain = Callable[[Sequences, Any], ChainModel]
"""Sequences and a model to start from (or None) -> the fitted model."""

_TOLERANCE = 1e-2  # nats per sequence


@dataclass(frozen=True, eq=False)
class ChainPrediction:
    r"""Predictions of tokens under :math:`p(y | x)^{1/T}`, the chain with all log-potentials divided by T.

    Attributes
    ----------
    model : ChainModel
    sequences : Sequences
        Without labels.
    """

    model: ChainModel
    sequences: Sequences

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
class SequenceLearner:
    """A chain model on sequences with and without labels.

    Attributes
    ----------
    fit_chain : function of sequences and a start
        See `hidden_markov_learner`, `boltzmann_chain_learner`, `conditional_learner`.
    mode : "labels-only" or "semi-supervised"
        Labels only: sequences without any label are left out.
    modes : tuple
        What it can do: a CRF learns nothing from sequences without labels.
    """

    fit_chain: FitChain
    mode: Mode = "semi-supervised"
    modes: tuple[Mode, ...] = MODES

    def in_mode(self, mode: Mode) -> "SequenceLearner":
        """The same learner with or without the unlabeled sequences."""
        return replace(self, mode=mode)

    def places_per_unit(self, data: Sequences) -> IntArray:
        """The tokens of every sequence."""
        return data.lengths

    def codes(self, data: Sequences) -> IntArray:
        """The label of every token, -1 where it is not known."""
        return np.maximum(data.evidence.codes, -1)

    def take(self, data: Sequences, units: IntArray) -> Sequences:
        """Keep these sequences."""
        return data.take(units)

    def labeled(self, data: Sequences, codes: IntArray) -> Sequences:
        """The same tokens with these labels."""
        return data.with_evidence(Evidence(codes, data.evidence.classes))

    def hide(self, data: Sequences, kept: IntArray, policy: Policy | None = None, seed: int = 0) -> Sequences:
        """Forget all labels but those of the sequences `kept`, and of these what the policy would not have bought.

        One seed draws the same places whatever is kept, so that larger sets contain smaller ones.
        """
        shown = np.zeros(data.n_tokens, dtype=bool)
        shown[data.tokens_of(kept)] = True
        if policy is not None:
            shown &= policy.draw(data, seed).labeled
        return data.hide(~shown)

    def fit(self, data: Sequences, start: ChainModel | None = None) -> ChainModel:
        """The fit to all sequences, or to those with labels."""
        if self.mode == "labels-only":
            data, start = data.take(~unlabeled_sequences(data)), None
        return self.fit_chain(data, start)

    def predict(self, model: ChainModel, data: Sequences) -> ChainPrediction:
        """Predictions of all tokens."""
        return ChainPrediction(model, data.hide())


def hidden_markov_learner(
    family: HiddenMarkovFamily,
    *,
    unlabeled_weight: float = 1.0,
    start_smoothing: float = 1.0,
    tolerance: float = _TOLERANCE,
    max_iterations: int = 1000,
) -> SequenceLearner:
    """EM for hidden Markov models; the tolerance is in nats per sequence."""

    def fit_chain(sequences: Sequences, start: HiddenMarkovModel | None) -> ChainModel:
        return fit(
            family,
            sequences,
            start=start,
            start_smoothing=start_smoothing,
            unlabeled_weight=unlabeled_weight,
            tolerance=tolerance,
            max_iterations=max_iterations,
        ).model

    return SequenceLearner(fit_chain)


def boltzmann_chain_learner(
    family: BoltzmannChainFamily,
    *,
    unlabeled_weight: float = 1.0,
    tolerance: float = 1e-4,
    max_iterations: int = 1000,
) -> SequenceLearner:
    """L-BFGS for Boltzmann chains; the tolerance is in nats per sequence gained in ten iterations."""

    def fit_chain(sequences: Sequences, start: Any) -> ChainModel:
        return fit_boltzmann_chain(
            family,
            sequences,
            start=start,
            unlabeled_weight=unlabeled_weight,
            tolerance=tolerance,
            max_iterations=max_iterations,
        ).model

    return SequenceLearner(fit_chain)


def conditional_learner(*, c2: float = 1.0, tolerance: float = 1e-4, max_iterations: int = 1000) -> SequenceLearner:
    """L-BFGS for conditional random fields, which learn from labeled sequences alone."""

    def fit_chain(sequences: Sequences, start: Any) -> ChainModel:
        return fit_conditional(
            sequences, c2=c2, start=start, tolerance=tolerance, max_iterations=max_iterations
        ).model

    return SequenceLearner(fit_chain, "labels-only", ("labels-only",))
