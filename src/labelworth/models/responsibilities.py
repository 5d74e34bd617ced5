"""p(y | x, evidence): what the features and the evidence together say about the class."""

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.evidence import Evidence


def restrict_to_evidence(log_joint: FloatArray, codes: IntArray, candidate_weights: FloatArray) -> None:
    """Add log w(y) to log p(x, y), in place: what the evidence rules out becomes minus infinity.

    Parameters
    ----------
    log_joint : array of shape (n, K)
        log p(x, y), changed in place.
    codes, candidate_weights : arrays
        As in `labelworth.data.evidence.Evidence`.
    """
    gold = np.flatnonzero(codes >= 0)
    kept = log_joint[gold, codes[gold]]
    log_joint[gold] = -np.inf
    log_joint[gold, codes[gold]] = kept
    ambiguous = np.flatnonzero(codes < -1)
    if ambiguous.size:
        with np.errstate(divide="ignore"):
            log_joint[ambiguous] += np.log(candidate_weights[-2 - codes[ambiguous]])


def normalize(log_weights: FloatArray) -> FloatArray:
    """Turn log weights (n, K) into probabilities along the rows, in place; return the log of each row's sum.

    A row of minus infinities has the log-sum minus infinity and gets zeros: it belongs to no class.
    """
    largest = log_weights.max(axis=1)
    shift = np.where(np.isneginf(largest), 0.0, largest)
    log_weights -= shift[:, None]
    np.exp(log_weights, out=log_weights)
    sums = log_weights.sum(axis=1)
    log_weights /= np.where(sums > 0, sums, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        return np.asarray(shift + np.log(sums))


def condition(log_joint: FloatArray, evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    r"""Bayes' rule with evidence.

    .. math:: r_{ik} = \frac{p(x_i, k)\, w_i(k)}{\sum_y p(x_i, y)\, w_i(y)}

    Parameters
    ----------
    log_joint : array of shape (n, K)
        log p(x, y).
    evidence : Evidence
        What is known of each class.

    Returns
    -------
    responsibilities : array of shape (n, K)
    log_evidence : array of shape (n,)
        log of the denominator; minus infinity where the sample is impossible, and its responsibilities are zero.
    """
    responsibilities = log_joint.copy()
    restrict_to_evidence(responsibilities, evidence.codes, evidence.weights)
    return responsibilities, normalize(responsibilities)
