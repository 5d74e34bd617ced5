"""What a simulation tells of kinds of labels: the gold labels that do as much, along ways of spending.

A design does as much as some number of gold labels: those whose refits, to the same simulated labels and tested on
the same rows, err as much. The error to expect is that of as many gold labels by the forecast, which the pilot has
calibrated.
"""

from dataclasses import dataclass, replace

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.planning.answer import NORMAL_95, KindWorth
from labelworth.planning.kinds.menu import KindMenu
from labelworth.planning.simulated import ForecastLine
from labelworth.tradeoff.accuracy import Source

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Ray:
    """Designs that go one way: x more documents, a share of them to every arm."""

    step: FloatArray  # (n_arms,): The shares; they sum to one.
    sizes: FloatArray  # (n_nodes,): Numbers of documents, zero first.
    # (n_nodes,): The logarithm of the number of gold labels in all that do as much, and its standard error.
    log_gold: FloatArray
    spread: FloatArray
    n_draws: int  # Of labels and answers.
    ends: tuple[tuple[float, float], ...] = ()  # Of every node but the first: an interval of its `log_gold`.

    def at(self, size: float) -> tuple[float, float]:
        """Log gold and its standard error: gold labels along straight lines between nodes, beyond them by a power."""
        return float(np.log(self._gold_at(self.log_gold, size))), float(np.interp(size, self.sizes, self.spread))

    @property
    def gained(self) -> float:
        """Gold labels that the last node stands for beyond what is held."""
        return float(np.exp(self.log_gold[-1]) - np.exp(self.log_gold[0]))

    @property
    def gained_error(self) -> float:
        """The standard error of that, what is held taken for known: all ways share it."""
        return float(np.exp(self.log_gold[-1]) * max(self.spread[-1] - self.spread[0], 0.0))

    def near(self, size: float) -> "Ray":
        """The same as far as the node that is nearest to a number of documents."""
        last = 2 + int(np.argmin(np.abs(np.log(self.sizes[1:] / size))))
        sizes, log_gold, spread = (own[:last] for own in (self.sizes, self.log_gold, self.spread))
        return replace(self, sizes=sizes, log_gold=log_gold, spread=spread, ends=self.ends[: last - 1])

    @property
    def gained_ends(self) -> tuple[float, float]:
        """The interval of `gained`; it holds the figure itself. Without ends that is exact."""
        low, high = self.ends[-1] if self.ends else (self.log_gold[-1],) * 2
        held = np.exp(self.log_gold[0])
        return min(float(np.exp(low) - held), self.gained), max(float(np.exp(high) - held), self.gained)

    def _gold_at(self, log_gold: FloatArray, size: float) -> float:
        gold = np.exp(log_gold)
        if size <= self.sizes[-1]:
            return float(np.interp(size, self.sizes, gold))
        gained = gold[1:] - gold[0]
        if gained[-2:].min() <= 0 or len(gained) < 2:
            return float(gold[-1])
        power = np.log(gained[-1] / gained[-2]) / np.log(self.sizes[-1] / self.sizes[-2])
        # No answers to a row tell more than its gold label does.
        return float(gold[0] + min(gained[-1] * (size / self.sizes[-1]) ** power, gained[-1] + size - self.sizes[-1]))


