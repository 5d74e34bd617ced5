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
