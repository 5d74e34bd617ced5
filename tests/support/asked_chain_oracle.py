"""Brute force for answers about the labels of a chain: every x, every y, every answer of everybody to every position.

Nothing here is imported from the package. Votes are listed one by one, derivatives are taken by the complex step, and
a confusion has all its logits: other coordinates than the package's, on purpose.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from support.chain_oracle import ChainOracle, rule_outcomes

_STEP = 1e-30
_SEEN = 1e-11


@dataclass(frozen=True)
class PlainAsked:
    """Positions by a rule; of each its label or not, and the confusions that answer, as often as they are listed."""

    rule: str
    gold: bool = False
    asked: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class AskedChainOracle:
    """A chain, confusions by name, and which of them are estimated."""

    chain: ChainOracle
    confusions: dict[str, np.ndarray]
    unknown: Sequence[str] = ()

    def _start(self) -> np.ndarray:
        return np.concatenate([self.chain.theta, *(np.zeros(self.confusions[name].size) for name in self.unknown)])

    def _confusion(self, name: str, parameters: np.ndarray) -> np.ndarray:
        first = len(self.chain.theta)
        for other in self.unknown:
            table = self.confusions[other]
            if other == name:
                moved = table * np.exp(parameters[first : first + table.size].reshape(table.shape))
                return moved / moved.sum(axis=1, keepdims=True)
            first += table.size
        return self.confusions[name]

    def _seen(self, arm: PlainAsked, mask: Sequence[bool], parameters: np.ndarray) -> np.ndarray:
        """p(x, what is seen of every position), all of them behind each other."""
        length, labels = len(mask), self.chain.labels_of(len(mask))
        joint = self.chain.joint_at(parameters[: len(self.chain.theta)], length)
        tables = [self._confusion(name, parameters) for name in arm.asked]
        views = [np.eye(self.chain.n_labels)] if arm.gold else []
        views += tables
        parts = []
        asked = [(place, view) for place in range(length) if mask[place] for view in views]
        for answers in product(*(range(view.shape[1]) for _, view in asked)):
            likelihood = np.ones(len(labels))
            for (place, view), answer in zip(asked, answers, strict=True):
                likelihood = likelihood * view[labels[:, place], answer]
            parts.append(joint @ likelihood)
        return np.concatenate(parts)

    def information(self, arm: PlainAsked) -> np.ndarray:
        """Of one sequence in theta and all logits."""
        start = self._start()
        total = np.zeros((len(start), len(start)))
        for length, share in self.chain.lengths.items():
            for probability, mask in rule_outcomes(arm.rule, length):
                seen = self._seen(arm, mask, start)
                moved = [self._seen(arm, mask, start + 1j * _STEP * unit).imag / _STEP for unit in np.eye(len(start))]
                gradient = np.stack(moved, axis=1)[seen > 0]
                total += share * probability * ((gradient / seen[seen > 0][:, None]).T @ gradient)
        return total

    def of_model(self, arms: Sequence[PlainAsked], counts: Sequence[float]) -> np.ndarray:
        """What a design tells of theta when unknown confusions are estimated too, (d, d)."""
        d, total = len(self.chain.theta), sum(n * self.information(arm) for n, arm in zip(counts, arms, strict=True))
        rest = total[d:, d:]
        if not len(rest):
            return total
        scale = np.where(np.diag(rest) > 0, 1 / np.sqrt(np.where(np.diag(rest) > 0, np.diag(rest), 1)), 0.0)
        values, vectors = np.linalg.eigh(rest * scale * scale[:, None])
        used = vectors[:, values > _SEEN] * scale[:, None]
        return total[:d, :d] - total[:d, d:] @ (used / values[values > _SEEN]) @ used.T @ total[d:, :d]
