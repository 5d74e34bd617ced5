"""Small chains of log-weights, and their likelihood with its derivatives by summing over all words and labels."""

from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from support.plain_chains import plain_evidence, plain_sums
from support.wrong_chains import LABELS, WORDS

KINDS = ("boltzmann", "boltzmann with start", "crf", "crf of some pairs")
_KEPT = [0, 2, 4, 5]
_STEP = 1e-4


def model_of(kind: str, rng: np.random.Generator) -> Any:
    """A random model of two labels and three words."""
    start = rng.normal(size=2) if kind == "boltzmann with start" else None
    transition, emission = rng.normal(size=(2, 2)), rng.normal(size=(2, 3))
    if kind.startswith("boltzmann"):
        return BoltzmannChainModel(LABELS, start, transition, emission, WORDS)
    if kind == "crf":
        return ConditionalRandomFieldModel(LABELS, start, transition, emission, WORDS)
    kept = sp.csc_array((emission.ravel()[[0, 4, 2, 5]], [0, 1, 0, 1], [0, 1, 2, 4]), (2, 3))
    return ConditionalRandomFieldModel(LABELS, start, transition, kept, WORDS)


def few(labels: list[int]) -> Sequences:
    """Three sequences of seven tokens in all, with these labels; -1: not known."""
    words = np.array([0, 1, 2, 2, 0, 1, 1])
    return Sequences(words, np.array([0, 3, 4, 7]), Evidence(np.array(labels), LABELS), WORDS)


class PlainChain:
    """The likelihood of what is known, from lists of all words and labels."""

    def __init__(self, model: Any, kind: str) -> None:
        self.kind = kind
        tables = model.tables
        parts = [np.ravel(tables[name]) for name in ("start", "transition", "emission") if name in tables]
        self.theta = self._free(np.concatenate(parts))

    def _free(self, counts: np.ndarray) -> np.ndarray:
        """Of the emissions of "crf of some pairs" only some are parameters."""
        if self.kind != "crf of some pairs":
            return counts
        return np.concatenate([counts[:4], counts[4:][_KEPT]])

    def _counts(self, labels: tuple[int, ...], words: Any) -> np.ndarray:
        start, pairs, emission = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 3))
        start[labels[0]] = 1
        for one, two in pairwise(labels):
            pairs[one, two] += 1
        for label, word in zip(labels, words, strict=True):
            emission[label, word] += 1
        first = [start] if self.kind == "boltzmann with start" else []
        return self._free(np.concatenate([*first, pairs.ravel(), emission.ravel()]))

    def _lists(self, sequences: Sequences) -> list[tuple[np.ndarray, np.ndarray]]:
        """Per sequence the counts of all that agrees with it, and of all it is compared with."""
        found = []
        for first, last in pairwise(sequences.offsets):
            words, codes = sequences.words[first:last], sequences.evidence.codes[first:last]
            paths = list(product(range(2), repeat=len(words)))
            agreeing = [path for path in paths if all(c in (-1, k) for c, k in zip(codes, path, strict=True))]
            others = [words] if self.kind.startswith("crf") else list(product(range(3), repeat=len(words)))
            found.append(
                (
                    np.array([self._counts(path, words) for path in agreeing]),
                    np.array([self._counts(path, other) for other in others for path in paths]),
                )
            )
        return found

    def log_likelihood(self, sequences: Sequences) -> np.ndarray:
        """Of every sequence."""
        return self._at(self.theta, self._lists(sequences))

    @staticmethod
    def _at(theta: np.ndarray, lists: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        return np.array([logsumexp(one @ theta) - logsumexp(all_ @ theta) for one, all_ in lists])

    def _scores(self, theta: np.ndarray, lists: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        steps = _STEP * np.eye(len(theta))
        columns = [self._at(theta + step, lists) - self._at(theta - step, lists) for step in steps]
        return np.array(columns).T / (2 * _STEP)

    def scores(self, sequences: Sequences) -> np.ndarray:
        """By differences, (n_sequences, d)."""
        return self._scores(self.theta, self._lists(sequences))

    def curvature(self, sequences: Sequences) -> np.ndarray:
        """Minus the mean Hessian, by differences of differences, (d, d)."""
        lists, steps = self._lists(sequences), _STEP * np.eye(len(self.theta))
        rows = [
            (self._scores(self.theta + step, lists) - self._scores(self.theta - step, lists)).mean(axis=0)
            for step in steps
        ]
        return -np.array(rows) / (2 * _STEP)


@dataclass(frozen=True)
class Drawn:
    """What to draw: sizes, how much of the labels is known, and whether attributes have weights of their own."""

    n_labels: int = 3
    n_attributes: int = 5
    lengths: tuple[int, ...] = (1, 3, 4, 2)
    gold: float = 1.0
    ambiguous: float = 0.0
    real_values: bool = False
    weighted: bool = False


def drawn_sequences(drawn: Drawn, rng: np.random.Generator) -> Sequences:
    """Random attributes, and labels of which some are known."""
    n_tokens = sum(drawn.lengths)
    present = rng.random((n_tokens, drawn.n_attributes)) < 0.5
    values = rng.normal(size=present.shape) if drawn.real_values else rng.integers(1, 3, size=present.shape)
    codes = rng.integers(drawn.n_labels, size=n_tokens)
    kind = rng.random(n_tokens)
    ambiguous = np.flatnonzero((kind >= drawn.gold) & (kind < drawn.gold + drawn.ambiguous))
    codes[kind >= drawn.gold] = -1
    codes[ambiguous] = -2 - np.arange(len(ambiguous))
    candidates = rng.random((len(ambiguous), drawn.n_labels)) * (rng.random((len(ambiguous), drawn.n_labels)) < 0.7)
    candidates[np.arange(len(ambiguous)), rng.integers(drawn.n_labels, size=len(ambiguous))] = 1.0
    return Sequences(
        sp.csr_array(np.where(present, values, 0).astype(float)),
        np.concatenate([[0], np.cumsum(drawn.lengths)]),
        Evidence(codes, tuple("ABCDEFGH"[: drawn.n_labels]), candidates),
        tuple(f"a{number}" for number in range(drawn.n_attributes)),
        rng.random(len(drawn.lengths)) + 0.1 if drawn.weighted else None,
    )


def log_evidence_by_hand(
    sequences: Sequences, start: np.ndarray, transition: np.ndarray, emission: np.ndarray
) -> np.ndarray:
    """log of the sum over compatible label sequences less that over all, (n_sequences,)."""
    nodes = sequences.attributes.toarray() @ np.asarray(emission).T
    evidence = sequences.evidence
    weights = plain_evidence(evidence.codes, evidence.weights, evidence.n_classes)
    offsets = sequences.offsets.tolist()
    clamped = plain_sums(nodes, transition, start, weights, offsets).log_totals
    return clamped - plain_sums(nodes, transition, start, np.ones_like(weights), offsets).log_totals
