"""Brute force for chains: every (x, y) of every length, every set of labeled positions, and what follows by summing.

Nothing here is imported from the package. Derivatives are taken by the complex step, so they are exact to rounding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

_STEP = 1e-30


@dataclass(frozen=True)
class ChainOracle:
    """A chain given by its tables and the lengths of its sequences.

    Attributes
    ----------
    kind : {"hidden-markov", "boltzmann-chain", "conditional-random-field"}
    tables : mapping
        ``start`` (K,) (optional but for a hidden Markov model), ``transition`` (K, K), ``emission`` (K, V):
        probabilities for a hidden Markov model, log-weights otherwise.
    lengths : mapping
        q(m).
    input_probabilities : array of shape (V,), optional
        Of the words of a conditional random field; uniform when absent.
    """

    kind: str
    tables: Mapping[str, Any]
    lengths: Mapping[int, float]
    input_probabilities: Sequence[float] | None = None
    _scores: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _named(self) -> dict[str, np.ndarray]:
        return {
            name: np.asarray(self.tables[name], float)
            for name in ("start", "transition", "emission")
            if name in self.tables
        }

    @property
    def n_labels(self) -> int:
        """K."""
        return self._named["emission"].shape[0]

    @property
    def n_words(self) -> int:
        """V."""
        return self._named["emission"].shape[1]

    @cached_property
    def row_sizes(self) -> list[int]:
        """How long the probability rows of a hidden Markov model are, in the order of the coordinates."""
        return [table.shape[-1] for table in self._named.values() for _ in range(table.size // table.shape[-1])]

    @cached_property
    def theta(self) -> np.ndarray:
        """Free coordinates: rows without their last entry for probabilities, all entries for log-weights."""
        if self.kind == "hidden-markov":
            return np.concatenate([np.atleast_2d(table)[:, :-1].ravel() for table in self._named.values()])
        return np.concatenate([table.ravel() for table in self._named.values()])

    @cached_property
    def jacobian(self) -> np.ndarray:
        """Named entries by free ones."""
        if self.kind != "hidden-markov":
            return np.eye(len(self.theta))
        jacobian = np.zeros((sum(self.row_sizes), len(self.theta)))
        row = column = 0
        for size in self.row_sizes:
            jacobian[row : row + size - 1, column : column + size - 1] = np.eye(size - 1)
            jacobian[row + size - 1, column : column + size - 1] = -1
            row, column = row + size, column + size - 1
        return jacobian

    def _tables_at(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log-weights of the first label, of pairs, of words."""
        found, place = {}, 0
        for name, table in self._named.items():
            if self.kind == "hidden-markov":
                rows = np.atleast_2d(table)
                size = rows.shape[0] * (rows.shape[1] - 1)
                head = theta[place : place + size].reshape(rows.shape[0], -1)
                whole = np.concatenate([head, 1 - head.sum(axis=1, keepdims=True)], axis=1)
                found[name] = np.log(whole).reshape(table.shape)
            else:
                size = table.size
                found[name] = theta[place : place + size].reshape(table.shape)
            place += size
        start = found.get("start", np.zeros(self.n_labels))
        return start, found["transition"], found["emission"]

    def words_of(self, length: int) -> np.ndarray:
        """Every x, (V^m, m)."""
        return np.array(list(product(range(self.n_words), repeat=length)))

    def labels_of(self, length: int) -> np.ndarray:
        """Every y, (K^m, m)."""
        return np.array(list(product(range(self.n_labels), repeat=length)))

    def joint_at(self, theta: np.ndarray, length: int) -> np.ndarray:
        """p(x, y) within one length, (V^m, K^m); for a conditional random field p(x) p(y | x)."""
        start, transition, emission = self._tables_at(theta)
        words, labels = self.words_of(length), self.labels_of(length)
        log_weight = np.zeros((len(words), len(labels)), dtype=theta.dtype) + start[labels[:, 0]]
        for place in range(1, length):
            log_weight = log_weight + transition[labels[:, place - 1], labels[:, place]]
        for place in range(length):
            log_weight = log_weight + emission[labels[:, place][None, :], words[:, place][:, None]]
        weight = np.exp(log_weight)
        if self.kind == "hidden-markov":
            return weight
        if self.kind == "boltzmann-chain":
            return weight / weight.sum()
        inputs = self.input_probabilities
        shares = np.full(self.n_words, 1 / self.n_words) if inputs is None else np.asarray(inputs, float)
        return weight / weight.sum(axis=1, keepdims=True) * shares[words].prod(axis=1)[:, None]

    def gradient(self, length: int) -> tuple[np.ndarray, np.ndarray]:
        """p(x, y), (V^m, K^m), and its gradient, (V^m, K^m, d)."""
        if length not in self._scores:
            theta = self.theta
            columns = []
            for coordinate in range(len(theta)):
                moved = theta.astype(complex)
                moved[coordinate] += 1j * _STEP
                columns.append(self.joint_at(moved, length).imag / _STEP)
            self._scores[length] = self.joint_at(theta, length), np.stack(columns, axis=-1)
        return self._scores[length]

    def mask_information(self, mask: Sequence[bool]) -> np.ndarray:
        """Var of the gradient of log p(y_S, x), S the true places of `mask`, (d, d)."""
        length = len(mask)
        joint, gradient = self.gradient(length)
        labels = self.labels_of(length)[:, np.flatnonzero(mask)]
        _, group = (
            np.unique(labels, axis=0, return_inverse=True) if labels.shape[1] else (None, np.zeros(len(labels)))
        )
        membership = np.equal.outer(np.ravel(group), np.unique(group)).astype(float)
        seen = joint @ membership
        moved = np.einsum("xyd,ys->xsd", gradient, membership)
        return np.einsum("xsa,xsb->ab", moved / seen[:, :, None], moved)

    def rule_information(self, rule: str) -> np.ndarray:
        """Averaged over lengths and over what the rule draws, (d, d)."""
        total = np.zeros((len(self.theta),) * 2)
        for length, share in self.lengths.items():
            for probability, mask in rule_outcomes(rule, length):
                total += share * probability * self.mask_information(mask)
        return total

    def policy_information(self, rules: Sequence[str], weights: Sequence[float]) -> np.ndarray:
        """The mixture of the rules, (d, d)."""
        return sum(weight * self.rule_information(rule) for rule, weight in zip(rules, weights, strict=True))

    def expected_labels(self, rule: str) -> float:
        """Labels per sequence."""
        return sum(
            share * probability * sum(mask)
            for length, share in self.lengths.items()
            for probability, mask in rule_outcomes(rule, length)
        )

    @cached_property
    def estimable(self) -> np.ndarray:
        """An orthonormal basis of the range of the information of complete labels, (d, rank)."""
        values, vectors = np.linalg.eigh(self.rule_information("everything"))
        return vectors[:, values > 1e-10 * values[-1]]

    def figures(self, information: np.ndarray, n_samples: float) -> dict[str, float]:
        """Every criterion by plain inversion on the estimable contrasts."""
        basis = self.estimable
        covariance = np.linalg.inv(basis.T @ information @ basis) / n_samples
        named = self.jacobian @ basis @ covariance @ basis.T @ self.jacobian.T
        complete = basis.T @ self.rule_information("everything") @ basis
        marginal = basis.T @ self.rule_information("nothing") @ basis
        return {
            "total_variance": float(np.trace(named)),
            "worst_direction": float(np.linalg.eigvalsh(named)[-1]),
            "log_volume": float(np.linalg.slogdet(covariance)[1]),
            "excess_log_loss": float(np.trace((complete - marginal) @ covariance) / 2),
            "excess_joint_log_loss": float(np.trace(complete @ covariance) / 2),
            "excess_marginal_log_loss": float(np.trace(marginal @ covariance) / 2),
        }


