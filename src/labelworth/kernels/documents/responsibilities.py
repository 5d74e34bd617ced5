"""Posterior class probabilities of documents, only those that are not negligible."""

from typing import NamedTuple

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.kernels.documents.expectation import Workspace, make_workspace, pad_classes, read_rows
from labelworth.kernels.documents.layout import PIECE, Documents, Evidence, block_documents
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.rows.tables import padded_width

NEGLIGIBLE = -40.0
"""A class this many nats below the best one (a share of 4e-18, under the rounding of 1) counts as impossible."""

_COLUMNS_PER_CLASS = 5  # of a product with ten vectors or so; half of it in the cache was found to be best


class Responsibilities(NamedTuple):
    """Posteriors, row by row; a class that is absent from its row has probability zero."""

    starts: IntArray  # (n_documents + 1,): Where the row of each document of the layout begins.
    classes: AnyArray  # (n_stored,): The classes that are possible, ascending within a row.
    # (n_stored,): Their probabilities; a row sums to one, or is empty where no class can have produced the
    # document.
    values: FloatArray


def find_responsibilities(
    documents: Documents,
    log_words: FloatArray,
    log_classes: FloatArray,
    codes: IntArray,
    candidate_weights: FloatArray,
) -> Responsibilities:
    """The posterior of every document of the layout; `log_words` (n_words, n_classes) may have further columns."""
    n_classes, width = len(log_classes), padded_width(len(log_classes))
    workspace = make_workspace(documents, n_classes, n_buffers=1)
    workspace.log_words.reshape(-1, width)[:, :n_classes] = log_words[:, :n_classes]
    evidence = Evidence(codes, candidate_weights, np.ones(len(documents.starts) - 1))
    padded_classes = pad_classes(log_classes)
    n_possible, classes, values = [np.zeros(1, dtype=np.int64)], [], []
    for first in range(0, len(documents.rows), documents.block_size):
        n_documents = min(documents.block_size, len(documents.rows) - first)
        find_block(documents, workspace, evidence, padded_classes, first // documents.block_size)
        posteriors = workspace.posteriors.reshape(-1, width)[:n_documents, :n_classes]
        possible = posteriors > np.exp(NEGLIGIBLE) * posteriors.max(axis=1, keepdims=True)
        n_possible.append(possible.sum(axis=1))
        classes.append(np.nonzero(possible)[1].astype(np.int32))
        values.append(posteriors[possible])
    none: list[AnyArray] = [np.empty(0, dtype=np.int32)]
    return Responsibilities(
        np.cumsum(np.concatenate(n_possible)),
        np.concatenate(classes or none),
        np.concatenate(values or [np.empty(0)]),
    )


@compiled()
def find_block(
    documents: Documents, workspace: Workspace, evidence: Evidence, log_classes: FloatArray, block: int
) -> None:
    """Write the posteriors of one block, as dense rows, into the one buffer of the workspace."""
    for number in range(documents.block_size // PIECE):
        read_rows(documents, workspace, evidence, log_classes, block, number)


def keep_undecided(documents: Documents, responsibilities: Responsibilities) -> tuple[Documents, Responsibilities]:
    """Leave out the documents with at most one possible class: a missing label takes nothing away from them.

    The rest is laid out in blocks that suit `labelworth.kernels.documents.missing.missing_product`.
    """
    n_possible = np.diff(responsibilities.starts)
    kept = n_possible > 1
    stored = np.repeat(kept, n_possible)
    starts = np.concatenate([[0], np.cumsum(n_possible[kept])])
    n_columns = _COLUMNS_PER_CLASS * int(starts[-1]) // max(1, len(starts) - 1)
    layout = block_documents(
        documents.starts,
        documents.words,
        documents.counts,
        documents.n_words,
        max(1, n_columns),
        documents.rows[kept],
    )
    return layout, Responsibilities(starts, responsibilities.classes[stored], responsibilities.values[stored])
