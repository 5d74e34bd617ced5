"""Information of single samples that is known without matrices: figures as functions of the labeled fraction."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.fisher.criteria import CRITERIA, Criterion, Estimate, Weight
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.directions import WeakDirection
from labelworth.fisher.information import DOCUMENT_RULES, Figures
from labelworth.fisher.whitened import FigurePoint

_ROUNDING = 64 * float(np.finfo(float).eps)
_SAME_SHARE = 1e-12


class FractionInformation(ABC):
    r"""I(f) = I_everything - (1 - f) I_miss, and what is asked of its inverse; see `Information`.

    With :math:`n_L` and :math:`n_U` labeled and unlabeled samples, :math:`n = n_L + n_U` and :math:`f = n_L / n`, a
    trace is :math:`t(f)/n` and

    .. math::

        \frac{\partial}{\partial n_L} \frac{t}{n} = \frac{-t + (1-f)\,t'}{n^2}, \qquad
        \frac{\partial}{\partial n_U} \frac{t}{n} = \frac{-t - f\,t'}{n^2}
    """

    rules = DOCUMENT_RULES
    everything, nothing = 0, 1
    n_replicates = 0
    nuisance: tuple[str, ...] = ()

    @property
    def _least_fraction(self) -> float:
        """Below it nothing is known."""
        return 0.0

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of the criteria that it gives."""
        return tuple(CRITERIA)

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of free coordinates, d."""

    @property
    @abstractmethod
    def method(self) -> str:
        """How it was computed."""

    @abstractmethod
    def trace(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """trace(G I(f)^-1); NaN where the model is not identified."""

    @abstractmethod
    def trace_slope(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """Its derivative in f, -trace(G I(f)^-1 missing I(f)^-1)."""

    @abstractmethod
    def log_volume(self, fractions: FloatArray) -> Estimate:
        """log det I(f)^-1 in free coordinates."""

    @abstractmethod
    def worst_direction(self, fractions: FloatArray) -> Estimate:
        """The largest eigenvalue of J I(f)^-1 J', the asymptotic covariance of the named tables."""

    @abstractmethod
    def is_convex(self, criterion: Criterion) -> bool:
        """Whether the figure is convex in the counts, as a theorem."""

    @property
    def n_estimable(self) -> int:
        return self.n_parameters

    @property
    def expected_labels(self) -> FloatArray:
        return np.array([1.0, 0.0])

    @property
    def dense(self) -> DenseInformation | None:
        """The same as matrices; None if there are none, or they would be too large."""
        return None

    def require_criterion(self, criterion: Criterion) -> None:
        """Refuse a criterion that this way of computing cannot give."""
        if criterion.name not in self.offered:
            raise self._refusal(criterion)

    def _refusal(self, criterion: Criterion) -> InvalidInputError:
        return InvalidInputError(
            f"The {criterion.words} of {self.n_parameters} parameters is not computed {self.method}. Ask for the "
            "total variance or an excess log-loss, or use observed_information if the model is small."
        )

    def weak_directions(self, weights: FloatArray) -> tuple[WeakDirection, ...] | None:
        """What the labels leave open or nearly so; None for models too large to look."""
        return None if self.dense is None else self.dense.weak_directions(weights)

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        return ()

    def left_out(self, criterion: Criterion, counts: FloatArray) -> FloatArray:
        """There are no batches."""
        return np.empty(0)

    def point(self, criterion: Criterion, counts: FloatArray) -> FigurePoint | None:
        """The figure of a design with its slope; None where the model is not identified or that is not known."""
        n, fraction = _sizes(counts)
        if not n > 0 or fraction < self._least_fraction * (1 - _SAME_SHARE):
            return None
        value = float(self._estimates(criterion, np.array([fraction])).values[0])
        if not np.isfinite(value):
            return None
        moves, derivative = np.array([1 - fraction, -fraction]), self._derivative(criterion, fraction)
        if derivative is None:
            slope = None
        elif criterion.is_logarithmic:
            slope = (moves * derivative - self.n_parameters) / n
        else:
            slope = (moves * derivative - value) / n**2
        return FigurePoint(criterion.of_samples(value, n, self.n_parameters), slope)

    def standard_error(self, criterion: Criterion, counts: FloatArray) -> float | None:
        """Of the figure of a design; None where it is exact, infinite where the model is not identified."""
        n, fraction = _sizes(counts)
        if self.point(criterion, counts) is None:
            return np.inf
        errors = self._estimates(criterion, np.array([fraction])).standard_errors
        return None if errors is None else criterion.error_of_samples(float(errors[0]), n)

    def estimate(self, criterion: Criterion, weights: FloatArray) -> tuple[float, float | None]:
        """The figure of one sample, and its standard error."""
        estimate = self._estimates(criterion, np.array([_sizes(weights)[1]]))
        errors = estimate.standard_errors
        return float(estimate.values[0]), None if errors is None else float(errors[0])

    def exchange_rate(self, criterion: Criterion, weights: FloatArray) -> tuple[float, float | None]:
        r"""How many unlabeled samples take as much off a trace as a labeled one, and its standard error.

        Since :math:`I_{everything} = I + (1-f) I_{miss}` and :math:`I_{nothing} = I - f I_{miss}`, the rate is
        :math:`(t + (1-f) g) / (t - f g)` with t the trace and -g its slope; the two are taken to conspire, which
        makes the most of their errors.
        """
        fraction, weight = _sizes(weights)[1], criterion.weight or Weight.NAMED
        at = np.array([fraction])
        trace, slope = self.trace(weight, at), self.trace_slope(weight, at)
        value, gain = float(trace.values[0]), -float(slope.values[0])
        labeled, unlabeled = value + (1 - fraction) * gain, value - fraction * gain
        # The difference of two equal numbers is rounding: then unlabeled samples are worth nothing.
        if abs(unlabeled) <= _ROUNDING * value:
            return np.inf, None if trace.standard_errors is None else np.nan
        if trace.standard_errors is None or slope.standard_errors is None:
            return labeled / unlabeled, None
        # d rate / dt = -g / unlabeled^2 and d rate / dg = t / unlabeled^2.
        noise = abs(gain) * float(trace.standard_errors[0]) + abs(value) * float(slope.standard_errors[0])
        return labeled / unlabeled, noise / unlabeled**2

    def figures(self, weights: FloatArray) -> Figures:
        """Everything about one labeled fraction that can be given."""
        values, errors = {}, {}
        for name in self.offered:
            values[name], error = self.estimate(CRITERIA[name], weights)
            if error is not None:
                errors[name] = error
        is_identifiable = bool(np.isfinite(values["total_variance"]))
        return Figures(is_identifiable, None, values, errors, self.weak_directions(weights))

    def notes(self, figures: Sequence[Figures], relative_error: float) -> list[str]:
        """Nothing, where figures are exact."""
        return []

    def _estimates(self, criterion: Criterion, fractions: FloatArray) -> Estimate:
        if criterion.form == "log det":
            return self.log_volume(fractions)
        if criterion.form == "largest" or criterion.weight is None:
            return self.worst_direction(fractions)
        trace, errors = self.trace(criterion.weight, fractions), None
        if trace.standard_errors is not None:
            errors = criterion.factor * trace.standard_errors
        return Estimate(criterion.factor * trace.values, errors)

    def _derivative(self, criterion: Criterion, fraction: float) -> float | None:
        """Of the figure of one sample in f; None for the worst direction, whose eigenvector is not given."""
        at = np.array([fraction])
        if criterion.form == "log det":
            return -float(self.trace(Weight.MISSING, at).values[0])
        if criterion.form == "largest" or criterion.weight is None:
            return None
        return criterion.factor * float(self.trace_slope(criterion.weight, at).values[0])


def _sizes(counts: FloatArray) -> tuple[float, float]:
    """n and the labeled fraction."""
    n = float(counts.sum())
    return n, float(counts[0]) / n if n > 0 else 0.0