@dataclass(frozen=True, eq=False)
class KindsAccuracy:
    """The forecast error of designs along rays; of one between them, that of the nearest ray."""

    arms: tuple[str, ...]
    rays: tuple[Ray, ...]
    labels_per_sample: FloatArray  # (n_arms,): Answers of one document, gold among them.
    line: ForecastLine  # Over gold labels in all.
    criterion: str

    @property
    def source(self) -> Source:
        return "simulated"

    def error(self, counts: FloatArray) -> float:
        """Of the fewest gold labels that it may stand for: what is not clearly better than gold is not bought."""
        log_gold, spread = self._told(counts)
        return self.line.at(float(np.exp(log_gold - NORMAL_95 * spread)))

    def standard_error(self, counts: FloatArray) -> float | None:
        """Of what the simulation adds; the forecast has an interval of its own."""
        log_gold, spread = self._told(counts)
        return self._width(log_gold, spread)

    def _width(self, log_gold: float, spread: float) -> float:
        """A standard error of log gold as one of the error."""
        ends = [self.line.at(float(np.exp(log_gold + sign * spread))) for sign in (-1, 1)]
        return abs(ends[1] - ends[0]) / 2

    def gold_of(self, counts: FloatArray) -> float:
        """How many gold labels in all would do as much."""
        return float(np.exp(self._told(counts)[0]))

    def ray_of(self, counts: FloatArray) -> Ray:
        shares = counts / counts.sum()
        return min(self.rays, key=lambda ray: float(np.abs(ray.step - shares).sum()))

    def lead(self, counts: FloatArray, other: FloatArray) -> float:
        """By how much a design errs less than another."""
        return self.line.at(self.gold_of(other)) - self.line.at(self.gold_of(counts))

    def gold_ends(self, counts: FloatArray) -> tuple[float, float]:
        """Between how many gold labels in all draws cannot tell a design from them: along straight lines between
        nodes, as the figure itself.
        """
        ray, gold = self.ray_of(counts), self.gold_of(counts)
        if not ray.ends:
            return gold, gold
        held, size = np.exp(ray.log_gold[0]), float(counts.sum())
        low, high = (float(np.interp(size, ray.sizes, [held, *np.exp(side)])) for side in zip(*ray.ends, strict=True))
        return min(low, gold), max(high, gold)

    def gains(self, counts: FloatArray) -> FloatArray:
        """By how much one more document of every arm lowers the error: as the gold labels that it stands for do."""
        gains = np.zeros(len(self.arms))
        for ray in self.rays:
            if ray.step.max() == 1:
                gains[int(np.argmax(ray.step))] = self._slope(counts) * ray.gained / ray.sizes[-1]
        return gains

    def gain_error(self, counts: FloatArray, arm: int) -> float | None:
        """How far off that may be by what the simulation tells of an arm, as a standard error; None: not known."""
        own = next((ray for ray in self.rays if ray.step[arm] == 1), None)
        return None if own is None else self._slope(counts) * own.gained_error / float(own.sizes[-1])

    def _slope(self, counts: FloatArray) -> float:
        """By how much one more gold label lowers the error."""
        here = self.gold_of(counts)
        step = 0.05 * here
        return (self.line.at(here) - self.line.at(here + step)) / step

    def _told(self, counts: FloatArray) -> tuple[float, float]:
        """Of whole documents: a fraction of one that leads to another ray cannot be bought."""
        whole = np.floor(np.asarray(counts, dtype=np.float64) + _ROUNDING)
        total = float(whole.sum())
        if total <= 0:
            return self.rays[0].at(0.0)
        return self.ray_of(whole).at(total)


def simulated_worths(
    menu: KindMenu, accuracy: KindsAccuracy, counts: FloatArray, pool: float
) -> tuple[KindWorth, ...]:
    """What an answer is worth in gold: the gold labels that documents of one of its arms alone stand for.

    Of the arm that is bought, near the number of documents that are; where none is, of the best of them at the number
    that was simulated last, which the money pays for: fewer would be worth more each.
    """
    gold_price, gold = float(menu.prices.per_sample[menu.gold]), menu.offers[menu.gold]
    worths = []
    for kind in menu.counted(counts, pool):
        own = menu.asking(next(channel for channel in menu.channels if channel.name == kind.kind))
        best = None
        for ray in accuracy.rays:
            arm = int(np.argmax(ray.step))
            offer = menu.offers[arm]
            is_plain = offer.onto == "new" and not offer.gold and len(offer.asks) == 1
            if ray.step[arm] == 1 and arm in own and is_plain:
                told_of = ray.near(float(counts[arm])) if counts[arm] else ray
                answers = float(told_of.sizes[-1]) * offer.asks[kind.kind] * offer.positions
                each, gained = gold_price / answers, told_of.gained
                low, high = told_of.gained_ends
                told = replace(
                    kind,
                    worth=max(0.0, each * gained),
                    stands_for=gained * gold.positions,
                    of_answers=answers,
                    worth_ends=(each * low, each * high),
                )
                rank = (float(counts[arm]), each * gained)
                best = (rank, told) if best is None or rank > best[0] else best
        worths.append(kind if best is None else best[1])
    return tuple(worths)
