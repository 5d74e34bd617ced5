"""From a situation and its answer to a plan: worth of the next label, frontier, surface, forecast."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.planning.answer import NORMAL_95, Worth
from labelworth.planning.kinds.rays import KindsAccuracy
from labelworth.planning.landscape import ForecastCurve, FrontierDesign, Surface, gains_along, surface_grid
from labelworth.planning.simulated import SimulatedAccuracy
from labelworth.planning.situation import Situation
from labelworth.tradeoff.accuracy import ConvexAccuracy
from labelworth.tradeoff.costs import Costs
from labelworth.tradeoff.problem import dominators

_N_CURVE = 13
_N_CLOUD = 9
_SHARES = (0.0, 0.1, 0.3, 0.6, 1.0)
_HOW = {"everything": "whole", "gold": "with gold"}


def next_samples(situation: Situation, counts: FloatArray) -> int:
    """How many more samples their worth is told of: 1, 10, 100, ..., in proportion to those held and left.

    About a tenth of those labeled by then, at least ten. No more than there are; where none is left, those are the
    last.
    """
    labeled = situation.n_asked(counts)
    left = situation.held.n_left - labeled
    fitting = max(10.0, (situation.held.n_labeled + labeled) / 10)
    return int(10 ** math.floor(math.log10(min(fitting, left) if left >= 1 else fitting)))


def worth(situation: Situation, counts: FloatArray) -> tuple[Worth, ...]:
    """What more samples of every arm take off the error, and add to the cost, once these counts are carried out.

    With E the error and c the price of a sample, a labeled one lowers the error by -dE/dn and costs c. Where the
    counts take every sample of the pool (`Situation.replaces_unlabeled`), the next label is one on a sample that is
    used without it: then both are less by those of an unlabeled sample.
    """
    accuracy = situation.accuracy
    gains, n_next = _gains(situation, counts), next_samples(situation, counts)
    prices = [situation.prices.next_price(counts, index) for index in range(len(counts))]
    unlabeled = accuracy.arms.index("nothing") if "nothing" in accuracy.arms else None
    of_unlabeled = 0.0 if unlabeled is None else gains[unlabeled]
    is_swap = situation.replaces_unlabeled(counts)
    gain_less, price_less = (of_unlabeled, prices[unlabeled]) if unlabeled is not None and is_swap else (0.0, 0.0)
    worths = []
    for index, arm in enumerate(accuracy.arms):
        gain, price = gains[index], prices[index]
        if index != unlabeled and np.isinf(situation.prices.apart[index]):
            gain, price = gain - gain_less, price - price_less
        others = gain / of_unlabeled if index != unlabeled and of_unlabeled > 0 and gain > 0 else None
        spread = (
            accuracy.gain_error(counts, index) if isinstance(accuracy, SimulatedAccuracy | KindsAccuracy) else None
        )
        per_money = float(gain / price) if price > 0 else None
        of_next = _gain_of_next(situation, counts, index, n_next, unlabeled if is_swap else None)
        next_gain = n_next * float(gain) if of_next is None else of_next
        worths.append(Worth(arm, float(gain), price, per_money, others, spread, n_next, next_gain))
    # Documents with answers, or with gold, may be left when all others are used up, and the other way round.
    is_left = [situation.n_left(counts, index) >= 1 for index in range(len(worths))]
    left = [own for own, is_there in zip(worths, is_left, strict=True) if is_there or own.arm == "nothing"]
    return tuple(left if any(own.arm != "nothing" for own in left) else worths)


def _gain_of_next(
    situation: Situation, counts: FloatArray, arm: int, n_next: int, replaced: int | None
) -> float | None:
    """By how much the next samples of an arm lower the error, all of them; None: there are not so many.

    Of mixes of kinds of labels, which were simulated along a few ways, no more than the slope is known.
    """
    if isinstance(situation.accuracy, KindsAccuracy):
        return None
    moved = counts.copy()
    moved[arm] += n_next
    if replaced is not None and arm != replaced and np.isinf(situation.prices.apart[arm]):
        moved[replaced] -= n_next
    if not situation.prices.fit(moved, situation.pool):
        return None
    gain = situation.accuracy.error(counts) - situation.accuracy.error(moved)
    return float(gain) if np.isfinite(gain) else None


def _gains(situation: Situation, counts: FloatArray) -> FloatArray:
    accuracy = situation.accuracy
    if isinstance(accuracy, KindsAccuracy):
        return accuracy.gains(counts)
    if isinstance(accuracy, ConvexAccuracy) and np.isfinite(accuracy.error(counts)):
        return np.asarray(-accuracy.slope(counts), dtype=np.float64)
    here, gains = accuracy.error(counts), []
    # Sampled errors need a step beyond their noise; where the pool ends, the last samples stand for the next.
    step = max(1.0, 0.05 * (situation.held.n_labeled + float(counts.sum())))
    for arm in range(len(counts)):
        moved = counts.copy()
        is_end = counts.sum() + step > situation.pool and counts[arm] >= step
        moved[arm] += -step if is_end else step
        gains.append((accuracy.error(moved) - here if is_end else here - accuracy.error(moved)) / step)
    return np.asarray(np.nan_to_num(np.array(gains), nan=0.0, posinf=0.0, neginf=0.0))


def curve_counts(situation: Situation) -> list[FloatArray]:
    """Designs along which the error is shown: more and more labels of the most expensive arm that is sensible."""
    accuracy, pool, most = situation.accuracy, situation.pool, situation.n_without_gold
    amounts = np.unique(
        np.round(np.concatenate([[0.0], np.geomspace(max(most / 200, 1.0), max(most, 1.0), _N_CURVE - 1)]))
    )
    arm = situation.labeled_whole
    designs = []
    for amount in amounts[amounts <= most]:
        counts = np.zeros(len(accuracy.arms))
        counts[arm] = min(amount, pool)
        if amount > pool and situation.kinds is not None:
            counts[situation.kinds.onto.index("answered")] = amount - pool
        if situation.unlabeled_is_free:
            counts[accuracy.arms.index("nothing")] = pool - counts[arm]
        designs.append(counts)
    return designs


def forecast_curve(
    situation: Situation,
    designs: list[FloatArray],
    bands: tuple[tuple[float | None, ...], tuple[float | None, ...]] | None,
) -> ForecastCurve:
    """The error over labels in all, with its band."""
    labels = tuple(labels_of(situation, designs).tolist())
    errors = tuple(_finite(situation.accuracy.error(design)) for design in designs)
    lows, highs = bands if bands is not None else ((), ())
    is_formula = situation.accuracy.source == "asymptotic"
    return ForecastCurve(labels, errors, lows, highs, asymptotic=errors if is_formula else ())


def labels_of(situation: Situation, designs: list[FloatArray]) -> FloatArray:
    """Labels in all, with those held."""
    return situation.held.n_labels + np.array([design @ situation.accuracy.labels_per_sample for design in designs])


def with_gains(
    situation: Situation, curve: ForecastCurve, ends: tuple[FloatArray, FloatArray] | None = None
) -> ForecastCurve:
    """A curve with its slope: what a label is worth, smooth as the curve is, and an interval of that.

    Parameters
    ----------
    ends : two arrays of shape (n_labels,), optional
        Of the interval, where the curve is known at other parameters; a simulated one knows the error of its slope.
    """
    labels, per_sample = np.array(curve.labels), situation.positions_per_sample
    gains = gains_along(labels, np.array(curve.error, dtype=np.float64))
    if isinstance(situation.accuracy, SimulatedAccuracy):
        reach = NORMAL_95 * situation.accuracy.whole_slope_errors(labels / per_sample) / per_sample
        ends = gains - reach, gains + reach
    # An interval holds the figure itself.
    unknown = np.full(len(gains), np.nan)
    low, high = (unknown, unknown) if ends is None else (np.minimum(ends[0], gains), np.maximum(ends[1], gains))
    gain, lows, highs = (tuple(_finite(own) for own in values) for values in (gains, low, high))
    return replace(curve, gain=gain, gain_low=lows, gain_high=highs)


def surface(situation: Situation) -> Surface | None:
    """The error over (documents, labeled fraction); None where there are no unlabeled ones to vary."""
    accuracy, held = situation.accuracy, situation.held
    if accuracy.arms != ("everything", "nothing"):
        return None
    sizes, fractions = surface_grid(held.n_labeled, held.n_labeled + situation.pool)
    rows = tuple(
        tuple(
            _finite(accuracy.error(np.array([fraction * size - held.n_labeled, (1 - fraction) * size])))
            for size in sizes
        )
        for fraction in fractions
    )
    return Surface(tuple(sizes.tolist()), tuple(fractions.tolist()), rows)


def cloud(situation: Situation) -> tuple[FrontierDesign, ...]:
    """Ways to go on and who dominates whom: every arm alone, halves of two, at several sizes."""
    accuracy, prices, pool = situation.accuracy, situation.prices, situation.pool
    designs = []
    is_documents = situation.held.kind == "documents"
    listed = (
        _along_rays(accuracy, prices, pool)
        if isinstance(accuracy, KindsAccuracy)
        else _candidates(prices, pool, is_documents=is_documents and situation.kinds is None)
    )
    for name, counts in listed:
        error = accuracy.error(counts)
        if np.isfinite(error):
            designs.append((name, counts, float(counts @ accuracy.labels_per_sample), prices.cost(counts), error))
    dominated_by = dominators([design[3] for design in designs], [design[4] for design in designs])
    return tuple(
        FrontierDesign(name, tuple(counts.tolist()), labels, cost, error, by)
        for (name, counts, labels, cost, error), by in zip(designs, dominated_by, strict=True)
    )


def _along_rays(accuracy: KindsAccuracy, prices: Costs, pool: float) -> list[tuple[str, FloatArray]]:
    """Designs along the ways that were simulated."""
    sizes = [np.zeros(1), *(np.geomspace(ray.sizes[-1] / 50, ray.sizes[-1], _N_CLOUD) for ray in accuracy.rays)]
    steps = [accuracy.rays[0].step, *(ray.step for ray in accuracy.rays)]
    listed = {}
    for step, own in zip(steps, sizes, strict=True):
        for size in own:
            counts = np.floor(size * step + 1e-9)
            if prices.fit(counts, pool):
                listed[counts.tobytes()] = (_named(accuracy.arms, counts, is_documents=False), counts)
    return list(listed.values())


def _candidates(prices: Costs, pool: float, *, is_documents: bool) -> list[tuple[str, FloatArray]]:
    """Designs and what they are called: sizes of every mix of labeling arms, beside shares of the rest unlabeled."""
    arms, apart = prices.arms, prices.apart
    sizes = np.concatenate([[0.0], np.geomspace(max(pool / 500, 1.0), max(pool, 1.0), _N_CLOUD)])
    sizes = np.unique(np.round(sizes[sizes <= pool]))
    unlabeled = arms.index("nothing") if "nothing" in arms else None
    candidates = []
    for mix in _mixes([arm for arm in range(len(arms)) if arm != unlabeled]):
        for size in sizes:
            for rest in _SHARES if unlabeled is not None else (0.0,):
                counts = np.zeros(len(arms))
                counts[list(mix)] = np.floor(np.minimum(size / len(mix), apart[list(mix)]))
                if unlabeled is not None:
                    counts[unlabeled] = np.floor(rest * (pool - prices.of_pool(counts)))
                candidates.append((_named(arms, counts, is_documents=is_documents), counts))
    return candidates


def _mixes(labeling: list[int]) -> list[tuple[int, ...]]:
    """Every labeling arm alone, and halves of two."""
    return [(arm,) for arm in labeling] + list(combinations(labeling, 2))


def _named(arms: tuple[str, ...], counts: FloatArray, *, is_documents: bool) -> str:
    """A design in a few words."""
    parts = []
    for arm, amount in zip(arms, counts, strict=True):
        if amount and arm == "nothing":
            parts.append(f"{amount:,.0f} unlabeled")
        elif amount:
            how = "labeled" if is_documents else _HOW.get(arm, f"by {arm}")
            parts.append(f"{amount:,.0f} {how}")
    return ", ".join(parts) or "nothing more"


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
