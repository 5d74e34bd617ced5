"""Brute force over chains: every label sequence, one by one. Nothing is imported from the package."""

from collections.abc import Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np


class PlainSums(NamedTuple):
    """What summing over all label sequences gives."""

    log_totals: np.ndarray
    marginals: np.ndarray
    start: np.ndarray
    pairs: np.ndarray
    best: list[float]


def plain_evidence(codes: np.ndarray, candidate_weights: np.ndarray, n_labels: int) -> np.ndarray:
    """A weight per label for every token."""
    rows = []
    for code in np.asarray(codes).tolist():
        if code >= 0:
            rows.append(np.eye(n_labels)[code])
        else:
            rows.append(np.ones(n_labels) if code == -1 else np.asarray(candidate_weights)[-2 - code])
    return np.array(rows).reshape(len(rows), n_labels)


def path_scores(
    log_nodes: np.ndarray, log_transition: np.ndarray, log_start: np.ndarray, weights: np.ndarray
) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """All label sequences of one sequence, and the log-weight of each."""
    length, n_labels = log_nodes.shape
    paths = list(product(range(n_labels), repeat=length))
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    scores = [
        log_start[path[0]]
        + sum(log_nodes[place, label] + log_weights[place, label] for place, label in enumerate(path))
        + sum(log_transition[one, two] for one, two in pairwise(path))
        for path in paths
    ]
    return paths, np.array(scores)


def plain_sums(
    log_nodes: np.ndarray,
    log_transition: np.ndarray,
    log_start: np.ndarray,
    weights: np.ndarray,
    offsets: Sequence[int],
    sequence_weights: np.ndarray | None = None,
) -> PlainSums:
    """Everything that `chain_sums` gives, from log-potentials per token (n_tokens, K) and evidence (n_tokens, K)."""
    n_tokens, n_labels = log_nodes.shape
    counts = np.ones(len(offsets) - 1) if sequence_weights is None else sequence_weights
    totals, best = [], []
    marginals, start, pairs = np.zeros((n_tokens, n_labels)), np.zeros(n_labels), np.zeros((n_labels, n_labels))
    for first, last, count in zip(offsets, offsets[1:], counts, strict=False):
        paths, scores = path_scores(log_nodes[first:last], log_transition, log_start, weights[first:last])
        largest = scores.max()
        best.append(largest)
        if largest == -np.inf:
            totals.append(-np.inf)
            continue
        probabilities = np.exp(scores - largest)
        totals.append(largest + np.log(probabilities.sum()))
        probabilities *= count / probabilities.sum()
        for path, probability in zip(paths, probabilities, strict=True):
            start[path[0]] += probability
            for place, label in enumerate(path):
                marginals[first + place, label] += probability
            for one, two in pairwise(path):
                pairs[one, two] += probability
    return PlainSums(np.array(totals), marginals, start, pairs, best)


def weight_of_paths(
    labels: np.ndarray,
    log_nodes: np.ndarray,
    log_transition: np.ndarray,
    log_start: np.ndarray,
    weights: np.ndarray,
    offsets: Sequence[int],
) -> np.ndarray:
    """The log-weight of given label sequences, (n_sequences,)."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    scores = []
    for first, last in pairwise(offsets):
        path = labels[first:last]
        score = log_start[path[0]]
        for place, label in enumerate(path):
            score += log_nodes[first + place, label] + log_weights[first + place, label]
        score += sum(log_transition[one, two] for one, two in pairwise(path))
        scores.append(score)
    return np.array(scores)


class DrawnChain(NamedTuple):
    """Log-potentials per token, sequences and evidence."""

    log_nodes: np.ndarray
    log_transition: np.ndarray
    log_start: np.ndarray
    offsets: np.ndarray
    codes: np.ndarray
    candidate_weights: np.ndarray
    sequence_weights: np.ndarray

    @property
    def evidence(self) -> np.ndarray:
        return plain_evidence(self.codes, self.candidate_weights, len(self.log_start))

    def sums(self) -> PlainSums:
        return plain_sums(
            self.log_nodes,
            self.log_transition,
            self.log_start,
            self.evidence,
            self.offsets,
            self.sequence_weights,
        )


def draw_chain(
    seed: int,
    n_labels: int,
    lengths: list[int],
    *,
    spread: float = 1.0,
    impossible: float = 0.0,
    weighted: bool = True,
) -> DrawnChain:
    """Normal log-potentials times `spread`, a share of them impossible; a mixture of gold, missing and ambiguous."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n_tokens = int(offsets[-1])
    tables = [spread * rng.standard_normal(shape) for shape in ((n_tokens, n_labels), (n_labels, n_labels), n_labels)]
    for table in tables:
        table[rng.random(table.shape) < impossible] = -np.inf
    candidates = rng.random((3, n_labels)) * (rng.random((3, n_labels)) < 0.7)
    candidates[np.arange(3), rng.integers(n_labels, size=3)] = 1.0
    codes = np.where(rng.random(n_tokens) < 0.5, -1, rng.integers(-4, n_labels, size=n_tokens))
    weights = rng.uniform(0.2, 2.0, len(lengths)) if weighted else np.ones(len(lengths))
    return DrawnChain(*tables, offsets, codes, candidates, weights)


def open_counts(
    start: np.ndarray,
    pairs: np.ndarray,
    at_tokens: np.ndarray,
    rows: np.ndarray,
    codes: np.ndarray,
    offsets: np.ndarray,
    n_rows: int,
) -> np.ndarray:
    """Rows of first labels, pairs and words, (n, K + K * K + n_rows * K), from all expected counts.

    Left out are first labels, pairs and words all of whose labels are known, and rows of nodes beyond `n_rows`.
    """
    counts, n_labels = [], start.shape[1]
    for sequence, (first, last) in enumerate(pairwise(offsets)):
        own_start, own_pairs, words = start[sequence].copy(), pairs[sequence].copy(), np.zeros((n_rows, n_labels))
        if codes[first] >= 0:
            own_start[:] = 0.0
        for token in range(first, last):
            if token > first and codes[token - 1] >= 0 and codes[token] >= 0:
                own_pairs[codes[token - 1], codes[token]] -= 1.0
            if codes[token] < 0 and rows[token] < n_rows:
                words[rows[token]] += at_tokens[token]
        counts.append(np.concatenate([own_start, own_pairs.ravel(), words.ravel()]))
    return np.array(counts)
