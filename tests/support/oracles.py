"""Brute force: every (x, y) of a small class-conditional model, and what follows by summing over them.

Nothing here is imported from the package. Derivatives are taken by the complex step, so they are exact to rounding.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import factorial

import numpy as np
from numpy.typing import ArrayLike

Joint = Callable[[np.ndarray], np.ndarray]
"""Free coordinates (d,), possibly complex -> p(x, y) for every x and y, shape (n_outcomes, K)."""

_STEP = 1e-30


@dataclass(frozen=True)
class Enumeration:
    """A model given by its free coordinates and the table of all its joint probabilities.

    Attributes
    ----------
    outcomes : array of shape (n_outcomes, n_features)
        Every x.
    theta : array of shape (d,)
        Free coordinates: class probabilities without the last, then the rows of the feature table.
    joint_at : callable
        theta -> p(x, y), (n_outcomes, K).
    """

    outcomes: np.ndarray
    theta: np.ndarray
    joint_at: Joint

    @cached_property
    def joint(self) -> np.ndarray:
        """p(x, y), (n_outcomes, K)."""
        return self.joint_at(self.theta).real

    @cached_property
    def posterior(self) -> np.ndarray:
        """p(y | x), (n_outcomes, K)."""
        return self.joint / self.joint.sum(axis=1, keepdims=True)

    @cached_property
    def joint_gradient(self) -> np.ndarray:
        """Gradient of p(x, y), (n_outcomes, K, d)."""
        return _complex_step(self.joint_at, self.theta)

    @cached_property
    def complete_scores(self) -> np.ndarray:
        """Gradient of log p(x, y), (n_outcomes, K, d)."""
        return self.joint_gradient / self.joint[:, :, None]

    @cached_property
    def marginal_scores(self) -> np.ndarray:
        """Gradient of log p(x), (n_outcomes, d)."""
        return self.joint_gradient.sum(axis=1) / self.joint.sum(axis=1)[:, None]

    @cached_property
    def complete_information(self) -> np.ndarray:
        """Var of the complete score, (d, d)."""
        return np.einsum("nk,nka,nkb->ab", self.joint, self.complete_scores, self.complete_scores)

    @cached_property
    def marginal_information(self) -> np.ndarray:
        """Var of the marginal score, (d, d)."""
        return np.einsum("n,na,nb->ab", self.joint.sum(axis=1), self.marginal_scores, self.marginal_scores)

    @cached_property
    def missing_information(self) -> np.ndarray:
        """E[Var(complete score | x)], summed directly rather than as a difference, (d, d)."""
        spread = self.complete_scores - self.marginal_scores[:, None, :]
        return np.einsum("nk,nka,nkb->ab", self.joint, spread, spread)

    def information(self, fraction: float) -> np.ndarray:
        """Information of one sample labeled with probability `fraction`, (d, d)."""
        return fraction * self.complete_information + (1 - fraction) * self.marginal_information

    def log_likelihood(self, theta: np.ndarray, rows: np.ndarray, evidence: np.ndarray) -> np.ndarray:
        """log sum_y p(x_i, y) e_i(y) for outcomes given by row number, with dense evidence (n, K)."""
        return np.log((self.joint_at(theta)[rows] * evidence).sum(axis=1))

    def rows_of(self, features: np.ndarray) -> np.ndarray:
        """The row number of each given x."""
        place = {tuple(outcome): row for row, outcome in enumerate(self.outcomes.tolist())}
        return np.array([place[tuple(x)] for x in np.asarray(features).tolist()])


def enumerated_multinomial(
    class_probabilities: ArrayLike, word_probabilities: ArrayLike, lengths: Mapping[int, float]
) -> Enumeration:
    """Every bag of words of every length, with its class."""
    priors, words = np.asarray(class_probabilities, float), np.asarray(word_probabilities, float)
    n_classes, n_words = words.shape
    bags, weights = [], []
    for length, probability in lengths.items():
        for bag in _bags(n_words, int(length)):
            bags.append(bag)
            weights.append(probability * _multinomial_coefficient(bag))
    outcomes, weight = np.array(bags, float), np.array(weights)

    def joint_at(theta: np.ndarray) -> np.ndarray:
        class_row, rows = _simplex_tables(theta, n_classes, n_words)
        # Powers one word at a time: 0 ** 0 is 1, and the complex step passes through.
        likelihood = np.prod(rows[None, :, :] ** outcomes[:, None, :], axis=2)
        return weight[:, None] * class_row * likelihood

    return Enumeration(outcomes, _drop_last(priors, words), joint_at)


def enumerated_bernoulli(class_probabilities: ArrayLike, feature_probabilities: ArrayLike) -> Enumeration:
    """Every binary vector with its class."""
    priors, features = np.asarray(class_probabilities, float), np.asarray(feature_probabilities, float)
    n_classes, n_features = features.shape
    outcomes = np.array(list(product([0.0, 1.0], repeat=n_features)))

    def joint_at(theta: np.ndarray) -> np.ndarray:
        head = theta[: n_classes - 1]
        class_row = np.append(head, 1 - head.sum())
        table = theta[n_classes - 1 :].reshape(n_classes, n_features)[None]
        x = outcomes[:, None, :]
        return class_row * np.prod(x * table + (1 - x) * (1 - table), axis=2)

    return Enumeration(outcomes, np.concatenate([priors[:-1], features.ravel()]), joint_at)


def numerical_gradient(
    function: Callable[[np.ndarray], np.ndarray], theta: np.ndarray, step: float = 1e-6
) -> np.ndarray:
    """Central differences with one Richardson extrapolation; shape (*function(theta).shape, d)."""

    def differences(size: float) -> np.ndarray:
        columns = [
            (np.asarray(function(theta + size * unit)) - np.asarray(function(theta - size * unit))) / (2 * size)
            for unit in np.eye(len(theta))
        ]
        return np.stack(columns, axis=-1)

    return (4 * differences(step) - differences(2 * step)) / 3


def dense_evidence(codes: ArrayLike, n_classes: int, candidate_weights: ArrayLike | None = None) -> np.ndarray:
    """Codes spelled out: class, -1 for nothing known, -2 - row for a row of `candidate_weights`."""
    rows = []
    for code in np.asarray(codes).tolist():
        if code >= 0:
            rows.append(np.eye(n_classes)[code])
        elif code == -1:
            rows.append(np.ones(n_classes))
        else:
            rows.append(np.asarray(candidate_weights, float)[-2 - code])
    return np.array(rows)


def _complex_step(function: Joint, theta: np.ndarray) -> np.ndarray:
    columns = [function(theta + 1j * _STEP * unit).imag / _STEP for unit in np.eye(len(theta))]
    return np.stack(columns, axis=-1) if columns else np.zeros((*function(theta).shape, 0))


def _bags(n_words: int, length: int) -> list[tuple[int, ...]]:
    if n_words == 1:
        return [(length,)]
    return [(first, *rest) for first in range(length + 1) for rest in _bags(n_words - 1, length - first)]


def _multinomial_coefficient(bag: tuple[int, ...]) -> float:
    value = factorial(sum(bag))
    for count in bag:
        value //= factorial(count)
    return float(value)


def _drop_last(priors: np.ndarray, words: np.ndarray) -> np.ndarray:
    return np.concatenate([priors[:-1], words[:, :-1].ravel()])


def _simplex_tables(theta: np.ndarray, n_classes: int, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    head, rows = theta[: n_classes - 1], theta[n_classes - 1 :].reshape(n_classes, n_words - 1)
    return np.append(head, 1 - head.sum()), np.concatenate([rows, 1 - rows.sum(axis=1, keepdims=True)], axis=1)


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
