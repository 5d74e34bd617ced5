r"""Batches of sampled information, each left out in turn: what that says of bias and noise.

With :math:`t` a figure of the mean of B batches and :math:`t_{-b}` that of all but batch b, the leading bias of t is
:math:`(B-1)(\bar t_{-b} - t)`, and its variance :math:`(B-1)^2/B` times that of the :math:`t_{-b}`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray, require_shape
from labelworth.errors import InvalidInputError
from labelworth.fisher.criteria import Criterion, Weight
from labelworth.fisher.whitened import Whitened


@dataclass(frozen=True, eq=False)
class Jackknife:
    """What leaving out batches says of a figure, or of many."""

    correction: FloatArray  # To be added to the figure: minus its leading bias.
    variance: FloatArray  # Of the figure.

    @classmethod
    def of(cls, figure: FloatArray | float, left_out: FloatArray) -> "Jackknife":
        """From a figure and the same without each batch, stacked along the first axis."""
        count = len(left_out)
        correction = (count - 1) * (figure - left_out.mean(axis=0))
        return cls(np.asarray(correction), np.asarray((count - 1) ** 2 / count * left_out.var(axis=0, ddof=1)))


def leave_one_out(batches: FloatArray) -> FloatArray:
    """The means of all batches but one, stacked as the batches are."""
    return np.asarray((batches.sum(axis=0) - batches) / (len(batches) - 1))


def require_batches(batches: FloatArray | None, shape: tuple[int, ...]) -> None:
    """Refuse batches of another shape, or a single one: none, for exact information, is well."""
    if batches is None:
        return
    require_shape("batches", batches, (len(batches), *shape))
    if len(batches) < 2:
        raise InvalidInputError("Standard errors need at least two batches. Got one.")


@dataclass(frozen=True, eq=False)
class Replicates:
    """Batches of the information of every rule, each left out in turn."""

    # The coordinates of the mean of all batches, and its contrasts: with others a replicate would be of another
    # figure.
    white: Whitened
    batches: FloatArray  # (n_batches, n_rules, d + p, d + p)
    everything: int  # The indices of complete labels and of none among the rules.
    nothing: int

    def figures(self, criteria: list[Criterion], counts: FloatArray) -> FloatArray:
        """Of a design, (n_batches, n_criteria).

        Raises
        ------
        LinAlgError
            If one is not positive definite.
        """
        return self.white.left_out(criteria, self._totals(counts), self._weights)

    def worths(self, criterion: Criterion, weights: FloatArray) -> FloatArray:
        """What a labeled and an unlabeled sample take off a trace, (n_batches, 2)."""
        inverse = np.linalg.inv(self._totals(weights))
        middle = inverse @ self._weights[criterion.weight or Weight.NAMED] @ inverse
        arms = (self._weights[weight] for weight in (Weight.COMPLETE, Weight.MARGINAL))
        return np.stack([np.einsum("nij,nij->n", middle, arm) for arm in arms], axis=1)

    def share_error(self, weights: FloatArray, share: float, vector: FloatArray) -> float:
        """The standard error of a share of what complete labels tell, along its direction on the contrasts."""
        direction = self.white.direction(weights, vector)
        along = (self.batches @ direction) @ direction
        excess = along @ weights - share * along[:, self.everything]
        return float(excess.std(ddof=1) / np.sqrt(len(excess)))

    def _totals(self, counts: FloatArray) -> FloatArray:
        return self.white.told(self.white.moved(leave_one_out(np.einsum("j,bjac->bac", counts, self.batches))))

    @cached_property
    def _weights(self) -> dict[Weight, FloatArray]:
        """G of every replicate, (n_batches, rank, rank)."""
        rank = len(self.white.basis)
        complete, marginal = (
            self.white.moved(leave_one_out(self.batches[:, index]))[:, :rank, :rank]
            for index in (self.everything, self.nothing)
        )
        return {
            Weight.NAMED: self.white.gram[None],
            Weight.COMPLETE: complete,
            Weight.MISSING: complete - marginal,
            Weight.MARGINAL: marginal,
        }


def corrected(value: float, left_out: FloatArray, tolerance: float) -> tuple[float, float]:
    """A figure without its leading bias; its standard error joins noise, the size of that correction and rounding."""
    noise = Jackknife.of(value, left_out)
    rounding = tolerance * abs(value)
    return float(value + noise.correction), float(np.sqrt(noise.variance + noise.correction**2 + rounding**2))
