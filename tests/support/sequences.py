"""Brute force once more, independently of bags: every sequence of words, one by one."""

from collections.abc import Mapping
from itertools import product

import numpy as np

from support.oracles import Enumeration


def enumerated_sequences(
    class_probabilities: np.ndarray, word_probabilities: np.ndarray, lengths: Mapping[int, float]
) -> Enumeration:
    """Every (x_1, .., x_m) of every length with its class; outcomes are the counts, in the order of the sequences."""
    priors, words = np.asarray(class_probabilities, float), np.asarray(word_probabilities, float)
    n_classes, n_words = words.shape
    sequences = [
        (probability, np.array(list(product(range(n_words), repeat=length))))
        for length, probability in lengths.items()
    ]
    outcomes = np.concatenate(
        [np.stack([(s == w).sum(axis=1) for w in range(n_words)], axis=1) for _, s in sequences]
    )

    def joint_at(theta: np.ndarray) -> np.ndarray:
        head, rows = theta[: n_classes - 1], theta[n_classes - 1 :].reshape(n_classes, n_words - 1)
        class_row = np.append(head, 1 - head.sum())
        table = np.concatenate([rows, 1 - rows.sum(axis=1, keepdims=True)], axis=1)
        parts = []
        for probability, block in sequences:
            likelihood = np.ones((len(block), n_classes), dtype=theta.dtype)
            for position in range(block.shape[1]):
                likelihood = likelihood * table[:, block[:, position]].T
            parts.append(probability * class_row * likelihood)
        return np.concatenate(parts)

    return Enumeration(outcomes.astype(float), np.concatenate([priors[:-1], words[:, :-1].ravel()]), joint_at)


def simplex_jacobian(row_sizes: list[int]) -> np.ndarray:
    """Named entries by free ones, for probability rows behind each other."""
    blocks = [np.vstack([np.eye(size - 1), -np.ones((1, size - 1))]) for size in row_sizes]
    jacobian = np.zeros((sum(row_sizes), sum(size - 1 for size in row_sizes)))
    row = column = 0
    for block in blocks:
        jacobian[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return jacobian


def oracle_figures(oracle: Enumeration, row_sizes: list[int], n_samples: float, fraction: float) -> dict[str, float]:
    """Every deterministic criterion, by plain inversion of the enumerated information."""
    covariance = np.linalg.inv(oracle.information(fraction)) / n_samples
    jacobian = simplex_jacobian(row_sizes)
    named = jacobian @ covariance @ jacobian.T
    complete, marginal = oracle.complete_information, oracle.marginal_information
    return {
        "total_variance": float(np.trace(named)),
        "worst_direction": float(np.linalg.eigvalsh(named)[-1]),
        "log_volume": float(np.linalg.slogdet(covariance)[1]),
        "excess_log_loss": float(np.trace((complete - marginal) @ covariance) / 2),
        "excess_joint_log_loss": float(np.trace(complete @ covariance) / 2),
        "excess_marginal_log_loss": float(np.trace(marginal @ covariance) / 2),
    }
