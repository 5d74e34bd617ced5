"""EM from one starting model: every step raises the objective, the accelerated ones are kept only if they do."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Generic, TypeVar

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.models.protocol import Maximizer, ParametersT, Pass
from labelworth.progress import Pace, Task

FittedT = TypeVar("FittedT")

_ROUNDING = 1e-26  # nats per sample: what rounding leaves of a step that is zero
_RATES_KEPT = 3
_FAR = 1e3
_MEASURABLE = 1e-9
_GROWTH = 4.0
_MUCH = 1 << 26
"""Bytes that are not held idle while the data are walked through."""


@dataclass(frozen=True)
class Point(Generic[FittedT]):
    """A model with what one pass over the data says of it."""

    model: FittedT
    statistics: Mapping[str, FloatArray]
    log_likelihood: float
    objective: float


@dataclass(frozen=True)
class Ascent(Generic[FittedT]):
    """Where EM arrived from one start."""

    end: Point[FittedT]  # The last model, evaluated.
    objective_path: FloatArray  # The objective of every model kept, in order; it never falls but by rounding.
    converged: bool  # Whether the estimated gain still to come is within the tolerance.
    n_iterations: int  # EM steps taken.
    n_evaluations: int  # Passes over the data.


@dataclass
class SquaredExtrapolation:
    r"""SQUAREM (Varadhan & Roland 2008, scheme S3): two EM steps, squared and stretched.

    From :math:`v_0 \to v_1 \to v_2` with :math:`r = v_1 - v_0` and :math:`u = (v_2 - v_1) - r`,

    .. math:: v = v_0 + 2 a r + a^2 u, \qquad a = \lVert r \rVert / \lVert u \rVert

    :math:`a = 1` is the second EM step itself; the slower EM walks, the larger a. The largest a allowed grows when it
    was used with success and falls back when a step was refused.
    """

    longest: float = _GROWTH  # The largest a allowed now.
    _used_longest: bool = False
    # Room for three iterates, kept from step to step, as new memory takes longer; unless that is much.
    _room: list[FloatArray] = field(default_factory=list)

    def from_models(self, before: list[ParametersT], last: ParametersT) -> ParametersT | None:
        """Extrapolate from three models; None where it would not reach further, or leaves what doubles can hold.

        The two before the last are let go of one by one: they may be large.
        """
        coordinates = last.coordinates
        walk = [coordinates.unconstrained(last.tables, self._room.pop() if self._room else None)]
        while before:
            walk.append(coordinates.unconstrained(before.pop().tables, self._room.pop() if self._room else None))
        second, first, start = walk
        if 3 * start.nbytes <= _MUCH:
            self._room = walk
        del walk
        try:
            # A step too far may leave what doubles can hold; then it is refused like any other.
            with np.errstate(all="ignore"):
                if not self.step(start, first, second):
                    return None
                del first, second
                return last.with_tables(coordinates.from_unconstrained(start))
        except InvalidInputError:
            self.refused()
            return None

    def step(self, start: FloatArray, first: FloatArray, second: FloatArray) -> bool:
        """Move `start` to where three iterates in unconstrained coordinates lead; False: no further than they did."""
        # The compiler is loaded with the first fit, not with an estimator.
        from labelworth.kernels.rows.long_vectors import squared_lengths, stretch_steps

        step_length, bend_length = np.sqrt(squared_lengths(start, first, second))
        if bend_length == 0.0:
            return False
        stretch = float(step_length / bend_length)
        self._used_longest = stretch >= self.longest
        stretch = min(stretch, self.longest)
        if stretch <= 1.0:
            return False
        stretch_steps(start, first, second, stretch)
        return True

    def accepted(self) -> None:
        """The step was kept."""
        if self._used_longest:
            self.longest *= _GROWTH

    def refused(self) -> None:
        """The step would have lowered the objective."""
        self.longest = max(_GROWTH, self.longest / _GROWTH)


@dataclass
class StoppingRule:
    r"""Estimates what plain EM would still gain, in nats per sample, from the sizes of successive steps.

    Near the maximum EM is linear and self-adjoint in the metric of the complete information :math:`I_{XY}`, with
    rates between 0 and 1. A step of squared half-length D shrinking by the rate :math:`\rho` leaves the distance
    :math:`\rho / (1 - \rho)` steps, along which the objective has the curvature :math:`(1 - \rho) I_{XY}`:

    .. math:: \text{gain} \approx D_2\, \rho^2 / (1 - \rho), \qquad \rho = \sqrt{D_2 / D_1}

    So a slow walk in small steps is not taken for an arrival, as the change of the objective alone would have it. The
    largest of the last few rates counts, and the estimate must be within the tolerance twice in a row, since an
    accelerated step may hide the slowest direction, or a saddle, for a while.
    """

    tolerance: float  # Nats per sample that may be left.
    _rates: deque[float] = field(default_factory=lambda: deque(maxlen=_RATES_KEPT), init=False)
    _was_within: bool = field(default=False, init=False)
    _left: float | None = field(default=None, init=False)

    @property
    def steps_left(self) -> float | None:
        """How many more plain steps it takes, about; accelerated ones are fewer. None while nobody knows.

        With every step what is left to gain shrinks by the square of the rate.
        """
        rate = max(self._rates, default=1.0)
        if self._left is None or not 0 < rate < 1 or not np.isfinite(self._left):
            return None
        return max(float(np.log(self._left / self.tolerance) / (-2 * np.log(rate))), 0.0) if self._left > 0 else 0.0

    def is_met(self, first_step: float, second_step: float) -> bool:
        """Whether EM has arrived, after two more plain steps of these squared half-lengths."""
        if second_step <= _ROUNDING:
            return True
        confirmed = self._was_within
        self._left = self._gain_to_come(first_step, second_step)
        self._was_within = self._left <= self.tolerance
        return confirmed and self._was_within

    def _gain_to_come(self, first_step: float, second_step: float) -> float:
        self._rates.append(float(np.sqrt(second_step / first_step)) if first_step > 0 else 1.0)
        rate = max(self._rates)
        return second_step * rate**2 / (1 - rate) if rate < 1 else np.inf


@dataclass
class ExpectationMaximization(Generic[ParametersT]):
    r"""EM for the objective :math:`\sum_i w_i \log \sum_y p_\theta(x_i, y)\, e_i(y) + \log \text{prior}(\theta)`.

    Notes
    -----
    Paper: eq:ll0, eq:ll1, eq:mle.
    """

    family: Maximizer[ParametersT]  # M-step and prior.
    data: Pass[ParametersT]  # The samples, laid out.
    # Stop when the gain still to come is below this many nats per unit of weight; see `StoppingRule`.
    tolerance: float
    max_iterations: int  # EM steps at most.
    accelerated: bool  # Whether to extrapolate after every second step.
    total_weight: float  # The sum of the row weights.
    title: ClassVar[str] = "EM"
    n_evaluations: int = field(default=0, init=False)

    def evaluate(self, model: ParametersT) -> Point[ParametersT]:
        """One pass over the data."""
        self.n_evaluations += 1
        expectation = self.data.expectation(model)
        objective = expectation.log_likelihood + self.family.log_prior(model)
        return Point(model, expectation.statistics, expectation.log_likelihood, objective)

    def supervised(self, starts: Iterator[ParametersT]) -> list[Ascent[ParametersT]]:
        """Every class is known: the responsibilities do not depend on the model, so one step is the maximum."""
        neutral = self.data.expectation(self.family.neutral())
        end = self.evaluate(self.family.maximize(neutral.statistics))
        return [Ascent(end, np.array([end.objective]), True, 1, 2)]

    def climb(self, start: Point[ParametersT], task: Task) -> Ascent[ParametersT]:
        """Walk from an evaluated start until nothing is left to gain, or the steps are used up."""
        evaluated_before = self.n_evaluations
        path, current, converged, n_iterations = [start.objective], start, False, 0
        del start
        extrapolation = SquaredExtrapolation() if self.accelerated else None
        stopping_rule, pace = StoppingRule(self.tolerance), Pace()
        while not converged and n_iterations < self.max_iterations:
            model = self.family.maximize(current.statistics)
            # Nobody asks for what was counted once the next model is made, and it may be large.
            current = replace(current, statistics={})
            first = self.evaluate(model)
            del model
            n_iterations += 1
            path.append(first.objective)
            task.advance(note=f"objective {first.objective:.8g}{pace.words(stopping_rule.steps_left)}")
            if n_iterations == self.max_iterations:
                current = first
                break
            is_far = self._is_far(first.objective - current.objective, first.objective)
            first_step = 0.0 if is_far else first.model.divergence(current.model)
            # Nobody asks for the models before the last from here on, but for a leap.
            before = [] if extrapolation is None else [current.model]
            del current
            second_model = self.family.maximize(first.statistics)
            first = replace(first, statistics={})
            n_iterations += 1
            if not is_far:
                converged = stopping_rule.is_met(first_step, second_model.divergence(first.model))
            before.append(first.model)
            least = first.objective
            del first
            leap = None
            if extrapolation is not None and not converged:
                leap = self._leap(extrapolation, before, second_model, least)
            del before
            current = self.evaluate(second_model) if leap is None else leap
            del second_model, leap
            path.append(current.objective)
            task.advance(note=f"objective {current.objective:.8g}{pace.words(stopping_rule.steps_left)}")
        return Ascent(current, np.array(path), converged, n_iterations, self.n_evaluations - evaluated_before)

    def _is_far(self, gain: float, objective: float) -> bool:
        """Whether a step gained so much that measuring it to see whether it was the last is idle."""
        return gain > max(_FAR * self.tolerance * self.total_weight, _MEASURABLE * abs(objective))

    def _leap(
        self, extrapolation: SquaredExtrapolation, before: list[ParametersT], last: ParametersT, least: float
    ) -> Point[ParametersT] | None:
        """The extrapolated model, evaluated, if the objective does not fall below that of the last step."""
        model = extrapolation.from_models(before, last)
        if model is None:
            return None
        try:
            with np.errstate(all="ignore"):
                point = self.evaluate(model)
        except InvalidInputError:
            extrapolation.refused()
            return None
        if point.objective >= least:
            extrapolation.accepted()
            return point
        extrapolation.refused()
        return None
