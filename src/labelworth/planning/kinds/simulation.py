"""Kinds of labels where formulas stop: every arm alone and mixes of two, simulated on the real pool."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.stats import t as student

from labelworth.arrays import FloatArray, IntArray
from labelworth.channels.arm import Arm
from labelworth.planning.answer import LEVEL
from labelworth.planning.kinds.menu import KindMenu
from labelworth.planning.kinds.rays import KindsAccuracy, Ray
from labelworth.planning.menu import held_before
from labelworth.planning.simulated import ForecastLine
from labelworth.planning.situation import Band, Situation
from labelworth.planning.source import ChosenSource
from labelworth.progress import Whole
from labelworth.simulation.asked import AskedDesign, refit_channel, simulate_asked
from labelworth.simulation.basis import ForecastBasis, label_source
from labelworth.simulation.forecast import forecast
from labelworth.simulation.jobs import Keep
from labelworth.simulation.learner import Mode, Source
from labelworth.simulation.metrics import Metric
from labelworth.simulation.pool_use import MEASURES
from labelworth.simulation.scales import Measure
from labelworth.simulation.simulator import held_out_units, most_labels
from labelworth.tradeoff.costs import Prices

N_REPLICATES, FEWEST_REPLICATES = 8, 3
_NODES = (1 / 8, 1 / 3, 1.0)
"""Of the most documents that can go one way: where refits are made."""
_MIXED = 2
"""So many of the best arms are mixed by twos, gold in any case."""
_MONEY_SHARES = (0.25, 0.5, 0.75)
_CONFIRMED = 4
"""So many of the best ways are simulated with new draws."""
_ALONE, _TOGETHER = 75, 85
"""How many percent of the bar are done when arms alone are told, and when mixes are."""
_BELOW, _RATIO = 0.25, 2.0
_N_LINE = 40
_SLOWER = 2
"""Times as long as a fit to labels alone one to answers may take, while none was measured."""


@dataclass(frozen=True, eq=False)
class KindSimulation:
    """What has to be known to simulate kinds of labels on a pool."""

    pool: Any  # Of documents, whose learner learns from answers.
    basis: ForecastBasis
    sources: dict[str, Source]
    menu: KindMenu  # Without "nothing": all other documents are learned from, or none.
    mode: Mode
    measure: Measure
    room: float  # More documents that can be had.
    money: float | None  # As much may be spent; None: any amount.
    seed: int
    metrics: tuple[Metric, ...]
    progress: Whole
    keep: Keep

    def rays(self) -> tuple[Ray, ...]:
        """Every arm alone, then mixes of two of the best; the best of all of these once more.

        What comes out first among many owes some of it to chance: the best are told by new draws alone.
        """
        units = np.eye(len(self.menu.arms))
        alone = [unit for unit in units if self._top(unit) >= 1]
        gold, first = self._simulated(alone, _NODES, until=_ALONE)
        if not first:
            # Nothing more can be had, and what is held is still told.
            return (self._ray(np.zeros(len(units)), [], gold, np.empty((len(gold), 0))),)
        ranked = sorted(first, key=_last_gold)[:_MIXED]
        best = {int(np.argmax(ray.step)) for ray in ranked} | {self.menu.gold}
        steps = [self._mixed(pair, share) for pair in combinations(sorted(best), 2) for share in _MONEY_SHARES]
        steps += [step for pair in combinations(sorted(best), 2) for step in self._filled(pair)]
        mixes = [step for step in steps if self._top(step) >= len(_NODES)]
        # Where the money is known, mixes are compared at the end of it; the best are looked at more closely then.
        nodes = _NODES if self.money is None else _NODES[-1:]
        if not mixes or not self.progress.has_time(self._work(mixes, nodes) * FEWEST_REPLICATES):
            return tuple(first)
        every = [*first, *self._simulated(mixes, nodes, gold, until=_TOGETHER)[1]]
        best_first = sorted((ray for ray in every if not self._is_exact(ray.step)), key=_last_gold)
        confirmed = [ray.step for ray in best_first[:_CONFIRMED]]
        # Without a budget it is not known how far one goes, and so not which way is the best.
        if self.money is None or not self.progress.has_time(self._work(confirmed, _NODES) * len(self._replicates)):
            return tuple(every)
        n = len(self._replicates)
        again = self._simulated(confirmed, _NODES, replicates=range(n, 2 * n), until=100)[1]
        rest = [ray for ray in first if not any(ray.step is step for step in confirmed)]
        return _from_one_start([*rest, *again])

    def _mixed(self, pair: tuple[int, int], share: float) -> FloatArray:
        """Documents of two arms, such that the first takes a share of the money; of documents, where one is free."""
        prices = self.menu.prices.per_sample[list(pair)]
        shares = np.array([share, 1 - share])
        documents = shares / prices if prices.all() else shares
        step = np.zeros(len(self.menu.arms))
        step[list(pair)] = documents / documents.sum()
        return step

    def _filled(self, pair: tuple[int, int]) -> list[FloatArray]:
        """The dearer of two arms for as much as the money pays, so that all other documents go to the cheaper one."""
        dear, cheap = sorted(pair, key=lambda arm: -self.menu.prices.per_sample[arm])
        most, prices = float(min(self.room, self._capacity)), self.menu.prices.per_sample
        is_apart = np.isfinite(self.menu.prices.apart[list(pair)]).any()
        if self.money is None or prices[dear] == prices[cheap] or is_apart:
            return []
        amount = (self.money - most * prices[cheap]) / (prices[dear] - prices[cheap])
        if not 1 <= amount <= most - 1:
            return []
        step = np.zeros(len(self.menu.arms))
        step[dear], step[cheap] = amount / most, 1 - amount / most
        return [step]

    def _top(self, step: FloatArray) -> int:
        """The most documents that can go one way in a simulation."""
        # A replicate may hold fewer documents with answers than there are.
        prices = self.menu.prices
        there = replace(prices, stock=np.where(np.isinf(prices.apart), np.inf, self._n_done))
        most = there.longest(step, min(self.room, self._capacity))
        price = float(prices.per_sample @ step)
        if self.money is not None and price > 0:
            most = min(most, self.money / price)
        return int(np.floor(most + 1e-9))

    @cached_property
    def _n_held_out(self) -> int:
        return held_out_units(self.pool.n_samples, self.pool.n_labeled + self._n_done)

    @property
    def _n_learned(self) -> int:
        """Documents of a replicate beside those tested."""
        return int(self.pool.n_samples) - self._n_held_out

    @property
    def _capacity(self) -> int:
        """Those of them that are neither labeled nor answered."""
        return self._n_learned - int(self.pool.n_labeled) - self._n_done

    @cached_property
    def _held(self) -> tuple[int, ...]:
        """Documents that are answered already, by what they were asked; fewer where a replicate holds no more."""
        most = most_labels(self.pool.n_samples) - self.pool.n_labeled
        share = min(1.0, most / self.menu.n_done) if self.menu.n_done else 1.0
        return tuple(count if arm.has_gold else int(share * count) for arm, count in self.menu.held)

    @property
    def _n_done(self) -> int:
        pairs = zip(self.menu.held, self._held, strict=True)
        return sum(count for (arm, _), count in pairs if not arm.has_gold)

    @cached_property
    def _gold_sizes(self) -> FloatArray:
        """Numbers of gold labels at which refits are made, the held ones among them.

        As many as any design has rows that somebody is asked about: none stands for more.
        """
        held, units = self.pool.n_labeled, np.eye(len(self.menu.arms))
        asked = max(self._top(unit) for unit in units[np.isinf(self.menu.prices.apart)])
        most = held + self._n_done + asked
        above = held * _RATIO ** np.arange(1, 1 + int(np.floor(np.log(most / held) / np.log(_RATIO))))
        sizes = np.concatenate([held * np.array([_BELOW, 0.5, 1.0]), above, [most]])
        return np.unique(np.rint(np.maximum(sizes, 2)))

    def _nodes(self, step: FloatArray, shares: Sequence[float]) -> list[IntArray]:
        """Numbers of documents of every arm."""
        return [np.rint(share * self._top(step) * step).astype(np.int64) for share in shares]

    def _is_exact(self, step: FloatArray) -> bool:
        """Whether it is known by definition what it stands for: gold labels alone, as many more than what is held."""
        return bool(step[self.menu.gold] == 1)

    def _beside_held(self, counts: IntArray) -> AskedDesign:
        """So many more documents of every arm; answers that are held are the same in all of these."""
        with_gold = sum(count for arm, count in self.menu.held if arm.has_gold)
        held, is_new = np.array(self._held, dtype=np.int64), np.array([onto == "new" for onto in self.menu.onto])
        # Documents with answers get gold beside them, of every sort in proportion.
        is_open = np.array([not arm.has_gold for arm, _ in self.menu.held], dtype=bool)
        share = counts[~is_new].sum() / max(self._n_done, 1)
        audited = np.diff(np.rint(share * held[is_open].cumsum()).astype(np.int64), prepend=0)
        held[is_open] -= audited
        return AskedDesign(
            self.pool.n_labeled - with_gold, (*held.tolist(), *audited.tolist(), *counts[is_new].tolist())
        )

    def _gold_designs(self) -> list[AskedDesign]:
        """Gold labels alone, then what is held, where that is more than labels."""
        nothing_more = self._beside_held(np.zeros(len(self.menu.arms), dtype=np.int64))
        none = (0,) * len(nothing_more.counts)
        alone = [AskedDesign(int(size), none) for size in self._gold_sizes]
        return [*alone, nothing_more] if self._held else alone

    def _work(self, steps: Sequence[FloatArray], shares: Sequence[float]) -> int:
        learner = self.pool.learner.in_mode(self.mode)
        designs = [self._beside_held(counts) for step in steps for counts in self._nodes(step, shares)]
        return sum(learner.work(design.n_rows, self.pool.n_samples) for design in designs)

    @cached_property
    def _replicates(self) -> range:
        """As many as there is time for."""
        learner = self.pool.learner.in_mode(self.mode)
        # Mixes come later, about as many as there are arms.
        each = 2 * self._work(list(np.eye(len(self.menu.arms))), _NODES) + 2 * sum(
            learner.work(design.n_rows, self.pool.n_samples) for design in self._gold_designs()
        )
        wanted = range(N_REPLICATES, FEWEST_REPLICATES, -1)
        return range(next((n for n in wanted if self.progress.has_time(_SLOWER * n * each)), FEWEST_REPLICATES))

    def _losses(self, designs: Sequence[AskedDesign], replicates: range, until: int = 100) -> FloatArray:
        """Of the measure, (n_replicates, n_designs).

        Which designs come next is known when those before are told, so that every stage announces its own steps.
        """
        classes, channels = self.pool.data.evidence.classes, self.menu.channels
        learner = replace(
            self.pool.learner.in_mode(self.mode),
            channels=tuple(refit_channel(channel, classes) for channel in channels),
        )
        self.progress.expect(
            len(replicates) * sum(learner.work(design.n_rows, self.pool.n_samples) for design in designs),
            until=until,
            what="Simulating answers",
        )
        source = min(sorted(self.basis.source_errors), key=lambda name: self.basis.source_errors[name])
        losses = simulate_asked(
            learner,
            self.pool.data,
            label_source(self.sources[source], self.basis.source_errors[source], self.pool.n_labeled),
            self._arms_of,
            designs,
            # Of sequences no answers are held.
            parts=self.menu.rules if self.menu.is_of_parts else (),
            n_held_out=self._n_held_out,
            replicates=replicates,
            seed=self.seed,
            metrics=self.metrics,
            workers=None,
            progress=self.progress,
            keep=self.keep,
        )
        return np.asarray(losses[:, :, (*MEASURES, *(metric.spec for metric in self.metrics)).index(self.measure)])

    def _arms_of(self, number: int) -> tuple[Arm, ...]:
        """What documents were asked already, with gold beside it, then what new ones are asked.

        All with confusions as they may be in a replicate.
        """
        drawn = self.menu.drawn(np.random.default_rng([self.seed, 21, number]))
        new = [arm for arm, onto in zip(drawn.arms, drawn.onto, strict=True) if onto == "new"]
        return (*(arm for arm, _ in (*drawn.held, *drawn.audited)), *new)

    def _simulated(
        self,
        steps: Sequence[FloatArray],
        shares: Sequence[float],
        gold: FloatArray | None = None,
        replicates: range | None = None,
        *,
        until: int,
    ) -> tuple[FloatArray, list[Ray]]:
        """The losses of gold labels, (n_replicates, n_sizes), and rays with nodes at these shares of the way."""
        nodes = [self._nodes(step, shares) for step in steps]
        refitted = [[] if self._is_exact(step) else own for step, own in zip(steps, nodes, strict=True)]
        asked = [self._beside_held(counts) for own in refitted for counts in own]
        n_gold = 0 if gold is not None else len(self._gold_designs())
        losses = self._losses(
            [*(self._gold_designs() if gold is None else ()), *asked], replicates or self._replicates, until
        )
        gold = losses[:, :n_gold] if gold is None else gold
        rays, start = [], n_gold
        for step, own, n_own in zip(steps, nodes, map(len, refitted), strict=True):
            rays.append(self._ray(step, own, gold, losses[:, start : start + n_own]))
            start += n_own
        return gold, rays

    def _ray(self, step: FloatArray, nodes: list[IntArray], gold: FloatArray, losses: FloatArray) -> Ray:
        """Gold labels that do as much, averaged over replicates and without each of them (the jackknife)."""
        n_held = self.pool.n_labeled + self._n_done
        sizes = np.array([0.0, *(counts.sum() for counts in nodes)])
        n_rows = n_held + np.array([0.0, *(self.menu.prices.of_pool(counts.astype(float)) for counts in nodes)])
        n = len(losses)
        kept = [np.arange(n) != index for index in range(n)]
        alone = gold[:, : len(self._gold_sizes)]
        # What is held first, which is by definition as many labels where there are no answers.
        losses = np.column_stack([gold[:, len(self._gold_sizes) :], losses]) if self._held else losses
        # No answers to a row tell more than its gold label does.
        most = np.log(n_rows[0 if self._held else 1 :][: losses.shape[1]])
        means = [
            np.minimum(self._log_gold(alone[rows].mean(axis=0), losses[rows].mean(axis=0)), most)
            for rows in (slice(None), *kept)
        ]
        told = np.array([[*own] if self._held else [np.log(n_held), *own] for own in means])
        if self._is_exact(step):
            told = np.log(np.exp(told) + sizes)
            return Ray(step, sizes, told[0], _jackknifed(told[1:]), n)
        left_out = told[1:]
        # How far what is held is known, all ways share; to that comes how far a way leads from it.
        spread = _jackknifed(left_out[:, :1]) + _jackknifed(left_out - left_out[:, :1])
        own = zip(losses.T[-len(nodes) :], most[-len(nodes) :], strict=True) if nodes else ()
        ends = tuple(self._ends(alone, *node) for node in own)
        return Ray(step, sizes, told[0], spread, n, ends)

    def _ends(self, gold: FloatArray, losses: FloatArray, most: float) -> tuple[float, float]:
        """The logarithms of the fewest and the most gold labels that draws cannot tell from a design.

        Fewer are clearly worse and more are clearly better, replicates paired. Where labels make no difference, that
        is all numbers up to `most`.
        """
        behind, sizes = losses[:, None] - gold, np.log(self._gold_sizes)
        spread = behind.std(axis=0, ddof=1) / np.sqrt(len(losses))
        score = behind.mean(axis=0) / np.maximum(spread, np.finfo(np.float64).tiny)
        level = float(student.isf((1 - LEVEL) / 2, len(losses) - 1))
        high = _first_beyond(sizes, score, level)
        low = -_first_beyond(-sizes[::-1], -score[::-1], level)
        return min(low, most), min(high, most)

    def _log_gold(self, gold: FloatArray, losses: FloatArray) -> FloatArray:
        """The fewest gold labels with the losses of designs, on a falling curve; its ends, where they are beyond."""
        falling, first = np.unique(-isotonic_regression(gold, increasing=False).x, return_index=True)
        return np.asarray(np.interp(-losses, falling, np.log(self._gold_sizes[first])))


def _first_beyond(sizes: FloatArray, scores: FloatArray, level: float) -> float:
    """The first size with a score above a level, along straight lines; infinite where there is none."""
    above = np.flatnonzero(scores > level)
    if not above.size:
        return np.inf
    first = int(above[0])
    if first == 0:
        return float(sizes[0])
    share = (level - scores[first - 1]) / (scores[first] - scores[first - 1])
    return float(sizes[first - 1] + share * (sizes[first] - sizes[first - 1]))


def _jackknifed(left_out: FloatArray) -> FloatArray:
    """Standard errors from figures without each replicate, (n_replicates, n_nodes)."""
    n = len(left_out)
    return np.asarray(np.sqrt((n - 1) / n * np.square(left_out - left_out.mean(axis=0)).sum(axis=0)))


def _from_one_start(rays: Sequence[Ray]) -> tuple[Ray, ...]:
    """What is held stands for the same in all ways: for the mean of what each set of draws says of it."""
    starts = np.array(sorted({(float(ray.log_gold[0]), float(ray.spread[0])) for ray in rays}))
    start, spread = starts[:, 0].mean(), np.sqrt(np.square(starts[:, 1]).sum()) / len(starts)
    moved = []
    for ray in rays:
        by = start - ray.log_gold[0]
        if not ray.ends:
            told = np.log(np.exp(start) + ray.sizes)
            moved.append(replace(ray, log_gold=told, spread=spread * np.exp(start - told)))
            continue
        moved.append(
            replace(
                ray,
                log_gold=ray.log_gold + by,
                spread=ray.spread - ray.spread[0] + spread,
                ends=tuple((low + by, high + by) for low, high in ray.ends),
            )
        )
    return tuple(moved)


def _last_gold(ray: Ray) -> float:
    """What does most first."""
    return -float(ray.log_gold[-1])


def simulated_kinds(simulation: KindSimulation, chosen: ChosenSource, prices: Prices) -> Situation:
    """Where a plan over kinds of labels by simulation starts."""
    pool, basis, room = simulation.pool, simulation.basis, simulation.room + simulation.menu.n_done
    rays = simulation.rays()
    sizes = np.unique(
        np.rint(np.geomspace(max(2.0, _BELOW * pool.n_labeled), pool.n_labeled + max(room, 1), _N_LINE)).astype(int)
    )
    curve = forecast(basis, simulation.mode, chosen.criterion, sizes)
    accuracy, low, high = (
        KindsAccuracy(
            simulation.menu.names,
            rays,
            simulation.menu.n_answers,
            ForecastLine(sizes.astype(np.float64), np.asarray(values)),
            chosen.criterion,
        )
        for values in (curve.values, curve.low, curve.high)
    )
    return Situation(
        held_before(pool, prices),
        accuracy,
        simulation.menu.prices,
        simulation.room,
        float(pool.data.lengths.mean()),
        keeps_rest=simulation.mode == "semi-supervised",
        doubt=Band(low, high),
        kinds=simulation.menu,
    )
