"""How probable it is that a round of labels settles on which side of a target an error lies."""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr
from scipy.stats import nbinom

from labelworth.planning.answer import NORMAL_95, Interval
from labelworth.planning.formulas.sampled import on_scale
from labelworth.tradeoff.problem import LOGARITHMIC

EVEN = 0.5
_N_ROUNDS = 60


def is_settled(interval: Interval | None, target: float) -> bool:
    """Whether an interval lies on one side of a target."""
    return interval is not None and not interval.low < target < interval.high


def odds_of_settling(criterion: str, error: float, interval: Interval, target: float, growth: float) -> float | None:
    r"""The probability that the interval of an error misses the target once there are `growth` times the labels.

    On the scale g on which errors are normal, what is known now of that error is :math:`N(m, s^2)`. With c times the
    labels it will be :math:`N(m', s^2 / c)`: widths fall with the square root. As seen from here :math:`m'` is
    :math:`N(m, s^2 - s^2 / c)`, so with :math:`d = |g(target) - m| / s`, :math:`t = \sqrt{1 - 1/c}` and z = 1.645

    .. math:: P = \Phi((d - z / \sqrt c) / t) + \Phi((-d - z / \sqrt c) / t).

    Ends of intervals lie where they do; s is that of the side on which the target is.

    Parameters
    ----------
    error, interval
        The error that is asked about, as it is known now: one with the labels of the round is the forecast for them.

    Returns
    -------
    float or None
        None: the interval has no such side.
    """
    end = interval.high if target > error else interval.low
    if not np.isfinite(end) or (criterion not in LOGARITHMIC and min(error, end, target) <= 0):
        return None
    middle, side, wanted = (on_scale(criterion, figure) for figure in (error, end, target))
    spread = abs(side - middle) / NORMAL_95
    if not spread > 0 or not growth > 1:
        return None
    distance, reach, moves = abs(wanted - middle) / spread, NORMAL_95 / np.sqrt(growth), np.sqrt(1 - 1 / growth)
    return float(ndtr((distance - reach) / moves) + ndtr((-distance - reach) / moves))


def odds_of_examples(n_examples: int, wanted: int, growth: float) -> float:
    r"""The probability that there are `wanted` examples of a class once there are `growth` times the labels.

    What n examples say of a rate is :math:`\mathrm{Gamma}(n, 1)` of the labels held, so those of c times the labels
    are negative binomial: n successes of probability 1 / c.
    """
    return float(nbinom.sf(wanted - n_examples - 1, n_examples, 1 / growth)) if n_examples else 0.0


def even_round(odds: Callable[[int], float | None], most: int) -> int | None:
    """The fewest more samples whose odds are even or better, of sixty sizes; None: it takes more than `most`."""
    for more in np.unique(np.rint(np.geomspace(1, max(most, 1), _N_ROUNDS)).astype(int)).tolist():
        if more <= most and (odds(more) or 0.0) >= EVEN:
            return int(more)
    return None
