"""A sampled curve that knows how noisy it is, and corrects the bias of inverting a noisy matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import BoolArray, FloatArray
from labelworth.fisher.curve import Estimate, Weight
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.models.coordinates import Coordinates

_AGREEMENT = 5.0
"""By how many standard errors a figure of half the samples may differ from that of all."""

_LEAST_MET = 0.5
_MOST_UNCERTAIN = 0.25
"""What draws must have met of every parameter: half of its complete information, known to a quarter.

So some sixteen draws have spoken of it. With one or two the batches agree on what those few happened to say.
"""


@dataclass(frozen=True, eq=False)
class SampledInformation:
    r"""Sampled missing information, from batches of draws.

    A noisy matrix has a biased inverse: :math:`E\operatorname{tr}(G \hat I^{-1}) = t + b/N + \ldots`, with b growing
    with d while the standard error does not. Every figure is therefore :math:`2 t_N - t_{N/2}`, with :math:`t_{N/2}`
    the mean of the figures of the two halves of the batches: the leading bias cancels. The standard error joins the
    delta method's over batches with the size of that correction, :math:`|t_N - t_{N/2}|`, and with rounding, which is
    all that is left where everything is labeled.

    Attributes
    ----------
    information : FractionInformation
        With one missing information per batch.
    n_drawn : int
        How many samples were drawn.
    met : array of shape (n_batches, d), optional
        Missing plus marginal information of each batch, relative to the complete information of every parameter; with
        endless draws all are one.
    """

    information: FractionInformation
    n_drawn: int
    met: FloatArray | None = None

    @cached_property
    def n_hardly_met(self) -> int:
        """Of how many parameters draws say too little for standard errors, as of a word too rare to be drawn."""
        if self.met is None:
            return 0
        uncertainty = self.met.std(axis=0, ddof=1) / np.sqrt(len(self.met))
        return int(((self.met.mean(axis=0) < _LEAST_MET) | (uncertainty > _MOST_UNCERTAIN)).sum())

    @property
    def n_parameters(self) -> int:
        """The number of free coordinates, d."""
        return self.information.n_parameters

    @property
    def method(self) -> str:
        """How it was computed."""
        return self.information.method

    @property
    def coordinates(self) -> Coordinates:
        """Of the model."""
        return self.information.coordinates

    @cached_property
    def halves(self) -> tuple[FractionInformation, FractionInformation]:
        """The same from the first and the second half of the batches."""
        batches = self.information.missing_batches
        if batches is None:
            raise ValueError("Sampled information needs its batches.")
        middle = len(batches) // 2
        first, second = (
            FractionInformation(self.coordinates, self.information.complete, part.mean(axis=0), self.method)
            for part in (batches[:middle], batches[middle:])
        )
        return first, second

    def identified(self, fractions: FloatArray) -> BoolArray:
        """At which fractions I(f) is positive definite; see `FractionInformation.identified`."""
        for half in self.halves:
            half.identified(fractions)
        return self.information.identified(fractions)

    def covariance(self, n_samples: float, fraction: float) -> FloatArray:
        """Of theta_hat in free coordinates, I(f)^-1 / n, (d, d), without the correction."""
        return self.information.covariance(n_samples, fraction)

    def covariance_root(self, n_samples: float, fraction: float) -> FloatArray:
        """R with R R' = I(f)^-1 / n, (d, d), without the correction."""
        return self.information.covariance_root(n_samples, fraction)

    def trace(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """trace(G I(f)^-1)."""
        return self._corrected(lambda information: information.trace(weight, fractions))

    def trace_slope(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """Its derivative in f, -trace(G I(f)^-1 missing I(f)^-1)."""
        return self._corrected(lambda information: information.trace_slope(weight, fractions))

    def log_volume(self, fractions: FloatArray) -> Estimate:
        """log det I(f)^-1 in free coordinates."""
        return self._corrected(lambda information: information.log_volume(fractions))

    def worst_direction(self, fractions: FloatArray) -> Estimate:
        """The largest eigenvalue of J I(f)^-1 J', the asymptotic covariance of the named tables."""
        return self._corrected(lambda information: information.worst_direction(fractions))

    def exchange_rate(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """How many unlabeled samples take as much off trace(G I(f)^-1) as a labeled one."""
        return self._corrected(lambda information: information.exchange_rate(weight, fractions))

    def draws_needed(self, fractions: FloatArray, relative_error: float) -> int:
        """How many draws bring every figure's standard error down to `relative_error`; `n_drawn` if it is there.

        The standard error of the log volume is taken per parameter, that of the exchange rate relative to what the
        label alone is worth. More draws are asked for, too, while half of them give a total variance more than five
        standard errors away, and while they hardly met some parameter.
        """
        # Where labels hardly matter the missing information is the rounding error of the complete one.
        least = self.information.pencil.tolerance * self.n_parameters
        figures = [self.trace(weight, fractions) for weight in Weight if weight is not Weight.NAMED]
        ratios = [_ratio(figure, np.maximum(np.abs(figure.values), least)) for figure in figures]
        for figure in (self.trace(Weight.NAMED, fractions), self.worst_direction(fractions)):
            ratios.append(_ratio(figure, np.abs(figure.values)))
        ratios.append(_ratio(self.log_volume(fractions), np.full(len(fractions), float(self.n_parameters))))
        rate = self.exchange_rate(Weight.NAMED, fractions)
        ratios.append(_ratio(rate, np.maximum(np.abs(rate.values - 1), self.information.pencil.tolerance)))
        factor = (max(ratios) / relative_error) ** 2
        if self.n_hardly_met or not self._halves_agree(fractions):
            factor = max(factor, 2.0)
        return int(np.ceil(self.n_drawn * max(factor, 1.0)))

    def _halves_agree(self, fractions: FloatArray) -> bool:
        whole = self.information.trace(Weight.NAMED, fractions)
        gap = np.abs(self.halves[0].trace(Weight.NAMED, fractions).values - whole.values)
        rounding = self.information.pencil.tolerance * np.abs(whole.values)
        allowed = _AGREEMENT * (np.asarray(whole.standard_errors) + self._bias(fractions) + rounding)
        return bool(np.all((gap <= allowed) | np.isnan(gap)))

    def _bias(self, fractions: FloatArray) -> FloatArray:
        halves = [half.trace(Weight.NAMED, fractions).values for half in self.halves]
        return np.asarray(np.abs(self.information.trace(Weight.NAMED, fractions).values - np.mean(halves, axis=0)))

    def _corrected(self, figure: Callable[[FractionInformation], Estimate]) -> Estimate:
        whole = figure(self.information)
        # An infinite exchange rate has no correction: infinity minus infinity is NaN.
        with np.errstate(invalid="ignore"):
            correction = whole.values - np.mean([figure(part).values for part in self.halves], axis=0)
        rounding = self.information.pencil.tolerance * np.abs(whole.values)
        errors = np.sqrt(np.asarray(whole.standard_errors) ** 2 + correction**2 + rounding**2)
        return Estimate(whole.values + correction, errors)


def _ratio(estimate: Estimate, scale: FloatArray) -> float:
    """The largest standard error relative to `scale`; a figure of zero known exactly needs nothing."""
    errors = np.asarray(estimate.standard_errors)
    known = errors > 0
    return float(np.max(errors[known] / scale[known], initial=0.0))
