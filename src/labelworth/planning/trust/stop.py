"""When to stop labeling."""

import math
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.planning.outcome import worth
from labelworth.planning.situation import Situation
from labelworth.planning.units import apart, last_digit, target_words
from labelworth.simulation.asking import MOST_TIMES
from labelworth.simulation.metrics import is_metric, metric_of
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.direction import direction_of
from labelworth.tradeoff.problem import LOGARITHMIC, Problem
from labelworth.wording import count, money

_LEAST_PART = 0.25
"""No fewer labels than this part of those held are asked for before planning again: widths of intervals fall with the
square root of the labels, and with a quarter more by a tenth. Nobody sees less, and who plans again wants to be told
something new."""


@dataclass(frozen=True)
class Stop:
    """Why no more labels should be bought."""

    words: str
    # Whether that rests on the errors to expect, which a small pilot may get wrong; else on what is left.
    is_forecast: bool = True


def why_stop(situation: Situation, problem: Problem, value: float, counts: FloatArray) -> Stop | None:
    """Why no more labels should be bought; None if some should."""
    if float(counts @ situation.accuracy.labels_per_sample) > 0:
        return None
    if situation.is_used_up:
        return Stop("there is nothing left to label.", is_forecast=False)
    if problem == "target":
        target = target_words(value, situation.accuracy.criterion, article="the")
        return Stop(f"{target} is met by the labels held.")
    return (
        Stop(_too_expensive(situation, value, counts)) if problem == "alpha" else _no_money(situation, value, counts)
    )


def buys_little(situation: Situation, problem: Problem, counts: FloatArray) -> Stop | None:
    """That a budget pays for labels that lower the error by less than half of the last digit told; None: by more.

    Few labels never do much: they are little only if as many again as are held would be. Of kinds of labels, and of
    figures without a zero, nothing is said.
    """
    criterion, more = situation.accuracy.criterion, float(counts @ situation.accuracy.labels_per_sample)
    if problem != "budget" or situation.kinds is not None or criterion in LOGARITHMIC or not more:
        return None
    today = situation.accuracy.error(situation.nothing_more)
    later = [situation.accuracy.error(design) for design in (counts, _as_many_again(situation))]
    if not np.isfinite(today) or today - min(later) >= last_digit(today, criterion) / 2:
        return None
    return Stop(
        f"{count(round(more), 'more label')}, which the budget would pay for, would "
        f"{direction_of(criterion).verb} {_what(criterion)} by next to nothing."
    )


def more_pilot(situation: Situation, problem: Problem, value: float, needed: int | None) -> int | None:
    """How many more samples to label at random before planning again.

    As many again as are held, since the next pilot says better what is missing than this one; fewer, but a quarter of
    them, where that makes `needed` labels in all. No more than there are, and than a budget pays for. None: it pays
    for none. Where the pilot is large enough, `needed` is None, and as many times those held are asked for as ever
    are.
    """
    held = situation.held
    labels: float = MOST_TIMES * held.n_labels
    if needed is not None:
        labels = min(max(needed - held.n_labels, _LEAST_PART * held.n_labels), held.n_labels)
    step = math.ceil(labels / (held.n_labels / held.n_labeled))
    most = int(situation.pool)
    if problem == "budget":
        left, alone = value - held.cost, _labeled_whole(situation)
        most = bisect_right(range(1, most + 1), left, key=lambda n: situation.prices.cost(n * alone))
    return min(max(step, 1), most) or None


def _labeled_whole(situation: Situation) -> FloatArray:
    """One more sample, labeled as far as any arm does."""
    alone = np.zeros(len(situation.accuracy.arms))
    alone[situation.labeled_whole] = 1.0
    return alone


def _as_many_again(situation: Situation) -> FloatArray:
    """As many more samples as are labeled, labeled whole, or all there are."""
    counts, more = situation.nothing_more, min(situation.held.n_labeled, math.floor(situation.pool))
    return np.maximum(counts - more * (counts > 0), 0.0) + more * _labeled_whole(situation)


def _no_money(situation: Situation, budget: float, counts: FloatArray) -> Stop:
    labeled = [own.price for own in worth(situation, counts) if own.arm != "nothing" and own.price > 0]
    cheapest = min(labeled, default=0.0)
    left = budget - situation.held.cost
    if left < cheapest:
        rest, price = (money(amount, situation.currency) for amount in (left, cheapest))
        words = f"the {rest} left of the budget does not pay for another label, which costs {price}."
        return Stop(words, is_forecast=False)
    return Stop(_no_gain(situation.accuracy.criterion))


def _too_expensive(situation: Situation, alpha: float, counts: FloatArray) -> str:
    criterion = situation.accuracy.criterion
    verb, what, unit = direction_of(criterion).verb, _what(criterion), "it" if is_metric(criterion) else "error"
    labeled = [own for own in worth(situation, counts) if own.arm != "nothing" and own.price > 0]
    if not labeled:
        return _no_gain(criterion)
    each = money(alpha, situation.currency)
    best = max(labeled, key=lambda own: own.gain / own.price)
    # Forecasts may rise at first: then the next label says nothing of those after it.
    if not isinstance(situation.prices, ArmPrices) or best.gain <= 0:
        return f"no number of further labels {verb}s {what} by as much as they cost, at {each} per unit of {unit}."
    is_swap = situation.replaces_unlabeled(counts) and not situation.unlabeled_is_free
    how = " in place of an unlabeled one" if is_swap else ""
    gained, price = (
        money(figure, situation.currency) for figure in (f"{alpha * best.gain:.3g}", f"{best.price:.4g}")
    )
    return (
        f"the next labeled sample{how} {verb}s {what} by {apart(best.gain, criterion)}, worth {gained} and so less "
        f"than its price of {price}."
    )


def _no_gain(criterion: str) -> str:
    return f"more labels would not {direction_of(criterion).verb} {_what(criterion)}."


def _what(criterion: str) -> str:
    metric = metric_of(criterion)
    return "the error" if metric is None else metric.words
