"""Populations of labeled sequences: one that a Boltzmann chain describes exactly, and one that it does not."""

from itertools import pairwise, product

import numpy as np

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences

LABELS = ("A", "B")
WORDS = ("u", "v", "w")
TRANSITION = np.array([[3, 1], [1, 2]])
EMISSION = np.array([[3, 2, 1], [1, 1, 4]])


def sequences_of(rows: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> Sequences:
    """Pairs of words and labels."""
    words = np.concatenate([np.array(words) for words, _ in rows])
    labels = np.concatenate([np.array(labels) for _, labels in rows])
    offsets = np.concatenate([[0], np.cumsum([len(words) for words, _ in rows])])
    return Sequences(words, offsets, Evidence(labels, LABELS), WORDS)


def exact_population(length: int) -> Sequences:
    """Every (x, y) of a length as often as it weighs: weights are whole numbers, so the model is exactly right."""
    rows = []
    for labels in product(range(2), repeat=length):
        for words in product(range(3), repeat=length):
            weight = int(np.prod([EMISSION[label, word] for label, word in zip(labels, words, strict=True)]))
            weight *= int(np.prod([TRANSITION[one, two] for one, two in pairwise(labels)]))
            rows += [(words, labels)] * weight
    return sequences_of(rows)


def wrong_population(n_sequences: int, length: int, seed: int) -> Sequences:
    """A word repeats the one before it half of the time, whatever the labels: no chain of labels does that."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_sequences):
        labels, words = [int(rng.integers(2))], []
        for _ in range(length - 1):
            chances = TRANSITION[labels[-1]] / TRANSITION[labels[-1]].sum()
            labels.append(int(rng.choice(2, p=chances)))
        for label in labels:
            fresh = int(rng.choice(3, p=EMISSION[label] / EMISSION[label].sum()))
            words.append(words[-1] if words and rng.random() < 0.5 else fresh)
        rows.append((tuple(words), tuple(labels)))
    return sequences_of(rows)
