"""What a label is worth in unlabeled examples."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.curve import Estimate, FractionCurve, Weight
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.sampled_information import SampledInformation

_ROUNDING = 64 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class ExchangeRates:
    """At the margin, one per labeled fraction; infinite where another unlabeled example is worth nothing.

    Attributes
    ----------
    labeled_example : Estimate
        How many more unlabeled examples do as much good as one more labeled example.
    label : Estimate
        How many do as much good as a label on an example already in the pool: one less.
    """

    labeled_example: Estimate
    label: Estimate


def exchange_rates(curve: FractionCurve, fractions: FloatArray, weight: Weight = Weight.NAMED) -> ExchangeRates:
    r"""How a criterion trace(G I(f)^-1) trades labeled for unlabeled examples.

    With M the information of the whole sample, one more labeled example lowers the criterion by
    :math:`\operatorname{tr}(G M^{-1} I_{XY} M^{-1})`, one more unlabeled example by
    :math:`\operatorname{tr}(G M^{-1} I_X M^{-1})`. Since :math:`I_{XY} = I + (1-f) I_{miss}` and
    :math:`I_X = I - f I_{miss}`, both follow from the criterion t and its slope -g in f:

    .. math:: \frac{t + (1-f)\, g}{t - f\, g}

    Parameters
    ----------
    curve : FractionCurve
    fractions : array of shape (n_fractions,)
    weight : Weight
        Which criterion; the total variance unless said otherwise.

    """
    if isinstance(curve, FractionInformation | SampledInformation):
        rate = curve.exchange_rate(weight, fractions)
    else:
        rate = _rate_from_slope(curve, fractions, weight)
    return ExchangeRates(rate, Estimate(rate.values - 1, rate.standard_errors))


def _rate_from_slope(curve: FractionCurve, fractions: FloatArray, weight: Weight) -> Estimate:
    """The rate where there is no matrix; t and g are taken to conspire, which makes the most of their errors."""
    trace, slope = curve.trace(weight, fractions), curve.trace_slope(weight, fractions)
    gain = -slope.values
    labeled, unlabeled = trace.values + (1 - fractions) * gain, trace.values - fractions * gain
    # The difference of two equal numbers is rounding: then unlabeled examples are worth nothing.
    unlabeled = np.where(np.abs(unlabeled) <= _ROUNDING * trace.values, 0.0, unlabeled)
    errors = None
    with np.errstate(divide="ignore"):
        rate = labeled / unlabeled
        if trace.standard_errors is not None and slope.standard_errors is not None:
            # d rate / dt = -g / unlabeled^2 and d rate / dg = t / unlabeled^2.
            noise = np.abs(gain) * trace.standard_errors + np.abs(trace.values) * slope.standard_errors
            errors = noise / unlabeled**2
    return Estimate(rate, errors)
