"""How probable it is that a round of labels settles on which side of a target an error lies."""

from bisect import bisect_left

import numpy as np
from scipy.special import ndtr

from labelworth.planning.answer import NORMAL_95, Interval
from labelworth.planning.formulas.sampled import on_scale
from labelworth.tradeoff.problem import LOGARITHMIC

EVEN = 0.5


def is_settled(interval: Interval | None, target: float) -> bool:
    """Whether an interval lies on one side of a target."""
    return interval is not None and not interval.low < target < interval.high


def odds_of_settling(criterion: str, error: float, interval: Interval, target: float, growth: float) -> float | None:
    r"""The probability that the interval misses the target once there are `growth` times the labels.

    On the scale g on which errors are normal, what is known now is :math:`N(m, s^2)`. With c times the labels it will
    be :math:`N(m', s^2 / c)`: widths fall with the square root. As seen from here :math:`m'` is
    :math:`N(m, s^2 - s^2 / c)`, so with :math:`d = |g(target) - m| / s`, :math:`t = \sqrt{1 - 1/c}` and z = 1.645

    .. math:: P = \Phi((d - z / \sqrt c) / t) + \Phi((-d - z / \sqrt c) / t).

    Ends of intervals lie where they do; s is that of the side on which the target is.

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


def even_round(criterion: str, error: float, interval: Interval, target: float, held: int, most: int) -> int | None:
    """The fewest more samples, beside those held, whose odds are even or better; None: more than `most` of them."""

    def is_even(more: int) -> bool:
        return (odds_of_settling(criterion, error, interval, target, 1 + more / held) or 0.0) >= EVEN

    # Odds rise with the labels as long as the interval holds the target.
    more = bisect_left(range(1, most + 1), True, key=is_even) + 1
    return more if more <= most else None
