r"""Figures of an observed information that is known through quadrature rules only.

With N the whitened missing information at a fit and :math:`s = (1-f)/(1-f_{fitted})` the whitened information is
:math:`1 - sN`. Every figure is an exact part, a multiple of the trace of N, which is exact too, and the trace of a
remainder, a function of N that starts with a square: only that is estimated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from labelworth.arrays import FloatArray, as_floats, require_between
from labelworth.fisher.by_fraction import FractionInformation
from labelworth.fisher.criteria import CRITERIA, Criterion, Estimate, Weight
from labelworth.fisher.information import Figures
from labelworth.linalg.lanczos import Quadrature
from labelworth.wording import percent

_PROBE_ERROR = 0.05


@dataclass(frozen=True)
class _Form:
    """linear * trace(N) + trace(remainder(N)); the derivatives of the remainder all have one sign."""

    linear: float
    remainder: Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """What is known of N as seen with one weight per coordinate."""

    complete: float  # The figure of the complete information: the sum of the weights on the free directions.
    trace: float  # The weighted trace of N.
    # One rule per probe, whose mean over the probes estimates a weighted trace; for functions whose derivatives
    # are all positive, `low` from below and `high` from above.
    low: Quadrature
    high: Quadrature


@dataclass(frozen=True, eq=False)
class ProbedInformation(FractionInformation):
    r"""Observed information of a fitted multinomial naive Bayes at every fraction from the fitted one up.

    See `FractionInformation`; build it with `matrix_free_information`. Standard errors are those over the probes.
    """

    lowest_fraction: float  # The labeled fraction that was fitted.
    # The largest eigenvalue of N: how much of an error one EM step leaves in its slowest direction.
    convergence_rate: float
    residual: float  # By how much, relatively, one more EM step would change a probability at most.
    n_steps: int  # Products taken.
    plain: Spectrum  # With the same weight for every direction, and with the squared errors of the named tables.
    named: Spectrum
    log_determinant: float  # Of the complete information per sample, exactly.

    @property
    def n_parameters(self) -> int:
        return round(self.plain.complete)

    @property
    def method(self) -> str:
        return "matrix-free"

    @property
    def n_probes(self) -> int:
        """The number of probes behind the standard errors of log-losses; the total variance has fewer."""
        return len(self.plain.low.nodes)

    @property
    def _least_fraction(self) -> float:
        return self.lowest_fraction

    @property
    def offered(self) -> tuple[str, ...]:
        """All but the worst direction."""
        return tuple(name for name, criterion in CRITERIA.items() if criterion.form != "largest")

    def is_convex(self, criterion: Criterion) -> bool:
        """Not as a theorem: random probes may bend a curve."""
        return False

    def trace(self, weight: Weight, fractions: FloatArray) -> Estimate:
        forms = [self._trace_form(weight, fraction) for fraction in self._checked(fractions)]
        return self._estimate(self._spectrum(weight), forms, self._complete(weight))

    def trace_slope(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """Its derivative in f."""
        forms = [self._slope_form(weight, fraction) for fraction in self._checked(fractions)]
        return self._estimate(self._spectrum(weight), forms, 0.0)

    def log_volume(self, fractions: FloatArray) -> Estimate:
        forms = [self._log_form(fraction) for fraction in self._checked(fractions)]
        return self._estimate(self.plain, forms, -self.log_determinant)

    def worst_direction(self, fractions: FloatArray) -> NoReturn:
        """Refused: it needs the inverse itself, not the trace of one."""
        raise self._refusal(CRITERIA["worst_direction"])

    def notes(self, figures: Sequence[Figures], relative_error: float) -> list[str]:
        """That there are too few probes."""
        worst = max(_relative(item, name) for item in figures for name in item.errors)
        if worst <= _PROBE_ERROR:
            return []
        more = int(np.ceil(self.n_probes * (worst / _PROBE_ERROR) ** 2))
        return [
            f"{self.n_probes} probes leave a figure uncertain by {percent(worst)} of itself; n_probes={more} would "
            f"bring that to {percent(_PROBE_ERROR)}."
        ]

    def trace_bounds(self, weight: Weight, fractions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Between what bounds `trace` would lie with infinitely many steps and the same probes."""
        spectrum, ends = self._spectrum(weight), np.empty((2, len(fractions)))
        for index, fraction in enumerate(self._checked(fractions)):
            form = self._trace_form(weight, fraction)
            # A rule that meets its singularity bounds nothing from above.
            with np.errstate(divide="ignore"):
                remainders = [rule.of(form.remainder).mean() for rule in (spectrum.low, spectrum.high)]
            ends[:, index] = self._complete(weight) + form.linear * spectrum.trace + np.array(remainders)
        # The marginal figure is the one that falls where N grows.
        return (ends[1], ends[0]) if weight is Weight.MARGINAL else (ends[0], ends[1])

    @property
    def _share(self) -> float:
        """The share of samples without a label in the fit, 1 - f_fitted."""
        return 1 - self.lowest_fraction

    def _spectrum(self, weight: Weight) -> Spectrum:
        return self.named if weight is Weight.NAMED else self.plain

    def _complete(self, weight: Weight) -> float:
        """The figure of the complete information."""
        return 0.0 if weight is Weight.MISSING else self._spectrum(weight).complete

    def _trace_form(self, weight: Weight, fraction: float) -> _Form:
        """A multiple of N / (1 - sN)."""
        scale = (1 - fraction) / self._share
        factor = {Weight.MISSING: 1 / self._share, Weight.MARGINAL: -fraction / self._share}.get(weight, scale)
        return _Form(factor, lambda nodes: factor * scale * nodes**2 / (1 - scale * nodes))

    def _slope_form(self, weight: Weight, fraction: float) -> _Form:
        """Minus N / (1 - sN)^2 with factors; by the weight, N^2 or N (1 - N / share) instead of N."""
        scale, inverse = (1 - fraction) / self._share, 1 / self._share
        if weight is Weight.MISSING:
            return _Form(0.0, lambda nodes: -np.square(inverse * nodes / (1 - scale * nodes)))
        extra = inverse if weight is Weight.MARGINAL else 0.0
        return _Form(
            -inverse,
            lambda nodes: -inverse * nodes**2 * (scale * (2 - scale * nodes) - extra) / np.square(1 - scale * nodes),
        )

    def _log_form(self, fraction: float) -> _Form:
        scale = (1 - fraction) / self._share
        return _Form(scale, lambda nodes: -np.log1p(-scale * nodes) - scale * nodes)

    def _estimate(self, spectrum: Spectrum, forms: list[_Form], complete: float) -> Estimate:
        exact = np.array([complete + form.linear * spectrum.trace for form in forms])
        remainders = np.array([spectrum.low.of(form.remainder) for form in forms]).reshape(len(forms), -1)
        errors: FloatArray = remainders.std(axis=1, ddof=1) / np.sqrt(remainders.shape[1])
        return Estimate(exact + remainders.mean(axis=1), errors)

    def _checked(self, fractions: FloatArray) -> list[float]:
        values = [float(value) for value in as_floats("labeled fractions", fractions, ndim=1)]
        for value in values:
            # A fraction computed as the fitted one may differ from it in the last digit.
            require_between("A labeled fraction", value, self.lowest_fraction * (1 - 1e-12), 1.0)
        return values


def _relative(figures: Figures, name: str) -> float:
    """The standard error of a figure, relative to it; of the log volume, as it is."""
    error, value = figures.errors[name], figures.values[name]
    if not np.isfinite([error, value]).all():
        return 0.0
    return error if name in CRITERIA and CRITERIA[name].is_logarithmic else error / abs(value)
