"""When to stop labeling."""

import math
from dataclasses import dataclass

from labelworth.arrays import FloatArray
from labelworth.planning.answer import Held, Problem
from labelworth.planning.outcome import worth
from labelworth.planning.situation import Situation
from labelworth.tradeoff.costs import ArmPrices

_NO_GAIN = "more labels would not lower the error."


@dataclass(frozen=True)
class Stop:
    """Why no more labels should be bought.

    Attributes
    ----------
    words : str
    is_forecast : bool
        Whether that rests on the errors to expect, which a small pilot may get wrong; else on what is left.
    """

    words: str
    is_forecast: bool = True


def why_stop(situation: Situation, problem: Problem, value: float, counts: FloatArray) -> Stop | None:
    """Why no more labels should be bought; None if some should."""
    if float(counts @ situation.accuracy.labels_per_sample) > 0:
        return None
    if situation.pool < 1:
        return Stop("there is nothing left to label.", is_forecast=False)
    if problem == "target":
        return Stop(f"the target of {value:g} is met by the labels held.")
    return (
        Stop(_too_expensive(situation, value, counts)) if problem == "alpha" else _no_money(situation, value, counts)
    )


def more_pilot(held: Held, needed: int, pool: float) -> int:
    """How many more samples to label at random, as many labels each as those held, for `needed` labels in all."""
    each = held.n_labels / held.n_labeled
    return max(1, min(math.ceil((needed - held.n_labels) / each), int(pool)))


def _no_money(situation: Situation, budget: float, counts: FloatArray) -> Stop:
    cheapest = min((price for _, price in _gains(situation, counts)), default=0.0)
    left = budget - situation.held.cost
    if left < cheapest:
        words = f"the {left:g} left of the budget does not pay for another label, which costs {cheapest:g}."
        return Stop(words, is_forecast=False)
    return Stop(_NO_GAIN)


def _too_expensive(situation: Situation, alpha: float, counts: FloatArray) -> str:
    gains = _gains(situation, counts)
    if not gains:
        return _NO_GAIN
    if not isinstance(situation.prices, ArmPrices):
        return (
            f"no number of further labels lowers the error by as much as they cost, at {alpha:g} per unit of error."
        )
    gain, price = max(gains, key=lambda pair: pair[0] / pair[1])
    return (
        f"the next labeled sample lowers the error by {gain:.3g}, worth {alpha * gain:.3g} and so less than its "
        f"price of {price:g}."
    )


def _gains(situation: Situation, counts: FloatArray) -> list[tuple[float, float]]:
    """Gain and price of one more labeled sample of every arm that has a price."""
    return [(own.gain, own.price) for own in worth(situation, counts) if own.arm != "nothing" and own.price > 0]
