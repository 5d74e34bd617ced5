"""What others do with answers alone: majority vote, and Dawid and Skene's EM as packages have it."""

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.answers import Answers

_SMALLEST = 1e-10


def majority(answers: Answers, rows: IntArray) -> FloatArray:
    """Shares of the votes for every class, (n_rows, K); an answer that names several classes is split among them."""
    said = answers.evidence.dense()
    votes = np.zeros((int(max(rows.max(), answers.rows.max())) + 1, said.shape[1]))
    np.add.at(votes, answers.rows, said / said.sum(axis=1, keepdims=True))
    return np.asarray(votes[rows] / votes[rows].sum(axis=1, keepdims=True))


def share_right(votes: FloatArray, truth: IntArray) -> FloatArray:
    """How surely the leader is the true class, (n_rows,): among equal leaders one is taken by lot."""
    leads = votes >= votes.max(axis=1, keepdims=True) - 1e-12
    return np.asarray(leads[np.arange(len(truth)), truth] / leads.sum(axis=1))


def dawid_skene(answers: Answers, rows: IntArray, *, n_steps: int = 100) -> FloatArray:
    """Probabilities of the classes of these rows, by EM from the majority vote, without any prior.

    As in packages an answer is one class: each of several that are named counts as an answer of its own.
    """
    said = answers.evidence.dense()
    entry, label = np.nonzero(said)
    tasks, task = np.unique(answers.rows[entry], return_inverse=True)
    worker, n_classes = answers.annotators[entry], said.shape[1]
    shares = np.zeros((len(tasks), n_classes))
    np.add.at(shares, (task, label), 1.0)
    shares /= shares.sum(axis=1, keepdims=True)
    for _ in range(n_steps):
        tables = np.zeros((len(answers.names), n_classes, n_classes))
        np.add.at(tables.transpose(0, 2, 1), (worker, label), shares[task])
        # What a worker says of a class, over all that was said of it.
        tables = np.maximum(tables, _SMALLEST)
        tables /= tables.sum(axis=2, keepdims=True)
        log_shares = np.tile(np.log(np.maximum(shares.mean(axis=0), _SMALLEST)), (len(tasks), 1))
        np.add.at(log_shares, task, np.log(tables[worker, :, label]))
        shares = np.exp(log_shares - log_shares.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares[np.searchsorted(tasks, rows)])