def rule_outcomes(rule: str, length: int) -> list[tuple[float, tuple[bool, ...]]]:
    """Every set of positions a rule can draw, with its probability; rules as in the specification."""
    name, _, argument = rule.partition(":")
    places = range(length)
    if name == "everything":
        return [(1.0, (True,) * length)]
    if name == "nothing":
        return [(1.0, (False,) * length)]
    if name == "every-other":
        return [(1.0, tuple(place % 2 == 0 for place in places))]
    if name == "prefix":
        count = int(np.floor(float(argument) * length)) if "." in argument else min(int(argument), length)
        return [(1.0, tuple(place < count for place in places))]
    if name == "window":
        width = min(int(argument), length)
        starts = range(length - width + 1)
        return [(1 / len(starts), tuple(first <= place < first + width for place in places)) for first in starts]
    assert name == "random"
    share = float(argument)
    return [
        (share ** sum(mask) * (1 - share) ** (length - sum(mask)), mask)
        for mask in product((False, True), repeat=length)
    ]


def drawn_tables(kind: str, n_labels: int, n_words: int, seed: int, *, start: bool = True) -> dict[str, Any]:
    """Random tables: rows from Dirichlet(2), or log-weights from N(0, 0.7^2)."""
    rng = np.random.default_rng(seed)
    if kind == "hidden-markov":
        tables = {
            "start": rng.dirichlet(np.full(n_labels, 2.0)),
            "transition": rng.dirichlet(np.full(n_labels, 2.0), size=n_labels),
            "emission": rng.dirichlet(np.full(n_words, 2.0), size=n_labels),
        }
    else:
        tables = {
            "start": 0.7 * rng.standard_normal(n_labels),
            "transition": 0.7 * rng.standard_normal((n_labels, n_labels)),
            "emission": 0.7 * rng.standard_normal((n_labels, n_words)),
        }
        if not start:
            del tables["start"]
    return {name: table.tolist() for name, table in tables.items()}
