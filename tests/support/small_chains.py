"""Small chains over words with data drawn from them."""

from dataclasses import replace

import numpy as np

from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.hidden_markov import HiddenMarkovModel

LABELS = ("B", "I", "O")
WORDS = ("the", "cat", "sat", "on")


def hidden_markov(rng: np.random.Generator, lengths: LengthDistribution | None = None) -> HiddenMarkovModel:
    return HiddenMarkovModel(
        LABELS,
        rng.dirichlet(np.full(3, 3.0)),
        rng.dirichlet(np.full(3, 2.0), size=3),
        rng.dirichlet(np.full(4, 2.0), size=3),
        WORDS,
        lengths,
    )


def boltzmann_chain(rng: np.random.Generator, *, with_start: bool = True) -> BoltzmannChainModel:
    start = rng.standard_normal(3) if with_start else None
    return BoltzmannChainModel(LABELS, start, rng.standard_normal((3, 3)), rng.standard_normal((3, 4)), WORDS)


def unseen(lengths: list[int]) -> Sequences:
    """Sequences of these lengths, without words or labels."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n_tokens = int(offsets[-1])
    return Sequences(np.full(n_tokens, -1), offsets, Evidence(np.full(n_tokens, -1), LABELS), WORDS)


def partly_labeled(
    model: HiddenMarkovModel | BoltzmannChainModel,
    lengths: list[int],
    rng: np.random.Generator,
    *,
    hidden: float = 0.4,
    ambiguous: float = 0.2,
    without_word: float = 0.0,
    weighted: bool = False,
) -> Sequences:
    """Drawn from the model; then some labels hidden, some replaced by sets of two, some words taken away."""
    drawn = model.sample(unseen(lengths), rng)
    codes, n_tokens = drawn.evidence.codes.copy(), drawn.n_tokens
    fate = rng.random(n_tokens)
    vague = np.flatnonzero(fate > 1 - ambiguous)
    sets = np.eye(3)[codes[vague]]
    sets[np.arange(len(vague)), (codes[vague] + 1) % 3] = 1.0
    codes[fate < hidden] = -1
    codes[vague] = -2 - np.arange(len(vague))
    words = np.where(rng.random(n_tokens) < without_word, -1, drawn.words)
    weights = rng.uniform(0.5, 2.0, len(lengths)) if weighted else None
    return replace(drawn, features=words, evidence=Evidence(codes, LABELS, sets.reshape(-1, 3)), weights=weights)


def every_outcome(length: int) -> Sequences:
    """All words with all labels, every sequence of that length once."""
    n_words, n_labels = len(WORDS), len(LABELS)
    pairs = np.indices((n_words * n_labels,) * length).reshape(length, -1).T.ravel()
    offsets = np.arange(0, len(pairs) + 1, length)
    return Sequences(pairs // n_labels, offsets, Evidence(pairs % n_labels, LABELS), WORDS)


def numerical_scores(model: HiddenMarkovModel | BoltzmannChainModel, sequences: Sequences) -> np.ndarray:
    """The gradient of `log_evidence` by central differences."""
    theta, step = model.coordinates.flatten(model.tables), 1e-5
    columns = []
    for unit in np.eye(len(theta)):
        ends = [
            model.with_tables(model.coordinates.named(theta + sign * step * unit)).log_evidence(sequences)
            for sign in (1, -1)
        ]
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.stack(columns, axis=1)
