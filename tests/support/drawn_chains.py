"""Random chains with random evidence: plain arrays, nothing from the package."""

from typing import NamedTuple

import numpy as np

from support.plain_chains import PlainSums, plain_evidence, plain_sums


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
