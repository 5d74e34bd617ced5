"""What the recursion over a chain runs on: potentials as plain numbers, scaled, beside their logarithms.

Sums are taken over plain numbers, which is fast; logarithms are kept for sequences where those would underflow.
"""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.kernels.rows.tables import aligned_zeros, padded_width

SMALLEST_TRANSITION = 1e-60
"""How small transitions may be beside the largest for the recursion to vouch for its sums."""


class Chain(NamedTuple):
    """Start and transition of a chain; rows are filled up with zeros to `padded_width`."""

    start: FloatArray  # exp(log-potential - shift); the transition by rows, and by columns.
    transition: FloatArray
    transposed: FloatArray
    log_start: FloatArray  # (K,) and (K, K): The log-potentials themselves; minus infinity where impossible.
    log_transition: FloatArray
    start_shift: float  # What was taken off, so that the largest is one.
    transition_shift: float
    # Whether every transition is possible, and none smaller than 1e-60. Then what underflows at one position has
    # no weight later, and only the scale of a position can go wrong.
    mixing: bool
    narrow: bool  # Whether start and transitions that are possible are none smaller than 1e-60.


class Nodes(NamedTuple):
    """A table of what labels score: a row per word, or per token."""

    weights: FloatArray  # exp(log-potential - shift of the row).
    shifts: FloatArray  # (n_rows,): What was taken off each row.
    # (n_rows, K), or (0, K): The log-potentials; none where the weights are exact themselves, as probabilities
    # are.
    logs: FloatArray


class Tokens(NamedTuple):
    """Sequences, and what is known of their labels."""

    rows: AnyArray  # (n_tokens,): The row of `Nodes` that belongs to each token.
    offsets: IntArray  # (n_sequences + 1,): Sequence i is the tokens ``offsets[i]:offsets[i + 1]``.
    # (n_tokens,): The label; -1: nothing is known; at most -2: row ``-2 - code`` of `candidate_weights`.
    codes: IntArray
    candidate_weights: FloatArray  # (n_ambiguous, K): The likelihood of the evidence under every label.
    sequence_weights: FloatArray  # (n_sequences,): How much each sequence counts.


def make_chain(log_start: FloatArray, log_transition: FloatArray) -> Chain:
    """Scale start (K,) and transition (K, K), given as logarithms."""
    log_start, log_transition = (np.ascontiguousarray(logs, dtype=np.float64) for logs in (log_start, log_transition))
    n_labels, width = len(log_start), padded_width(len(log_start))
    start_shift, transition_shift = _largest(log_start), _largest(log_transition)
    start, transition, transposed = aligned_zeros(width), aligned_zeros(width * width), aligned_zeros(width * width)
    start[:n_labels] = np.exp(log_start - start_shift)
    matrix = np.exp(log_transition - transition_shift)
    transition.reshape(width, width)[:n_labels, :n_labels] = matrix
    transposed.reshape(width, width)[:n_labels, :n_labels] = matrix.T
    possible = np.concatenate([start[:n_labels][log_start > -np.inf], matrix[log_transition > -np.inf]])
    return Chain(
        start,
        transition,
        transposed,
        log_start,
        log_transition,
        start_shift,
        transition_shift,
        mixing=bool(matrix.min() >= SMALLEST_TRANSITION),
        narrow=bool(possible.min(initial=1.0) >= SMALLEST_TRANSITION),
    )


def nodes_from_logs(logs: FloatArray) -> Nodes:
    """Scale rows of log-potentials (n_rows, K), each by its largest."""
    logs = np.ascontiguousarray(logs, dtype=np.float64)
    n_rows, n_labels = logs.shape
    width = padded_width(n_labels)
    largest = logs.max(axis=1)
    shifts = np.where(np.isneginf(largest), 0.0, largest)
    weights = aligned_zeros(n_rows * width)
    np.exp(logs - shifts[:, None], out=weights.reshape(n_rows, width)[:, :n_labels])
    return Nodes(weights, shifts, logs)


def nodes_from_probabilities(emission: FloatArray) -> Nodes:
    """A row per word from emission probabilities (K, V), and a last row of ones for a word that was not seen."""
    n_labels, n_words = emission.shape
    width = padded_width(n_labels)
    weights = aligned_zeros((n_words + 1) * width)
    rows = weights.reshape(n_words + 1, width)
    rows[:n_words, :n_labels] = emission.T
    rows[n_words, :n_labels] = 1.0
    return Nodes(weights, np.zeros(n_words + 1), np.empty((0, n_labels)))


def make_tokens(
    rows: AnyArray,
    offsets: IntArray,
    codes: IntArray,
    candidate_weights: FloatArray,
    sequence_weights: FloatArray | None = None,
) -> Tokens:
    """The arrays of `Tokens`, contiguous and of the right types."""
    if sequence_weights is None:
        sequence_weights = np.ones(len(offsets) - 1)
    return Tokens(
        np.ascontiguousarray(rows, dtype=np.int64),
        np.ascontiguousarray(offsets, dtype=np.int64),
        np.ascontiguousarray(codes, dtype=np.int64),
        np.ascontiguousarray(candidate_weights, dtype=np.float64),
        np.ascontiguousarray(sequence_weights, dtype=np.float64),
    )


def _largest(logs: FloatArray) -> float:
    largest = float(logs.max())
    return largest if largest > -np.inf else 0.0
