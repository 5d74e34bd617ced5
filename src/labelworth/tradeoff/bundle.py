"""The level bundle method: convex errors with kinks, such as the largest eigenvalue where it is multiple."""

from dataclasses import dataclass, field

import numpy as np
import scipy.optimize

from labelworth.arrays import FloatArray
from labelworth.tradeoff.certificate import Minorant
from labelworth.tradeoff.least_error import Objective, Optimum, Polytope

_LEVEL = 0.3
"""How far between the lower bound and the best value the next point aims."""

_MAX_STEPS = 600
_PATIENCE = 80
"""After so many steps without a smaller gap rounding is all that is left to improve."""


@dataclass(eq=False)
class Bundle:
    """Planes below a convex function, gathered wherever it was asked; they hold for every polytope."""

    objective: Objective
    # What it answered where it was asked, and the planes that touch it there.
    values: list[float] = field(default_factory=list)
    planes: list[Minorant] = field(default_factory=list)

    def least(self, polytope: Polytope, start: FloatArray, enough: float) -> Optimum:
        """Walk until the gap is at most `enough` of the value's size, or for some hundred steps.

        Each step projects the best point onto the designs where all planes lie below a level between the lower bound
        and the best value.

        Parameters
        ----------
        start : array of shape (n_arms,)
            With a finite value.
        """
        counts, value, shown, waited = start, self._add(start), None, 0
        for _ in range(_MAX_STEPS):
            low, lowest, plane = self._lowest(polytope)
            waited += 1
            if shown is None or polytope.gap(value, plane) < shown.gap:
                shown, waited = Optimum.of(counts, value, plane, polytope), 0
            if shown.gap <= enough * self.objective.size(value) or waited > _PATIENCE:
                break
            trial = self._projected(polytope, counts, lowest, low + _LEVEL * (value - low))
            trial_value = self._add(trial)
            if not np.isfinite(trial_value):
                # Outside the domain: half way back to where the function is known.
                trial = (trial + counts) / 2
                trial_value = self._add(trial)
            if trial_value < value:
                counts, value = trial, trial_value
        return shown if shown is not None else Optimum.of(counts, value, plane, polytope)

    def _add(self, counts: FloatArray) -> float:
        """Ask at these counts; outside the domain nothing is learned."""
        value = self.objective.value(counts)
        if np.isfinite(value):
            self.values.append(value)
            self.planes.append(self.objective.tangent(counts))
        return value

    @property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Intercepts and slopes of all planes."""
        return np.array([plane.intercept for plane in self.planes]), np.array([-plane.worth for plane in self.planes])

    def _lowest(self, polytope: Polytope) -> tuple[float, FloatArray, Minorant]:
        """The minimum over the polytope of the largest plane, where it is, and the mean of planes that shows it."""
        units = np.where(polytope.most > 0, polytope.most, 1.0)
        (intercepts, slopes), rows = self._table, polytope.limits * units
        n_planes, n_arms = slopes.shape
        size = max(float(np.max(np.abs(self.values))), 1e-300)
        program = scipy.optimize.linprog(
            np.append(np.zeros(n_arms), 1.0),
            A_ub=np.block([[slopes * units / size, -np.ones((n_planes, 1))], [rows, np.zeros((len(rows), 1))]]),
            b_ub=np.concatenate([-intercepts / size, np.ones(len(rows))]),
            bounds=[(0.0, 1.0 if most > 0 else 0.0) for most in polytope.most] + [(None, None)],
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if program.x is None:
            raise RuntimeError(f"The linear program of the bundle was not solved: {program.message}")
        # A weighted mean of planes is below the function too.
        shares = np.maximum(-program.ineqlin.marginals[:n_planes], 0.0)
        shares = shares / shares.sum()
        plane = Minorant(float(shares @ intercepts), -(shares @ slopes))
        return size * float(program.x[-1]), polytope.shrunk(program.x[:n_arms] * units), plane

    def _projected(self, polytope: Polytope, counts: FloatArray, lowest: FloatArray, level: float) -> FloatArray:
        """The design nearest to `counts` where every plane is at most `level`, as at the `lowest` design."""
        units = np.where(polytope.most > 0, polytope.most, 1.0)
        intercepts, slopes = self._table
        norms = np.linalg.norm(slopes * units, axis=1)
        usable = norms > 0
        planes = (slopes * units)[usable] / norms[usable, None]
        heights = (level - intercepts[usable]) / norms[usable]
        rows = np.vstack([-np.eye(len(units)), polytope.limits * units, planes])
        limits = np.concatenate([np.zeros(len(units)), np.ones(len(polytope.limits)), heights])
        step = least_step(rows, limits - rows @ (counts / units))
        return polytope.shrunk(lowest if step is None else counts + units * step)


def least_step(rows: FloatArray, room: FloatArray) -> FloatArray | None:
    r"""The shortest s with rows s <= room, by non-negative least squares; None if rounding hides that there is one.

    Lawson and Hanson (1974), chapter 23: with u >= 0 that minimizes the length of
    :math:`r = (-A'u, -b'u - 1)`, the step is :math:`s = -r_{1..k} / r_{k+1}`.
    """
    violation = float(-room.min())
    if violation <= 0:
        return np.zeros(rows.shape[1])
    system = -np.vstack([rows.T, room / violation])
    goal = np.append(np.zeros(rows.shape[1]), 1.0)
    residual = system @ scipy.optimize.nnls(system, goal, maxiter=100 * len(rows))[0] - goal
    return -violation * residual[:-1] / residual[-1] if residual[-1] < 0 else None
