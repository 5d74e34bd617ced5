r"""Information at a fit with any number of parameters: a few probes, a few passes, every labeled fraction.

No matrix is formed. Traces are means of quadratic forms :math:`z' f(N) z` over random signs z, and each form comes
from a Lanczos recurrence of passes over the documents; docs/derivations/matrix_free.md has the derivation.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from labelworth.arrays import FloatArray, as_floats, require_between
from labelworth.data.samples import Samples
from labelworth.errors import DidNotConvergeWarning, InvalidInputError, NotIdentifiableError
from labelworth.information.curve import Estimate, Weight
from labelworth.information.observed_counts import ObservedCounts
from labelworth.linalg.lanczos import LockstepLanczos, Quadrature, row_chunks
from labelworth.models.multinomial import MultinomialFamily, MultinomialModel
from labelworth.progress import SILENT, Progress, tracking

_FIXED_POINT = 1e-3  # how much one more EM step may change a probability, relatively
_STEPS_BETWEEN_LOOKS = 10

SpectralFunction = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Bracket:
    """Quadrature rules that bound a trace from both sides, for functions whose derivatives are all positive."""

    low: Quadrature
    high: Quadrature


@dataclass(frozen=True, eq=False)
class MatrixFreeCurve:
    r"""Observed information of a fitted multinomial naive Bayes at every fraction from the fitted one up.

    With N the whitened missing information of the unlabeled samples at hand, and
    :math:`s = (1-f) / (1-f_{fitted})`, the whitened information is :math:`1 - sN`; every figure is an exact part plus
    the trace of a function of N. See `FractionCurve`; build it with `matrix_free_information`.

    Attributes
    ----------
    n_parameters : int
        The number of free coordinates, d.
    lowest_fraction : float
        The labeled fraction that was fitted.
    convergence_rate : float
        The largest eigenvalue of N: how much of an error one EM step leaves in its slowest direction.
    residual : float
        By how much, relatively, one more EM step would change a probability at most.
    n_steps : int
        Products taken.
    plain, named : Bracket
        From probes z, and from probes weighted by the squared error of the named tables.
    named_complete, log_determinant : float
        Of the complete information alone, exactly.
    """

    n_parameters: int
    lowest_fraction: float
    convergence_rate: float
    residual: float
    n_steps: int
    plain: Bracket
    named: Bracket
    named_complete: float
    log_determinant: float

    @property
    def method(self) -> str:
        """Matrix-free."""
        return "matrix-free"

    @property
    def n_probes(self) -> int:
        """The number of probes behind every standard error."""
        return len(self.plain.low.nodes)

    def trace(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """trace(G I(f)^-1)."""
        return self._estimate(weight, fractions, self._trace_function, self._exact(weight))

    def trace_slope(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """Its derivative in f."""
        return self._estimate(weight, fractions, self._slope_function, 0.0)

    def trace_bounds(self, weight: Weight, fractions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Between what bounds `trace` would lie with infinitely many steps and the same probes."""
        bracket = self._bracket(weight)
        ends = np.empty((2, len(fractions)))
        for place, fraction in enumerate(self._checked(fractions)):
            function = self._trace_function(weight, fraction)
            # A rule that meets its singularity bounds nothing from above.
            with np.errstate(divide="ignore"):
                ends[:, place] = [rule.of(function).mean() for rule in (bracket.low, bracket.high)]
        if weight is Weight.MARGINAL:
            ends = ends[::-1]  # the one function with negative derivatives
        return self._exact(weight) + ends[0], self._exact(weight) + ends[1]

    def log_volume(self, fractions: FloatArray) -> Estimate:
        """log det I(f)^-1 in free coordinates."""
        return self._estimate(Weight.COMPLETE, fractions, self._log_function, -self.log_determinant)

    def worst_direction(self, fractions: FloatArray) -> NoReturn:
        """Refused: it needs the inverse itself, not the trace of one."""
        raise InvalidInputError(
            f"The worst direction of {self.n_parameters} parameters is not computed matrix-free. Ask for the total "
            "variance or an excess log-loss, or use observed_information if the model is small."
        )

    @property
    def _share(self) -> float:
        """The share of samples without a label in the fit, 1 - f_fitted."""
        return 1 - self.lowest_fraction

    def _exact(self, weight: Weight) -> float:
        """What needs no probes: the figure of the complete information."""
        exact = {Weight.NAMED: self.named_complete, Weight.MISSING: 0.0}
        return exact.get(weight, float(self.n_parameters))

    def _bracket(self, weight: Weight) -> Bracket:
        return self.named if weight is Weight.NAMED else self.plain

    def _trace_function(self, weight: Weight, fraction: float) -> SpectralFunction:
        scale = (1 - fraction) / self._share
        # trace(N / (1 - sN)) is all there is; the weights differ in what multiplies it.
        factor = {Weight.MISSING: 1 / self._share, Weight.MARGINAL: -fraction / self._share}.get(weight, scale)
        return lambda nodes: factor * nodes / (1 - scale * nodes)

    def _slope_function(self, weight: Weight, fraction: float) -> SpectralFunction:
        scale, share = (1 - fraction) / self._share, 1 / self._share
        if weight is Weight.MISSING:
            return lambda nodes: -np.square(share * nodes / (1 - scale * nodes))
        if weight is Weight.MARGINAL:
            return lambda nodes: -share * nodes * (1 - share * nodes) / np.square(1 - scale * nodes)
        return lambda nodes: -share * nodes / np.square(1 - scale * nodes)

    def _log_function(self, weight: Weight, fraction: float) -> SpectralFunction:
        scale = (1 - fraction) / self._share
        return lambda nodes: -np.log1p(-scale * nodes)

    def _estimate(
        self,
        weight: Weight,
        fractions: FloatArray,
        function_at: Callable[[Weight, float], SpectralFunction],
        exact: float,
    ) -> Estimate:
        rule = self._bracket(weight).low
        forms = np.array([rule.of(function_at(weight, fraction)) for fraction in self._checked(fractions)])
        errors: FloatArray = forms.std(axis=1, ddof=1) / np.sqrt(self.n_probes)
        return Estimate(exact + forms.mean(axis=1), errors)

    def _checked(self, fractions: FloatArray) -> list[float]:
        values = [float(value) for value in as_floats("labeled fractions", fractions, ndim=1)]
        for value in values:
            # A fraction computed as the fitted one may differ from it in the last digit.
            require_between("A labeled fraction", value, self.lowest_fraction * (1 - 1e-12), 1.0)
        return values


