"""Posterior class probabilities of documents, only those that are not negligible."""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.kernels.compilation import compiled
from labelworth.kernels.documents import Documents

NEGLIGIBLE = -40.0
"""A class this many nats below the best one (a share of 4e-18, under the rounding of 1) counts as impossible."""


class Responsibilities(NamedTuple):
    """Posteriors, row by row; a class that is absent from its row has probability zero.

    Attributes
    ----------
    starts : int64 array of shape (n_documents + 1,)
        Where the row of each document of the layout begins.
    classes : int32 array of shape (n_stored,)
        The classes that are possible, ascending within a row.
    values : float64 array of shape (n_stored,)
        Their probabilities; a row sums to one, or is empty where no class can have produced the document.
    """

    starts: IntArray
    classes: AnyArray
    values: FloatArray


def find_responsibilities(
    documents: Documents,
    log_words: FloatArray,
    log_classes: FloatArray,
    codes: IntArray,
    candidate_weights: FloatArray,
) -> Responsibilities:
    """Compute the posterior of every document of the layout.

    Parameters
    ----------
    documents : Documents
        The layout.
    log_words : array of shape (n_words, n_classes) or wider
        Log-probability of every word in every class; further columns are ignored.
    log_classes : array of shape (n_classes,)
        Log-probability of every class.
    codes, candidate_weights : arrays of shape (n_rows,) and (n_ambiguous, n_classes)
        What is known of the class of every row, as in `labelworth.data.evidence`.
    """
    posterior = np.zeros((len(documents.rows), len(log_classes)))
    fill_posterior(documents, log_words, log_classes, codes, candidate_weights, posterior)
    starts = np.concatenate([[0], np.cumsum((posterior > 0).sum(axis=1))])
    classes = np.nonzero(posterior)[1].astype(np.int32)
    return Responsibilities(starts, classes, posterior[posterior > 0])


@compiled()
def fill_posterior(
    documents: Documents,
    log_words: FloatArray,
    log_classes: FloatArray,
    codes: IntArray,
    candidate_weights: FloatArray,
    posterior: FloatArray,
) -> None:
    """Write the posterior of every document as a dense row."""
    n_classes = len(log_classes)
    joint = np.empty(n_classes)
    for document in range(len(documents.rows)):
        row = documents.rows[document]
        code = codes[row]
        for label in range(n_classes):
            joint[label] = log_classes[label]
            if code <= -2:
                weight = candidate_weights[-2 - code, label]
                joint[label] += np.log(weight) if weight > 0 else -np.inf
            elif code >= 0 and code != label:
                joint[label] = -np.inf
        for place in range(documents.starts[row], documents.starts[row + 1]):
            for label in range(n_classes):
                joint[label] += documents.counts[place] * log_words[documents.words[place], label]
        best = joint.max()
        if best == -np.inf:
            continue
        total = 0.0
        for label in range(n_classes):
            if joint[label] - best > NEGLIGIBLE:
                posterior[document, label] = np.exp(joint[label] - best)
                total += posterior[document, label]
        for label in range(n_classes):
            posterior[document, label] /= total
