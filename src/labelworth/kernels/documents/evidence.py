"""What is known of the classes of documents, and what need not be computed in every pass because of it."""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.kernels.documents.layout import Documents
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.rows.tables import padded_width


class Evidence(NamedTuple):
    """What is known of the class of every row of the CSR matrix, and how much it counts."""

    # (n_rows,): The class; -1: nothing is known; at most -2: row ``-2 - code`` of `candidate_weights`.
    codes: IntArray
    candidate_weights: FloatArray  # (n_ambiguous, n_classes): The likelihood of the evidence in every class.
    row_weights: FloatArray  # (n_rows,): How much each row counts.


class Known(NamedTuple):
    """What does not change from pass to pass: sums over the rows whose class was seen."""

    class_weights: FloatArray  # (n_classes,): Their weights.
    # (n_stored,): Where they have counts in a table of `padded_width` columns per word, flat, ascending.
    places: IntArray
    counts: FloatArray  # (n_stored,): Their weighted counts there.
    ranges: IntArray  # (N_RANGES + 1,): Where the ranges of words of the layout begin in `places`.


def sum_known(documents: Documents, evidence: Evidence, rows: AnyArray, n_classes: int) -> Known:
    """Sum the counts of rows whose class was seen, each times its weight, once for all passes."""
    width = padded_width(n_classes)
    class_weights, table = np.zeros(n_classes), np.zeros(documents.n_words * width)
    add_known(documents, evidence, np.ascontiguousarray(rows, dtype=np.int64), class_weights, table)
    places = np.flatnonzero(table)
    ranges = np.searchsorted(places, width * documents.range_words)
    return Known(class_weights, places, table[places], ranges)


@compiled()
def add_known(
    documents: Documents, evidence: Evidence, rows: IntArray, class_weights: FloatArray, table: FloatArray
) -> None:
    """Add the weights and counts of the rows to the sums of their classes."""
    width = np.int64(len(table) // max(1, documents.n_words))
    for row in rows:
        label, weight = evidence.codes[row], evidence.row_weights[row]
        class_weights[label] += weight
        for position in range(documents.starts[row], documents.starts[row + 1]):
            table[documents.words[position] * width + label] += weight * documents.counts[position]


@compiled()
def start_counts(known: Known, number: int, log_words: FloatArray, word_counts: FloatArray) -> float:
    """Write what is known into a range of a table of zeros; return its part of the log-likelihood."""
    total = 0.0
    for stored in range(known.ranges[number], known.ranges[number + 1]):
        position = known.places[stored]
        word_counts[position] = known.counts[stored]
        total += known.counts[stored] * log_words[position]
    return total
