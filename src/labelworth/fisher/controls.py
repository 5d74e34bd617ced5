"""Taking off the noise of sampled information whose sources are known."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.contrasts import Contrasts
from labelworth.linalg.symmetric import Pencil

_NO_SPREAD = 1e-12
"""What is left of a control's variance, relative to all of it, below which it says nothing new."""


def sharpened(
    contrasts: Contrasts, everything: FloatArray, seen: FloatArray, complete: FloatArray, mixed: FloatArray
) -> FloatArray:
    r"""Sharpen the information of one rule in every batch; its expectation stays what it was.

    With s the score of what the rule shows and S the complete score, the means of :math:`S S'` and of
    :math:`s (S - s)'` are known: I_everything and zero. The noise of :math:`s s'` that goes with theirs is taken off,
    entry by entry, in a basis in which I_everything is the identity and the rule's information diagonal, or nearly
    so. How much is learned from one half of the batches and applied to the other: learned from the very draws it is
    applied to, it would prefer their accidents.

    Parameters
    ----------
    everything : array of shape (d, d)
        I_everything, exactly.
    seen, complete, mixed : array of shape (n_batches, d, d)
        Means of s s', S S' and the symmetric part of s S'.

    Returns
    -------
    array of shape (n_batches, d, d)
    """
    known = contrasts.restricted(everything)
    batches = [
        tuple(contrasts.restricted(matrix) for matrix in batch) for batch in zip(seen, complete, mixed, strict=True)
    ]
    middle = len(batches) // 2
    result = np.empty_like(seen)
    for own, other in ((slice(middle), slice(middle, None)), (slice(middle, None), slice(middle))):
        with contrasts.told_apart():
            control = Control.learned(known, batches[other])
        result[own] = [contrasts.extended(control.applied(batch)) for batch in batches[own]]
    return result


Batch = tuple[FloatArray, ...]
"""Means of s s', S S' and the symmetric part of s S', on the estimable contrasts."""


@dataclass(frozen=True)
class Control:
    """Two control variates for every entry, in the basis that `learned` chose."""

    basis: FloatArray
    inverse_basis: FloatArray
    first: FloatArray
    second: FloatArray
    overlap: FloatArray

    @classmethod
    def learned(cls, everything: FloatArray, batches: list[Batch]) -> "Control":
        """Regress on the two controls, one after the other."""
        basis = Pencil.of(np.mean([seen for seen, _, _ in batches], axis=0), everything).vectors
        none = np.zeros_like(everything)
        control = cls(basis, basis.T @ everything, none, none, none)
        # Only deviations from the mean matter here.
        values, errors, crossed = (
            stack - stack.mean(axis=0) for stack in map(np.stack, zip(*map(control._in_basis, batches), strict=True))
        )
        first = _slope(values, errors, np.square(errors).sum(axis=0))
        overlap = _slope(crossed, errors, np.square(errors).sum(axis=0))
        rest = crossed - overlap * errors
        second = _slope(values - first * errors, rest, np.square(crossed).sum(axis=0))
        return cls(basis, basis.T @ everything, first, second, overlap)

    def applied(self, batch: Batch, everything: FloatArray | None = None) -> FloatArray:
        """Sharpen another batch; of other parameters where `everything` is I_everything there."""
        value, error, crossed = self._in_basis(batch, everything)
        better = value - self.first * error - self.second * (crossed - self.overlap * error)
        return np.asarray(self.inverse_basis.T @ better @ self.inverse_basis)

    def _in_basis(
        self, batch: Batch, everything: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The rule's information, by how much S S' misses I_everything, and what should be zero."""
        seen, complete, mixed = (self.basis.T @ matrix @ self.basis for matrix in batch)
        known = np.eye(len(seen)) if everything is None else self.basis.T @ everything @ self.basis
        return seen, complete - known, mixed - seen


def _slope(values: FloatArray, control: FloatArray, reach: FloatArray) -> FloatArray:
    """Of every entry on its control, over the batches; zero where the control hardly varies beside `reach`."""
    square = np.square(control).sum(axis=0)
    product = (values * control).sum(axis=0)
    return np.asarray(np.divide(product, square, out=np.zeros_like(square), where=square > _NO_SPREAD * reach))
