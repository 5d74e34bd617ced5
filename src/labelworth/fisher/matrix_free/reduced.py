r"""Quadratic forms of the inverse of :math:`M(w) = \sum_a w_a I_a` for many w, on the span of some solutions.

Where x is sought in the span of solutions at other w alone, :math:`\max_x 2 u'x - x' M(w) x` is a small problem and
its value never above that of all x; the residual says how near it is, from products made once. It is as convex in w
as the form itself, and its slope is its own.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray
from labelworth.fisher.whitened import FigurePoint, without_nuisance

_DEPENDENT = 1e-9


@dataclass(frozen=True, eq=False)
class ReducedForms:
    """Some directions, and what every rule makes of them; parameters of channels are always among the directions."""

    basis: FloatArray  # (size, m): Orthonormal.
    images: FloatArray  # (n_rules, size, m + p): Of every rule, the model's part alone.
    own: FloatArray  # (n_rules, p, p): Of the channels' parameters.
    right: FloatArray  # (size, b): u.
    gram: FloatArray  # (n_rules (m + p) + b, ..): Products of all images and u.

    @classmethod
    def of(cls, basis: FloatArray, images: FloatArray, own: FloatArray, right: FloatArray) -> "ReducedForms":
        flat = np.concatenate([*images, right], axis=1)
        return cls(basis, images, own, right, flat.T @ flat)

    @property
    def matrices(self) -> FloatArray:
        """(n_rules, m + p, m + p)."""
        m, p = self.basis.shape[1], self.own.shape[1]
        matrices = np.zeros((len(self.images), m + p, m + p))
        upper = np.einsum("sm,asq->amq", self.basis, self.images, optimize=True)
        matrices[:, :m] = upper
        matrices[:, m:, :m] = np.swapaxes(upper[:, :, m:], 1, 2)
        matrices[:, m:, m:] = self.own
        return matrices

    def at(self, counts: FloatArray, matrices: FloatArray) -> tuple[FigurePoint, float] | None:
        """The mean of the forms with its slope, and the largest residual relative to u; None where it is singular."""
        m = self.basis.shape[1]
        told, follow = without_nuisance(np.tensordot(counts, matrices, axes=1), m, matrices.mean(axis=0))
        try:
            factor = scipy.linalg.cho_factor(told)
        except np.linalg.LinAlgError:
            return None
        inside = self.basis.T @ self.right
        found = scipy.linalg.cho_solve(factor, inside)
        whole = np.concatenate([found, -follow @ found])
        value = float(np.einsum("mb,mb->b", inside, found).mean())
        slope = -np.einsum("mb,amn,nb->a", whole, matrices, whole, optimize=True) / self.right.shape[1]
        return FigurePoint(value, slope), self._residual(counts, whole)

    def _residual(self, counts: FloatArray, whole: FloatArray) -> float:
        n_probes = self.right.shape[1]
        moved = np.concatenate([count * whole for count in counts])
        combined = np.concatenate([-moved, np.eye(n_probes)])
        squares = np.einsum("ib,ij,jb->b", combined, self.gram, combined, optimize=True)
        lengths = np.diag(self.gram)[-n_probes:]
        return float(np.sqrt(np.max(np.maximum(squares, 0.0) / lengths)))


def orthonormal(block: FloatArray, beside: FloatArray | None) -> FloatArray:
    """What a block adds to the span of others, as orthonormal columns; nothing, where it is within it."""
    rest = block / np.linalg.norm(block, axis=0)
    for _ in range(2 if beside is not None else 0):
        rest = rest - beside @ (beside.T @ rest) if beside is not None else rest
    left, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    return np.asarray(left[:, sizes > _DEPENDENT])
