"""EM from one starting model: every step raises the objective, the accelerated ones are kept only if they do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.estimation.acceleration import SquaredExtrapolation
from labelworth.models.protocol import Family, ModelT, Pass
from labelworth.progress import Task

RELATIVE_SLACK = 1e-12
"""By how much rounding alone may make the objective appear to fall, relative to its size."""

_ROUNDING = 1e-26  # nats per sample: what rounding leaves of a step that is zero
_FASTEST_SLOWING = 1 - 1e-9


@dataclass(frozen=True)
class Point(Generic[ModelT]):
    """A model with what one pass over the data says of it."""

    model: ModelT
    statistics: Mapping[str, FloatArray]
    log_likelihood: float
    objective: float


@dataclass(frozen=True)
class Ascent(Generic[ModelT]):
    """Where EM arrived from one start.

    Attributes
    ----------
    end : Point
        The last model, evaluated.
    objective_path : array
        The objective of every model kept, in order; it never falls but by rounding.
    converged : bool
        Whether the estimated gain still to come is within the tolerance.
    n_iterations : int
        EM steps taken.
    n_evaluations : int
        Passes over the data.
    """

    end: Point[ModelT]
    objective_path: FloatArray
    converged: bool
    n_iterations: int
    n_evaluations: int


def gain_to_come(first_step: float, second_step: float) -> float:
    r"""Estimate what plain EM would still gain, in nats per sample, from the sizes of two successive steps.

    Near the maximum EM is linear and self-adjoint in the metric of the complete information :math:`I_{XY}`, with
    rates between 0 and 1. A step of squared half-length D shrinking by the rate :math:`\rho` leaves the distance
    :math:`\rho / (1 - \rho)` steps, along which the objective has the curvature :math:`(1 - \rho) I_{XY}`:

    .. math:: \text{gain} \approx D_2\, \rho^2 / (1 - \rho), \qquad \rho = \sqrt{D_2 / D_1}

    So a slow walk in small steps is not taken for an arrival, as the change of the objective alone would have it.
    """
    if second_step <= _ROUNDING:
        return 0.0
    if second_step >= first_step:
        return np.inf
    rate = min(float(np.sqrt(second_step / first_step)), _FASTEST_SLOWING)
    return second_step * rate**2 / (1 - rate)


@dataclass
class ExpectationMaximization(Generic[ModelT]):
    r"""EM for the objective :math:`\sum_i w_i \log \sum_y p_\theta(x_i, y)\, e_i(y) + \log \text{prior}(\theta)`.

    Attributes
    ----------
    family : Family
        Maximizer and prior.
    data : Pass
        The samples, laid out.
    tolerance : float
        Stop when the gain still to come is below this many nats per unit of weight; see `gain_to_come`.
    max_iterations : int
        EM steps at most.
    accelerated : bool
        Whether to extrapolate after every second step.

    Notes
    -----
    Paper: eq:ll0, eq:ll1, eq:mle.
    """

    family: Family[ModelT]
    data: Pass[ModelT]
    tolerance: float
    max_iterations: int
    accelerated: bool
    n_evaluations: int = field(default=0, init=False)

    def evaluate(self, model: ModelT) -> Point[ModelT]:
        """One pass over the data."""
        self.n_evaluations += 1
        expectation = self.data.expectation(model)
        objective = expectation.log_likelihood + self.family.log_prior(model)
        return Point(model, expectation.statistics, expectation.log_likelihood, objective)

    def climb(self, start: Point[ModelT], task: Task) -> Ascent[ModelT]:
        """Walk from an evaluated start until nothing is left to gain, or the steps are used up."""
        evaluated_before = self.n_evaluations
        path, current, converged, n_iterations = [start.objective], start, False, 0
        extrapolation = SquaredExtrapolation() if self.accelerated else None
        while n_iterations < self.max_iterations and not converged:
            first = self.evaluate(self.family.maximize(current.statistics))
            path.append(first.objective)
            second_model = self.family.maximize(first.statistics)
            n_iterations += 2
            task.advance(2, note=f"objective {first.objective:.6g}")
            converged = (
                gain_to_come(first.model.divergence(current.model), second_model.divergence(first.model))
                <= self.tolerance
            )
            leap = (
                None
                if converged or extrapolation is None
                else self._leap(extrapolation, current, first, second_model)
            )
            current = leap or self.evaluate(second_model)
            path.append(current.objective)
        return Ascent(current, np.array(path), converged, n_iterations, self.n_evaluations - evaluated_before)

    def _leap(
        self,
        extrapolation: SquaredExtrapolation,
        start: Point[ModelT],
        first: Point[ModelT],
        second_model: ModelT,
    ) -> Point[ModelT] | None:
        """The extrapolated point, if it is there and the objective does not fall."""
        coordinates = second_model.coordinates
        vector = extrapolation.step(
            *(coordinates.unconstrained(model.tables) for model in (start.model, first.model, second_model))
        )
        if vector is None:
            return None
        point = self.evaluate(second_model.with_tables(coordinates.from_unconstrained(vector)))
        if point.objective >= first.objective:
            extrapolation.accepted()
            return point
        extrapolation.refused()
        return None
