"""The exact covariance of the counts of a Boltzmann chain of given length."""

import numpy as np
from scipy.special import logsumexp

from labelworth.arrays import FloatArray


def label_covariance(
    start: FloatArray, transition: FloatArray, log_word_sums: FloatArray, length: int
) -> tuple[FloatArray, FloatArray]:
    r"""Covariance and mean of the first label (K) and of the neighbors (K * K) of a chain of labels.

    Labels of a chain of m tokens are a Markov chain; with :math:`P_t(c, d)` its transition after place t and
    :math:`\xi_t` the probability of a pair there,

    .. math::

        E[N_{ab} N_{cd}] = \delta \sum_t \xi_t(a, b)
        + \sum_{t < s} \bigl(\xi_t(a, b)\, (P_{t+1} \cdots P_{s-1})_{bc}\, P_s(c, d) + \text{its mirror image}\bigr)

    The sum over t is carried along s, at O(K^4) a place.

    Parameters
    ----------
    start, transition : arrays of shape (K,) and (K, K)
        Log-weights.
    log_word_sums : array of shape (K,)
        log of the sum over words of exp(emission).
    length : int
        m.

    Returns
    -------
    covariance : array of shape (K + K * K, K + K * K)
    mean : array of shape (K + K * K,)
    """
    n_labels = len(start)
    steps, first = _label_chain(start, transition, log_word_sums, length)
    size = n_labels + n_labels**2
    second, mean = np.zeros((size, size)), np.zeros(size)
    mean[:n_labels] = first
    # reached[event, c]: the expected number of such events so far, together with label c here.
    reached, here = np.zeros((size, n_labels)), first
    reached[:n_labels] = np.diag(first)
    landing = np.tile(np.eye(n_labels), (n_labels, 1))
    for step in steps:
        second[:, n_labels:] += (reached[:, :, None] * step).reshape(size, -1)
        pairs = (here[:, None] * step).ravel()
        mean[n_labels:] += pairs
        reached = reached @ step
        reached[n_labels:] += pairs[:, None] * landing
        here = here @ step
    second[n_labels:, n_labels:] += second[n_labels:, n_labels:].T
    second[n_labels:, :n_labels] = second[:n_labels, n_labels:].T
    second[np.diag_indices(size)] += mean
    return second - np.outer(mean, mean), mean


def with_words(labels: tuple[FloatArray, FloatArray], word_probabilities: FloatArray) -> FloatArray:
    r"""Add the words: covariance of first labels, neighbors and words beside labels, (K + K^2 + K V) squared.

    Given the labels, the words beside label k are :math:`N_k` independent draws, with :math:`N_k` itself the first
    label or the second of a pair.
    """
    covariance, mean = labels
    n_labels, n_words = word_probabilities.shape
    visits = np.concatenate([np.eye(n_labels), np.tile(np.eye(n_labels), (n_labels, 1))])
    words = np.zeros((n_labels, n_labels * n_words))
    for label, probabilities in enumerate(word_probabilities):
        words[label, label * n_words : (label + 1) * n_words] = probabilities
    lifted = np.concatenate([np.eye(len(mean)), visits @ words], axis=1)
    total = lifted.T @ covariance @ lifted
    for label, (count, probabilities) in enumerate(zip(mean @ visits, word_probabilities, strict=True)):
        position = slice(len(mean) + label * n_words, len(mean) + (label + 1) * n_words)
        total[position, position] += count * (np.diag(probabilities) - np.outer(probabilities, probabilities))
    return np.asarray(total)


def _label_chain(
    start: FloatArray, transition: FloatArray, log_word_sums: FloatArray, length: int
) -> tuple[list[FloatArray], FloatArray]:
    """The transition probabilities after every place but the last, and the probabilities of the first label."""
    steps, future = [], np.zeros(len(start))
    for _ in range(length - 1):
        logs = transition + log_word_sums + future
        # Only differences between labels matter, and those stay small.
        future = logsumexp(logs, axis=1)
        steps.append(np.exp(logs - future[:, None]))
        future -= future.max()
    first = start + log_word_sums + future
    return steps[::-1], np.exp(first - logsumexp(first))
