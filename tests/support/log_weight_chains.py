"""Small chains of log-weights, and their likelihood with its derivatives by summing over all words and labels."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
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
