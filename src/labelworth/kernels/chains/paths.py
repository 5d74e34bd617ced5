"""Single label sequences: the most probable one, and draws from the posterior; both respect what is known."""

from collections.abc import Callable
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.chains.layout import bounds_by_tokens
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens
from labelworth.kernels.chains.recursion import forward, log_node
from labelworth.kernels.chains.sequence import log_forward
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import fetch_and_add
from labelworth.kernels.machine.threads import n_threads_for, run_together

_IMPOSSIBLE = -1
_PIECE = 1024


def best_paths(
    chain: Chain, nodes: Nodes, tokens: Tokens, n_threads: int | None = None
) -> tuple[IntArray, FloatArray]:
    """The most probable labels (n_tokens,) given the evidence, and what they score (n_sequences,).

    Of equal ones, that with the smallest codes, read from the end. Labels are -1 where no sequence is possible.
    """
    labels, scores = np.empty(len(tokens.codes), dtype=np.int64), np.empty(len(tokens.offsets) - 1)
    _run(work_on_best, (chain, nodes, tokens), (labels, scores), n_threads)
    return labels, scores


def draw_paths(
    chain: Chain, nodes: Nodes, tokens: Tokens, uniforms: FloatArray, n_threads: int | None = None
) -> IntArray:
    """Labels drawn from p(y | evidence), (n_tokens,), one uniform number for each; -1 where none are possible."""
    labels = np.empty(len(tokens.codes), dtype=np.int64)
    _run(work_on_draws, (chain, nodes, tokens), (uniforms, labels), n_threads)
    return labels


def _run(
    work: Callable[..., None], inputs: tuple[Chain, Nodes, Tokens], outputs: tuple[Any, ...], n_threads: int | None
) -> None:
    tokens, bounds, counters = inputs[2], bounds_by_tokens(inputs[2].offsets, _PIECE), np.zeros(2, dtype=np.int64)
    size = len(tokens.codes) * len(inputs[0].transition)
    n_threads = n_threads_for(size) if n_threads is None else n_threads
    run_together(work, (*inputs, bounds, *outputs, counters), n_threads, counters[1:], len(bounds) - 1)


@compiled()
def work_on_best(
    chain: Chain,
    nodes: Nodes,
    tokens: Tokens,
    bounds: IntArray,
    labels: IntArray,
    scores: FloatArray,
    counters: IntArray,
) -> None:
    """What one thread does of `best_paths`."""
    while True:
        piece = fetch_and_add(counters, 0, 1)
        if piece >= len(bounds) - 1:
            return
        for sequence in range(bounds[piece], bounds[piece + 1]):
            first, last = tokens.offsets[sequence], tokens.offsets[sequence + 1]
            scores[sequence] = best_path(chain, nodes, tokens, first, last, labels)
        fetch_and_add(counters, 1, 1)


@compiled()
def best_path(chain: Chain, nodes: Nodes, tokens: Tokens, first: int, last: int, labels: IntArray) -> float:
    """Viterbi's recursion: the best score of any labels up to a position that end in each label."""
    n_labels = len(chain.log_start)
    origins = np.empty((last - first, n_labels), dtype=np.int32)
    best, logs = np.empty(n_labels), np.empty(n_labels)
    # Scores are kept relative to the best at each position, so that long sequences lose no digits.
    total = 0.0
    for position in range(last - first):
        log_node(nodes, tokens, first + position, logs)
        for label in range(n_labels):
            if position == 0:
                logs[label] += chain.log_start[label]
            else:
                origin, score = 0, -np.inf
                for candidate in range(n_labels):
                    value = best[candidate] + chain.log_transition[candidate, label]
                    if value > score:
                        origin, score = candidate, value
                origins[position, label] = origin
                logs[label] += score
        label = largest_position(logs)
        largest = logs[label]
        if largest == -np.inf:
            labels[first:last] = _IMPOSSIBLE
            return -np.inf
        total += largest
        for origin in range(n_labels):
            best[origin] = logs[origin] - largest
    label = largest_position(best)
    for position in range(last - first - 1, -1, -1):
        labels[first + position] = label
        if position > 0:
            label = origins[position, label]
    return total


@compiled()
def largest_position(values: FloatArray) -> int:
    """Where the largest value is; the first of equal ones."""
    best = 0
    for position in range(1, len(values)):
        if values[position] > values[best]:
            best = position
    return best


@compiled()
def work_on_draws(
    chain: Chain,
    nodes: Nodes,
    tokens: Tokens,
    bounds: IntArray,
    uniforms: FloatArray,
    labels: IntArray,
    counters: IntArray,
) -> None:
    """What one thread does of `draw_paths`."""
    longest = 0
    for sequence in range(len(tokens.offsets) - 1):
        longest = max(longest, tokens.offsets[sequence + 1] - tokens.offsets[sequence])
    forwards, scales = np.empty(longest * len(chain.start)), np.empty(longest)
    while True:
        piece = fetch_and_add(counters, 0, 1)
        if piece >= len(bounds) - 1:
            return
        for sequence in range(bounds[piece], bounds[piece + 1]):
            first, last = tokens.offsets[sequence], tokens.offsets[sequence + 1]
            total = forward(chain, nodes, tokens, first, last, forwards, scales)
            if np.isnan(total):
                total = log_forward(chain, nodes, tokens, first, last, forwards, scales)
                draw_in_logarithms(chain, total, first, last, forwards, uniforms, labels)
            else:
                draw_path(chain, first, last, forwards, uniforms, labels)
        fetch_and_add(counters, 1, 1)


@compiled()
def draw_path(
    chain: Chain, first: int, last: int, forwards: FloatArray, uniforms: FloatArray, labels: IntArray
) -> None:
    """The last label from its forward weights, then each label given the next."""
    n_labels, width = len(chain.log_start), len(chain.start)
    weights, label = np.empty(n_labels), 0
    for position in range(last - first - 1, -1, -1):
        for origin in range(n_labels):
            weights[origin] = forwards[position * width + origin]
            if first + position < last - 1:
                weights[origin] *= chain.transition[origin * width + label]
        label = draw_one(weights, uniforms[first + position])
        labels[first + position] = label


@compiled()
def draw_in_logarithms(
    chain: Chain,
    total: float,
    first: int,
    last: int,
    forwards: FloatArray,
    uniforms: FloatArray,
    labels: IntArray,
) -> None:
    """The same from logarithms of forward weights."""
    if total == -np.inf:
        labels[first:last] = _IMPOSSIBLE
        return
    n_labels, width = len(chain.log_start), len(chain.start)
    weights, label = np.empty(n_labels), 0
    for position in range(last - first - 1, -1, -1):
        for origin in range(n_labels):
            weights[origin] = forwards[position * width + origin]
            if first + position < last - 1:
                weights[origin] += chain.log_transition[origin, label]
        largest = weights[largest_position(weights)]
        for origin in range(n_labels):
            weights[origin] = np.exp(weights[origin] - largest)
        label = draw_one(weights, uniforms[first + position])
        labels[first + position] = label


@compiled()
def draw_one(weights: FloatArray, uniform: float) -> int:
    """A position drawn in proportion to its weight; never one of weight zero."""
    total, drawn = 0.0, 0
    for weight in weights:
        total += weight
    target = uniform * total
    for position in range(len(weights)):
        if weights[position] > 0.0:
            drawn = position
            target -= weights[position]
            if target < 0.0:
                return drawn
    return drawn
