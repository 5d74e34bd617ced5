"""Brute force for answers: every (x, z_1, .., z_m), scores by the complex step in softmax coordinates of confusions.

Nothing here is imported from the package. Votes are listed one by one, not counted, and a confusion has all its K A
logits, of which a pseudo-inverse takes what can be seen: other coordinates than the package's, on purpose.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from support.oracles import Enumeration

_STEP = 1e-30
_SEEN = 1e-11
"""Eigenvalues at unit diagonal below this are rounding of zero."""


@dataclass(frozen=True)
class PlainArm:
    """Gold or not, and the confusions that answer, each as often as it is listed."""

    gold: bool = False
    asked: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class ChannelOracle:
    """A model, confusions by name, and which of them are estimated."""

    model: Enumeration
    confusions: dict[str, np.ndarray]
    unknown: Sequence[str] = ()
    _known: dict[tuple[bool, tuple[str, ...]], np.ndarray] = field(default_factory=dict)

    @property
    def d(self) -> int:
        return len(self.model.theta)

    @cached_property
    def start(self) -> np.ndarray:
        """theta, then zeros: logits beside those of the given confusions."""
        sizes = [np.asarray(self.confusions[name]).size for name in self.unknown]
        return np.concatenate([self.model.theta, np.zeros(sum(sizes))])

    def confusion_at(self, name: str, parameters: np.ndarray) -> np.ndarray:
        table, first = np.asarray(self.confusions[name], float), self.d
        if name not in self.unknown:
            return table
        for other in self.unknown:
            size = np.asarray(self.confusions[other]).size
            if other == name:
                moved = table * np.exp(parameters[first : first + size].reshape(table.shape))
                return moved / moved.sum(axis=1, keepdims=True)
            first += size
        raise KeyError(name)

    def seen_at(self, arm: PlainArm, parameters: np.ndarray) -> np.ndarray:
        """The probability of everything that can be seen, (n_seen,)."""
        joint = self.model.joint_at(parameters[: self.d])
        tables = [self.confusion_at(name, parameters) for name in arm.asked]
        parts = []
        for answers in product(*(range(table.shape[1]) for table in tables)):
            likelihood = np.ones(joint.shape[1])
            for table, answer in zip(tables, answers, strict=True):
                likelihood = likelihood * table[:, answer]
            each = joint * likelihood
            parts.append(each.ravel() if arm.gold else each.sum(axis=1))
        return np.concatenate(parts)

    def information(self, arm: PlainArm) -> np.ndarray:
        """Sum of (dp)(dp)' / p over everything that can be seen, in theta and all logits."""
        key = arm.gold, tuple(arm.asked)
        if key not in self._known:
            seen = self.seen_at(arm, self.start)
            moved = [
                self.seen_at(arm, self.start + 1j * _STEP * unit).imag / _STEP for unit in np.eye(len(self.start))
            ]
            gradient = np.stack(moved, axis=1)[seen > 0]
            self._known[key] = (gradient / seen[seen > 0][:, None]).T @ gradient
        return self._known[key]

    def of_model(self, arms: Sequence[PlainArm], counts: Sequence[float]) -> np.ndarray:
        """What a design tells of theta when unknown confusions are estimated too, (d, d)."""
        total = sum(count * self.information(arm) for arm, count in zip(arms, counts, strict=True))
        d = self.d
        rest = total[d:, d:]
        scale = np.where(np.diag(rest) > 0, 1 / np.sqrt(np.where(np.diag(rest) > 0, np.diag(rest), 1)), 0.0)
        values, vectors = np.linalg.eigh(rest * scale * scale[:, None]) if len(rest) else (np.empty(0), rest)
        used = vectors[:, values > _SEEN] * scale[:, None]
        return total[:d, :d] - total[:d, d:] @ (used / values[values > _SEEN]) @ used.T @ total[d:, :d]

    def figures(
        self, arms: Sequence[PlainArm], counts: Sequence[float], jacobian: np.ndarray
    ) -> dict[str, float] | None:
        """By plain inversion; None where theta is not identified."""
        told, complete = self.of_model(arms, counts), self.model.complete_information
        root = np.linalg.inv(np.linalg.cholesky(complete))
        if np.linalg.eigvalsh(root @ told @ root.T)[0] < 1e-10 * sum(counts):
            return None
        covariance = np.linalg.inv(told)
        return {
            "total_variance": float(np.trace(jacobian @ covariance @ jacobian.T)),
            "excess_log_loss": float(np.trace(self.model.missing_information @ covariance) / 2),
        }
