"""Asymptotic accuracy of classification from a curve over the labeled fraction, for any number of parameters."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.criteria.asymptotic import CRITERIA
from labelworth.errors import InvalidInputError, MoreSamplesNeededError, NotIdentifiableError
from labelworth.fisher.curve import Estimate, FractionCurve, Weight
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.identifiability import most_changed
from labelworth.fisher.matrix_free_curve import MatrixFreeCurve
from labelworth.fisher.sampled_information import SampledInformation
from labelworth.fisher.spectral_sums import relative_information
from labelworth.linalg.symmetric import largest_eigenvalue
from labelworth.tradeoff.accuracy import Source

_TRACES = {
    "total_variance": (Weight.NAMED, 1.0),
    "excess_log_loss": (Weight.MISSING, 0.5),
    "excess_joint_log_loss": (Weight.COMPLETE, 0.5),
    "excess_marginal_log_loss": (Weight.MARGINAL, 0.5),
}
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class CurveAccuracy:
    r"""A criterion of (n, labeled fraction) as a function of how many examples are labeled and how many are not.

    With :math:`n_L` and :math:`n_U` labeled and unlabeled examples, held and new, :math:`n = n_L + n_U` and
    :math:`f = n_L / n`, a trace criterion is :math:`t(f)/n` and

    .. math::

        \frac{\partial}{\partial n_L} \frac{t}{n} = \frac{-t + (1-f)\,t'}{n^2}, \qquad
        \frac{\partial}{\partial n_U} \frac{t}{n} = \frac{-t - f\,t'}{n^2}

    The arms are "everything" (a labeled example) and "nothing" (an unlabeled one).

    Attributes
    ----------
    curve : FractionCurve
        However the information was computed; nothing of size (d, d) is needed.
    criterion : str
        A name of `labelworth.criteria.asymptotic.CRITERIA`.
    held_labeled, held_unlabeled : float
        Examples already there.
    reason : str
        Why asymptotic accuracy, in words.

    Notes
    -----
    A curve from observed information holds from its `lowest_fraction` up; below, the error is infinite.

    Paper: prop:efficiency1.
    """

    curve: FractionCurve
    criterion: str
    held_labeled: float = 0.0
    held_unlabeled: float = 0.0
    reason: str = "The information is known at every labeled fraction, so the error of every design follows."
    _last: dict[tuple[float, bool], tuple[float, float]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise InvalidInputError(f"criterion must be one of {', '.join(CRITERIA)}. Got {self.criterion!r}.")
        if self.criterion == "worst_direction" and isinstance(self.curve, MatrixFreeCurve):
            self.curve.worst_direction(np.ones(1))
        for name in ("held_labeled", "held_unlabeled"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise InvalidInputError(f"{name} must be a non-negative number. Got {value!r} instead.")

    @property
    def arms(self) -> tuple[str, ...]:
        """A labeled example, an unlabeled one."""
        return ("everything", "nothing")

    @property
    def labels_per_sample(self) -> FloatArray:
        """One and none."""
        return np.array([1.0, 0.0])

    @property
    def source(self) -> Source:
        """Asymptotic."""
        return "asymptotic"

    @property
    def is_convex(self) -> bool:
        """For the figures of one information; corrections of noise and random probes may bend a curve."""
        if isinstance(self.curve, SampledInformation | MatrixFreeCurve):
            return False
        if not isinstance(self.curve, FractionInformation):
            return self.criterion != "worst_direction"
        # Observed information below the fitted fraction may be negative, and no weight of a convex trace.
        pencil = self.curve.pencil
        return self.criterion != "excess_marginal_log_loss" or bool(pencil.values[-1] <= 1 + pencil.tolerance)

    def error(self, counts: FloatArray) -> float:
        """The criterion; infinite where the model is not identified or the curve cannot tell."""
        n, fraction = self._sizes(counts)
        return np.inf if n == 0 else self._combined(self._figure(fraction)[0], n)

    def slope(self, counts: FloatArray) -> FloatArray:
        """Its gradient, (2,).

        Raises
        ------
        NotIdentifiableError
            Where the error is infinite.
        InvalidInputError
            For the worst direction of a curve that does not give its eigenvector.
        """
        n, fraction = self._sizes(counts)
        value, derivative = self._figure(fraction, with_slope=True) if n > 0 else (np.inf, np.inf)
        if not np.isfinite(value):
            raise NotIdentifiableError(
                f"At {n:g} examples, {fraction:.3g} of them labeled, the model is not pinned down.",
                self.open_directions(counts),
            )
        moves = np.array([1 - fraction, -fraction])
        if self.criterion == "log_volume":
            return (moves * derivative - self.curve.n_parameters) / n
        return (moves * derivative - value) / n**2

    def standard_error(self, counts: FloatArray) -> float | None:
        """Of the figure, where the curve was sampled; infinite where the figure is."""
        n, fraction = self._sizes(counts)
        if n == 0 or not np.isfinite(self._figure(fraction)[0]):
            return np.inf
        errors = CRITERIA[self.criterion](self.curve, n, np.array([fraction])).standard_errors
        return None if errors is None else float(errors[0])

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """What unlabeled examples do not see, if there are no labels and the curve has a pencil."""
        n, fraction = self._sizes(counts)
        information = self.curve.information if isinstance(self.curve, SampledInformation) else self.curve
        if not isinstance(information, FractionInformation) or (fraction > 0 and n > 0):
            return ()
        blind = information.pencil.vectors[:, information.n_parameters - information.n_open :]
        return most_changed(information.coordinates, blind)

    def _sizes(self, counts: FloatArray) -> tuple[float, float]:
        """n and the labeled fraction."""
        labeled, unlabeled = self.held_labeled + float(counts[0]), self.held_unlabeled + float(counts[1])
        n = labeled + unlabeled
        return n, labeled / n if n > 0 else 0.0

    def _combined(self, value: float, n: float) -> float:
        return value - self.curve.n_parameters * np.log(n) if self.criterion == "log_volume" else value / n

    def _figure(self, fraction: float, *, with_slope: bool = False) -> tuple[float, float]:
        """The figure of one example and its derivative in the fraction; kept for the next question."""
        lowest = float(getattr(self.curve, "lowest_fraction", 0.0))
        if fraction < lowest * (1 - _ROUNDING):
            return np.inf, np.inf
        key = (fraction, with_slope)
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._asked(fraction, with_slope=with_slope)
        return self._last[key]

    def _asked(self, fraction: float, *, with_slope: bool) -> tuple[float, float]:
        value = slope = 0.0
        try:
            for share, part in self._parts:
                value += share * self._value_of(part, fraction)
                slope += share * self._slope_of(part, fraction) if with_slope else 0.0
        except MoreSamplesNeededError:
            # Noise hides whether the model is identified at so few labels: no design may count on it.
            return np.inf, np.inf
        return (value, slope) if np.isfinite(value) else (np.inf, np.inf)

    @cached_property
    def _parts(self) -> Sequence[tuple[float, FractionCurve]]:
        """Curves whose weighted sum this one is, without the batches that only standard errors need."""
        if isinstance(self.curve, SampledInformation):
            whole = replace(self.curve.information, missing_batches=None)
            # 2 t - (t of one half + t of the other) / 2: the correction that the curve itself makes.
            return [(2.0, whole), *((-0.5, half) for half in self.curve.halves)]
        if isinstance(self.curve, FractionInformation) and self.curve.missing_batches is not None:
            return [(1.0, replace(self.curve, missing_batches=None))]
        return [(1.0, self.curve)]

    def _value_of(self, curve: FractionCurve, fraction: float) -> float:
        fractions = np.array([fraction])
        if self.criterion in _TRACES:
            weight, factor = _TRACES[self.criterion]
            return factor * _first(curve.trace(weight, fractions))
        return _first(
            curve.log_volume(fractions) if self.criterion == "log_volume" else curve.worst_direction(fractions)
        )

    def _slope_of(self, curve: FractionCurve, fraction: float) -> float:
        fractions = np.array([fraction])
        if self.criterion in _TRACES:
            weight, factor = _TRACES[self.criterion]
            return factor * _first(curve.trace_slope(weight, fractions))
        if self.criterion == "log_volume":
            return -_first(curve.trace(Weight.MISSING, fractions))
        if isinstance(curve, FractionInformation):
            return _worst_slope(curve, fraction)
        raise InvalidInputError(
            f"The {self.curve.method} curve does not give the slope of the worst direction. Take another criterion, "
            "or search without a certificate."
        )


def _first(estimate: Estimate) -> float:
    return float(estimate.values[0])


def _worst_slope(information: FractionInformation, fraction: float) -> float:
    r"""Minus :math:`x' I_{miss} x`, with :math:`x = I^{-1} J' u` and u the worst direction in the named tables."""
    pencil = information.pencil
    root = 1 / np.sqrt(relative_information(pencil.values, fraction))
    half = information.coordinates.push(pencil.vectors) * root
    value, vector = largest_eigenvalue(lambda block: half.T @ (half @ block), len(root))
    return -value * float(pencil.values @ np.square(root * vector))
