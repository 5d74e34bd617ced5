"""Which tokens to label: policies of equal cost on synthetic sequences whose truth is known, predicted and tried."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.criteria.policy_information import policy_information
from labelworth.criteria.table import InformationTable
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.estimation.fit import fit
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily, HiddenMarkovModel
from labelworth.policies.spec import parse_policy
from labelworth.progress import SILENT, Progress, tracking

POLICIES = MappingProxyType(
    {
        "a few whole": "0.1*everything + 0.9*nothing",
        "every other": "0.2*every-other + 0.8*nothing",
        "windows of 5": "0.2*window:5 + 0.8*nothing",
        "first half": "0.2*prefix:5 + 0.8*nothing",
        "random tokens": "random:0.1",
        "first only": "prefix:1",
    }
)
"""One label per sequence of ten tokens each, spent in six ways."""

LENGTH = 10
_SMOOTHING = 0.01
"""So little that a probability of zero is ruled out and nothing else changes."""


@dataclass(frozen=True)
class SequenceDemoSettings:
    """How the demonstration is set up."""

    n_labels: int = 3  # Of the hidden Markov model that is the truth.
    n_words: int = 12
    n_sequences: int = 1500  # Sequences to learn from, as many labels.
    n_test: int = 1000  # Sequences to test on, new ones for every refit.
    n_refits: int = 40  # How often every policy is tried, each time on new sequences.
    relative_error: float = 0.03  # Standard error of the predicted figures, relative to each.


QUICK = SequenceDemoSettings(n_refits=8, n_test=500, relative_error=0.1)
"""The same story, rougher."""


@dataclass(frozen=True, eq=False)
class SequenceDemonstration:
    """What the demonstration measured."""

    settings: SequenceDemoSettings
    truth: HiddenMarkovModel
    # What the theory says of every policy, given the truth; the points are in the order of `POLICIES`.
    table: InformationTable
    # (n_policies, n_refits): What happened: excess conditional log-loss per sequence on test data, and the sum
    # of the squared errors of all probabilities.
    log_losses: FloatArray
    squared_errors: FloatArray


def draw_truth(n_labels: int, n_words: int, rng: np.random.Generator) -> HiddenMarkovModel:
    """A hidden Markov model that is neither trivial nor at the edge: every row has a part that is uniform."""

    def rows(count: int, size: int, concentration: float) -> FloatArray:
        drawn: FloatArray = 0.7 * rng.dirichlet(np.full(size, concentration), count) + 0.3 / size
        return drawn

    return HiddenMarkovModel(
        tuple("ABCDEFGH"[:n_labels]),
        rows(1, n_labels, 1.0)[0],
        rows(n_labels, n_labels, 0.5),
        rows(n_labels, n_words, 0.4),
        lengths=LengthDistribution.single(LENGTH),
    )


def demonstrate_policies(
    settings: SequenceDemoSettings, seed: int = 0, progress: Progress = SILENT
) -> SequenceDemonstration:
    """Run the demonstration; everything left to chance follows from `seed`."""
    rng = np.random.default_rng(seed)
    truth = draw_truth(settings.n_labels, settings.n_words, rng)
    table = policy_information(
        truth,
        policies=list(POLICIES.values()),
        n_samples=settings.n_sequences,
        lengths=truth.lengths,
        seed=int(rng.integers(2**32)),
        relative_error=settings.relative_error,
        progress=progress,
    )
    log_losses, squared_errors = _tried(truth, settings, rng, progress)
    return SequenceDemonstration(settings, truth, table, log_losses, squared_errors)


def _tried(
    truth: HiddenMarkovModel, settings: SequenceDemoSettings, rng: np.random.Generator, progress: Progress
) -> tuple[FloatArray, FloatArray]:
    """Fit under every policy, each time to new sequences, all policies to the same ones."""
    family = HiddenMarkovFamily(
        truth.classes, truth.n_features, _SMOOTHING, _SMOOTHING, truth.lengths, truth.feature_names
    )
    shape = (len(POLICIES), settings.n_refits)
    log_losses, squared_errors = np.empty(shape), np.empty(shape)
    with tracking(progress, "Trying the policies", shape[0] * shape[1]) as task:
        for refit in range(settings.n_refits):
            labeled = truth.sample(blank(truth, settings.n_sequences), rng)
            test = truth.sample(blank(truth, settings.n_test), rng)
            floor = conditional(truth, test)
            for index, policy in enumerate(POLICIES.values()):
                seen, _ = parse_policy(policy).apply(labeled, int(rng.integers(2**32)))
                model = fit(family, seen, rng=rng).model
                log_losses[index, refit] = (floor - conditional(model, test)).mean()
                squared_errors[index, refit] = _squared_error(truth, model)
                task.advance()
    return log_losses, squared_errors


def blank(model: HiddenMarkovModel, n_sequences: int) -> Sequences:
    """Sequences of which nothing is known but their length."""
    offsets: IntArray = LENGTH * np.arange(n_sequences + 1)
    n_tokens = int(offsets[-1])
    evidence = Evidence(np.full(n_tokens, -1), model.classes)
    return Sequences(np.zeros(n_tokens, dtype=np.int64), offsets, evidence, model.feature_names)


def conditional(model: HiddenMarkovModel, sequences: Sequences) -> FloatArray:
    """log p(y | x) of every sequence."""
    return model.log_evidence(sequences) - model.log_evidence(sequences.hide())


def _squared_error(truth: HiddenMarkovModel, model: HiddenMarkovModel) -> float:
    return float(sum(np.square(model.tables[name] - table).sum() for name, table in truth.tables.items()))
