r"""Covariances of the counts of sequences given what is known of their labels, added up over sequences.

Labels given words and evidence are a Markov chain. With :math:`P_t` its transition after place t, :math:`\phi_t` what
is counted at t (the first label, the pair that ends there, the word there beside its label) and
:math:`R_t(e, c) = E[\sum_{s \le t} \phi_s(e);\, y_t = c]`,

.. math:: E\Bigl[\sum_{s < t} \phi_s(e)\, \phi_t\Bigr] = \sum_c R_{t-1}(e, c)\, P_{t-1}(c, \cdot), \qquad
          R_t = R_{t-1} P_{t-1} + E[\phi_t;\, y_t]

so that all pairs of places are summed in one walk. A sequence has few of all words: only those are walked with.
"""

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens
from labelworth.kernels.chains.recursion import log_node
from labelworth.kernels.chains.sequence import is_known
from labelworth.kernels.machine.compilation import compiled


def count_covariance(chain: Chain, nodes: Nodes, tokens: Tokens) -> FloatArray:
    r"""The sum over sequences of weight times Cov(counts | evidence, x).

    Returns
    -------
    array of shape (K + K^2 + K n_rows, same)
        First labels; pairs, row by row; rows of nodes beside labels, label by label. A sequence that is impossible,
        or of which every label is known, adds nothing.

    Notes
    -----
    O(tokens * K^3 * W) for sequences of W distinct words: for K = 5 and sentences, microseconds a token.
    """
    n_labels, n_rows = len(chain.log_start), len(nodes.shifts)
    size = n_labels + n_labels * n_labels + n_labels * n_rows
    total = np.zeros((size, size))
    add_covariances(chain, nodes, tokens, total)
    return total


@compiled()
def add_covariances(chain: Chain, nodes: Nodes, tokens: Tokens, total: FloatArray) -> None:
    n_labels, longest = len(chain.log_start), 0
    for sequence in range(len(tokens.offsets) - 1):
        longest = max(longest, tokens.offsets[sequence + 1] - tokens.offsets[sequence])
    steps, first = np.empty((longest, n_labels, n_labels)), np.empty(n_labels)
    front = n_labels + n_labels * n_labels
    most = front + n_labels * min(longest, len(nodes.shifts))
    second, mean = np.empty((most, most)), np.empty(most)
    reached, before = np.empty((most, n_labels)), np.empty((most, n_labels))
    slots, events = np.empty(longest, dtype=np.int64), np.empty(most, dtype=np.int64)
    for sequence in range(len(tokens.offsets) - 1):
        start, stop = tokens.offsets[sequence], tokens.offsets[sequence + 1]
        weight = tokens.sequence_weights[sequence]
        if weight == 0.0 or is_known(tokens.codes, start, stop):
            continue
        if not label_chain(chain, nodes, tokens, start, stop, steps, first):
            continue
        size = list_events(tokens.rows, start, stop, n_labels, len(nodes.shifts), slots, events)
        walk(steps, first, slots, stop - start, size, second, mean, reached, before)
        for row in range(size):
            for column in range(size):
                products = second[row, column] + second[column, row]
                total[events[row], events[column]] += weight * (products - mean[row] * mean[column])


@compiled()
def label_chain(
    chain: Chain, nodes: Nodes, tokens: Tokens, start: int, stop: int, steps: FloatArray, first: FloatArray
) -> bool:
    """Fill the transition probabilities after every place but the last, and those of the first label.

    False where the evidence is impossible. All in logarithms, from the end to the beginning.
    """
    n_labels = len(first)
    future, logs = np.zeros(n_labels), np.empty(n_labels)
    for position in range(stop - start - 1, -1, -1):
        log_node(nodes, tokens, start + position, logs)
        for label in range(n_labels):
            future[label] += logs[label]
        if position == 0:
            for label in range(n_labels):
                first[label] = chain.log_start[label] + future[label]
            return normalize(first) > -np.inf
        for label in range(n_labels):
            row = steps[position - 1, label]
            for following in range(n_labels):
                row[following] = chain.log_transition[label, following] + future[following]
            logs[label] = normalize(row)
        largest = logs.max()
        if largest == -np.inf:
            return False
        # Only differences between labels matter, and those stay small.
        for label in range(n_labels):
            future[label] = logs[label] - largest
    return False


@compiled()
def normalize(row: FloatArray) -> float:
    """Turn log-weights into probabilities, and give the logarithm of their sum; zeros where all are impossible."""
    largest = row.max()
    if largest == -np.inf:
        row[:] = 0.0
        return -np.inf
    total = 0.0
    for position in range(len(row)):
        row[position] = np.exp(row[position] - largest)
        total += row[position]
    for position in range(len(row)):
        row[position] /= total
    return float(largest + np.log(total))


@compiled()
def list_events(
    rows: IntArray, start: int, stop: int, n_labels: int, n_rows: int, slots: IntArray, events: IntArray
) -> int:
    """Number what the sequence can count: fronts, then its distinct words; give how many there are.

    `slots` is where the word of every token begins, `events` the place of every event in the sum.
    """
    front = n_labels + n_labels * n_labels
    for event in range(front):
        events[event] = event
    size = front
    for token in range(start, stop):
        slot = -1
        for earlier in range(start, token):
            if rows[earlier] == rows[token]:
                slot = slots[earlier - start]
                break
        if slot < 0:
            slot = size
            for label in range(n_labels):
                events[size + label] = front + label * n_rows + rows[token]
            size += n_labels
        slots[token - start] = slot
    return size


@compiled()
def walk(
    steps: FloatArray,
    first: FloatArray,
    slots: IntArray,
    length: int,
    size: int,
    second: FloatArray,
    mean: FloatArray,
    reached: FloatArray,
    before: FloatArray,
) -> None:
    """Fill M with E[counts counts'] = M + M', and E[counts], of one sequence, over its own events."""
    n_labels = len(first)
    second[:size, :size] = 0.0
    mean[:size] = 0.0
    reached[:size] = 0.0
    here = first.copy()
    for label in range(n_labels):
        word = slots[0] + label
        second[label, word] += first[label]
        for event in (label, word):
            second[event, event] += 0.5 * first[label]
            mean[event] += first[label]
            reached[event, label] += first[label]
    n_met = slots[0] + n_labels  # events from here on have not happened yet
    for position in range(1, length):
        step, begin = steps[position - 1], slots[position]
        before[:n_met] = reached[:n_met]
        reached[:n_met] = 0.0
        for event in range(n_met):
            for label in range(n_labels):
                weight, pair = before[event, label], n_labels + label * n_labels
                if weight == 0.0:
                    continue
                for following in range(n_labels):
                    # The pair (label, following) happens now, `event` before.
                    joint = weight * step[label, following]
                    second[event, pair + following] += joint
                    reached[event, following] += joint
            for following in range(n_labels):
                second[event, begin + following] += reached[event, following]
        n_met = max(n_met, begin + n_labels)
        for following in range(n_labels):
            word, now = begin + following, 0.0
            for label in range(n_labels):
                pair = n_labels + label * n_labels + following
                probability = here[label] * step[label, following]
                second[pair, pair] += 0.5 * probability
                second[pair, word] += probability
                mean[pair] += probability
                reached[pair, following] += probability
                now += probability
            second[word, word] += 0.5 * now
            mean[word] += now
            reached[word, following] += now
        move(here, step)


@compiled()
def move(here: FloatArray, step: FloatArray) -> None:
    """One step of a chain of labels."""
    before = here.copy()
    for following in range(len(here)):
        here[following] = 0.0
        for label in range(len(here)):
            here[following] += before[label] * step[label, following]