def matrix_free_information(
    model: MultinomialModel,
    family: MultinomialFamily,
    samples: Samples,
    rng: np.random.Generator,
    *,
    n_probes: int = 10,
    quadrature_tolerance: float = 1e-3,
    max_steps: int = 200,
    progress: Progress = SILENT,
) -> MatrixFreeCurve:
    r"""Estimate the observed information at a fitted maximum from a few random probes.

    .. math::

        \operatorname{tr} f(N) \approx \frac{1}{b} \sum_{j=1}^b z_j' f(N) z_j, \qquad z_j \in \{-1, 1\}^d

    Parameters
    ----------
    model : MultinomialModel
        At the maximum: a fit that has converged (tolerance 1e-10 or smaller).
    family : MultinomialFamily
        Whose prior was in the objective.
    samples : Samples
        What it was fitted to: labeled and unlabeled rows, weights included.
    rng : Generator
        For the probes.
    n_probes : int
        Standard errors fall with its square root.
    quadrature_tolerance : float
        Steps are added until the bounds of the quadrature are this close, relatively, at the fitted fraction.
    max_steps : int
        At most; then a warning.

    Returns
    -------
    MatrixFreeCurve
        Every fraction from the fitted one up; every figure with its standard error over the probes.

    Raises
    ------
    NotIdentifiableError
        If the observed information is not positive definite: this is no strict maximum.
    InvalidInputError
        If the fit has not converged, or there is nothing unlabeled.

    Notes
    -----
    Four blocks of (d, 2 n_probes) numbers, and two products per probe and step: one for the spectrum, one weighted by
    the named tables' squared errors. The latter could be had from the former's recurrence as a bilinear form, at
    several times the variance; see docs/derivations/matrix_free.md.

    Paper: prop:efficiency1.
    """
    require_between("n_probes", n_probes, 2, 10_000)
    observed = ObservedCounts.at(model, family, samples)
    if observed.residual > _FIXED_POINT:
        raise InvalidInputError(
            f"The fit has not converged: one more EM step would change a probability by {observed.residual:.2g} of "
            "itself. Fit with a smaller tolerance and more iterations."
        )
    starts = _probes(observed, n_probes, rng)
    scratch = np.empty_like(starts)
    run = LockstepLanczos(lambda block, out: observed.missing(block, out, scratch), starts)
    with tracking(progress, "Lanczos", max_steps) as task:
        while True:
            steps = min(_STEPS_BETWEEN_LOOKS, max_steps - run.n_steps)
            run.advance(steps)
            curve = _curve(observed, run, n_probes)
            width = _relative_width(curve)
            task.advance(steps, f"bounds within {width:.2g}")
            if width <= quadrature_tolerance:
                return curve
            if run.n_steps >= max_steps:
                _warn_wide(width, max_steps)
                return curve


def _probes(observed: ObservedCounts, n_probes: int, rng: np.random.Generator) -> FloatArray:
    """Random signs, and the same signs weighted by the squared error of the named tables, side by side."""
    starts = np.empty((observed.size, 2 * n_probes))
    for rows in row_chunks(starts):
        plain = starts[rows, :n_probes]
        plain[:] = rng.integers(0, 2, size=plain.shape) * 2 - 1
        starts[rows, n_probes:] = np.sqrt(observed.named_weights[rows])[:, None] * plain
    observed.project(starts)
    return starts


def _curve(observed: ObservedCounts, run: LockstepLanczos, n_probes: int) -> MatrixFreeCurve:
    largest, off = run.largest()
    if largest >= 1:
        raise NotIdentifiableError(
            "The observed information is not positive definite, so this is not a strict maximum: let the fit "
            "converge, label more, or use a stronger prior."
        )
    low, high = run.gauss(), run.radau(min(largest + off, 1.0))
    plain, named = slice(n_probes), slice(n_probes, None)
    return MatrixFreeCurve(
        observed.n_parameters,
        1 - observed.unlabeled_weight / observed.total_weight,
        largest,
        observed.residual,
        run.n_steps,
        Bracket(low.take(plain), high.take(plain)),
        Bracket(low.take(named), high.take(named)),
        observed.named_complete,
        observed.log_determinant,
    )


def _relative_width(curve: MatrixFreeCurve) -> float:
    lowest = np.array([curve.lowest_fraction])
    widths = []
    for weight in (Weight.MISSING, Weight.NAMED):
        low, high = curve.trace_bounds(weight, lowest)
        widths.append(float((high[0] - low[0]) / low[0]) if low[0] > 0 else 0.0)
    return max(widths)


def _warn_wide(width: float, max_steps: int) -> None:
    warnings.warn(
        f"After {max_steps} Lanczos steps the quadrature is still uncertain by {width:.2g} at the fitted fraction; "
        "raise max_steps, or ask for larger fractions.",
        DidNotConvergeWarning,
        stacklevel=3,
    )
