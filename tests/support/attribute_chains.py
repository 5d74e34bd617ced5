"""Small random sequences with attributes, and the log-likelihood of a CRF on them by brute force."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from support.plain_chains import plain_evidence, plain_sums


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
