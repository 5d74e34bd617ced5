"""L-BFGS from one starting model: where there is no M-step, the objective is climbed along its own slope."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Generic

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import DidNotConvergeWarning
from labelworth.estimation.expectation_maximization import Ascent, Point
from labelworth.estimation.quasi_newton import minimize
from labelworth.models.protocol import Maximizer, ParametersT, SlopedPass
from labelworth.progress import Task

_PER_STEP = 10
"""What counts as one step: so many of L-BFGS are about as far as an accelerated step of EM."""

_CLOSE = 1e-9
_MOST_STEPS = 1000


@dataclass
class LikelihoodAscent(Generic[ParametersT]):
    r"""L-BFGS for the objective of `ExpectationMaximization`.

    Coordinates are unconstrained, and measured in their standard errors at the start: the root of the sum of squared
    scores of (x, y). So features in thousandths and in thousands are climbed alike.
    """

    family: Maximizer[ParametersT]  # The prior.
    data: SlopedPass[ParametersT]  # The samples, laid out.
    tolerance: float  # Stop when ten iterations gain less than this many nats per unit of weight.
    max_iterations: int
    total_weight: float  # The sum of the row weights.
    title: ClassVar[str] = "L-BFGS"

    def evaluate(self, model: ParametersT) -> Point[ParametersT]:
        """One pass over the data."""
        expectation = self.data.expectation(model)
        objective = expectation.log_likelihood + self.family.log_prior(model)
        return Point(model, {}, expectation.log_likelihood, objective)

    def supervised(self, starts: Iterator[ParametersT]) -> list[Ascent[ParametersT]]:
        """Every class is known; without an M-step that too is a climb, to the end."""
        tolerance = min(self.tolerance, _CLOSE)
        return [self._climbed(self.evaluate(model), tolerance, _MOST_STEPS) for model in starts]

    def climb(self, start: Point[ParametersT], task: Task) -> Ascent[ParametersT]:
        """Walk from an evaluated start until nothing is left to gain, or the steps are used up."""
        ascent = self._climbed(start, self.tolerance, self.max_iterations)
        task.advance(ascent.n_iterations, note=f"objective {ascent.end.objective:.8g}")
        return ascent

    def _climbed(self, start: Point[ParametersT], tolerance: float, max_iterations: int) -> Ascent[ParametersT]:
        coordinates, scales = start.model.coordinates, self.data.scales(start.model)

        def objective(scaled: FloatArray, gradient: FloatArray) -> float:
            value, slope = self.data.slope(scaled / scales)
            np.divide(slope, -scales, out=gradient)
            # Without a slope there is no going on: the line search turns back, as where there is no value.
            return -value if np.isfinite(gradient).all() else np.nan

        with warnings.catch_warnings():
            # Whoever asked for the fit is told by `fit`.
            warnings.simplefilter("ignore", DidNotConvergeWarning)
            descent = minimize(
                objective,
                coordinates.unconstrained(start.model.tables) * scales,
                tolerance=tolerance * self.total_weight,
                max_iterations=_PER_STEP * max_iterations,
            )
        end = self.evaluate(start.model.with_tables(coordinates.from_unconstrained(descent.theta / scales)))
        return Ascent(end, -descent.value_path, descent.converged, descent.n_iterations, descent.n_evaluations + 2)
