"""When to stop labeling."""

from labelworth.arrays import FloatArray
from labelworth.planning.answer import Problem
from labelworth.planning.costs import FurtherCost
from labelworth.planning.outcome import worth
from labelworth.planning.situation import Situation

_NO_GAIN = "more labels would not lower the error."


def why_stop(situation: Situation, problem: Problem, value: float, counts: FloatArray) -> str | None:
    """Why no more labels should be bought; None if some should."""
    if float(counts @ situation.accuracy.labels_per_sample) > 0:
        return None
    if situation.pool < 1:
        return "there is nothing left to label."
    if problem == "target":
        return f"the target of {value:g} is met by the labels held."
    return _too_dear(situation, value, counts) if problem == "alpha" else _no_money(situation, value, counts)


def _no_money(situation: Situation, budget: float, counts: FloatArray) -> str:
    cheapest = min((price for _, price in _gains(situation, counts)), default=0.0)
    left = budget - situation.held.cost
    if left < cheapest:
        return f"the {left:g} left of the budget does not pay for another label, which costs {cheapest:g}."
    return _NO_GAIN


def _too_dear(situation: Situation, alpha: float, counts: FloatArray) -> str:
    gains = _gains(situation, counts)
    if not gains:
        return _NO_GAIN
    if isinstance(situation.prices, FurtherCost):
        return (
            f"no number of further labels lowers the error by as much as they cost, at {alpha:g} per unit of error."
        )
    gain, price = max(gains, key=lambda one: one[0] / one[1])
    return (
        f"the next labeled sample lowers the error by {gain:.3g}, worth {alpha * gain:.3g} and so less than its "
        f"price of {price:g}."
    )


def _gains(situation: Situation, counts: FloatArray) -> list[tuple[float, float]]:
    """Gain and price of one more labeled sample of every arm that has a price."""
    return [(one.gain, one.price) for one in worth(situation, counts) if one.arm != "nothing" and one.price > 0]
