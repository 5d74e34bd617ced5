"""Where a plan starts: what is held, what more samples cost, and what they would buy."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.planning.answer import ArmCount, Design, Held
from labelworth.planning.kinds.menu import KindMenu
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.cost_functions import FurtherCost
from labelworth.tradeoff.costs import ArmPrices, CostFunction, Costs

Origin = Literal["normal draws", "bootstrap"]
"""Where other parameters come from: the normal law of the fit, or fits to resampled data."""

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The accuracy at other parameters that the pilot would have allowed, each as probable as the next."""

    builds: tuple[Callable[[], Accuracy], ...]  # Each gives the accuracy at one of them; none where nobody asked.
    origin: Origin = "normal draws"
    # At the fit, with what tells the noise of its draws; None where nothing could have been drawn.
    at_fit: AsymptoticAccuracy | None = None
    # The same from as few draws as alternatives have: what their bias is. None where they have none.
    twin: AsymptoticAccuracy | None = None
    is_slow: bool = False  # Whether each takes draws or a refit; slow ones are built side by side.

    @property
    def reflects(self) -> bool:
        """Whether answers are reflected at the fit: refits miss it as it misses the truth, bias and all."""
        return self.origin == "bootstrap"

    @property
    def workers(self) -> int | None:
        """How many are built at once; None for one per processor."""
        return None if self.is_slow else 1


@dataclass(frozen=True, eq=False)
class Band:
    """The ends of a forecast's interval, as accuracies."""

    low: Accuracy
    high: Accuracy


Doubt = Alternatives | Band | None
"""How sure the figures are; None: nothing but the noise of random probes is known."""


@dataclass(frozen=True, eq=False)
class Situation:
    """Everything that a trade-off needs to know of the data."""

    held: Held  # What there is before the plan.
    accuracy: Accuracy  # With what is held counted in.
    prices: Costs  # Of more samples of every arm; what was paid already is not in it.
    pool: float  # How many more samples can be had, labeled or not.
    positions_per_sample: float = (
        1.0  # Labels that a sample can carry: 1 for documents, the mean length of sequences.
    )
    keeps_rest: bool = False  # Whether samples of the pool that the counts leave out are learned from all the same.
    doubt: Doubt = None  # How sure the accuracy is.
    currency: str = ""  # Stands before amounts of money; empty: nothing does.
    kinds: KindMenu | None = None  # Kinds of labels that arms are made of; None: samples are labeled or not.

    def design(self, counts: FloatArray) -> Design:
        """What these counts, beyond what is held, amount to."""
        labels = _whole_where_near(counts * self.accuracy.labels_per_sample)
        costs = self._costs_in_turn(counts)
        n_samples = self.held.n_samples if self.keeps_rest else self._n_held + self.prices.of_pool(counts)
        in_all = self.held.n_labels + float(labels.sum())
        carrying, carriers = in_all, n_samples * self.positions_per_sample
        if self.kinds is not None:
            # One sample may get many answers.
            carrying, carriers = self._n_held + self.n_asked(counts), n_samples
        return Design(
            tuple(
                ArmCount(arm, float(count), float(some), float(cost))
                for arm, count, some, cost in zip(self.accuracy.arms, counts, labels, costs, strict=True)
            ),
            float(labels.sum()),
            in_all,
            n_samples,
            carrying / carriers if carriers else 0.0,
            float(costs.sum()),
            self.held.cost + float(costs.sum()),
            self.accuracy.error(counts),
            self.accuracy.standard_error(counts),
        )

    @property
    def _n_held(self) -> int:
        """Samples that are labeled or answered already."""
        return self.held.n_labeled + (0 if self.kinds is None else self.kinds.n_done)

    def n_asked(self, counts: FloatArray) -> float:
        """Samples of the pool that these counts label, or ask somebody about."""
        is_asking = np.array([arm != "nothing" for arm in self.accuracy.arms])
        return self.prices.of_pool(np.where(is_asking, counts, 0.0))

    def n_left(self, counts: FloatArray, arm: int) -> float:
        """Samples that are left for an arm beside these counts; what nobody is asked about is."""
        apart = float(self.prices.apart[arm])
        return apart - float(counts[arm]) if np.isfinite(apart) else self.pool - self.n_asked(counts)

    def has_answered_left(self, counts: FloatArray) -> bool:
        """Whether documents that have answers are left to get gold beside these counts."""
        onto = () if self.kinds is None else self.kinds.onto
        return "answered" in onto and self.n_left(counts, onto.index("answered")) >= 1

    @property
    def n_without_gold(self) -> float:
        """Samples that can still get a label: those of the pool, and those that have answers alone."""
        return self.pool + (0 if self.kinds is None else self.kinds.n_done)

    @property
    def is_used_up(self) -> bool:
        """Whether there is nothing left to label."""
        return self.prices.is_empty(self.pool)

    def gold_labels(self, counts: FloatArray) -> float:
        """Labels among what these counts buy; answers of kinds of labels are none."""
        each = self.accuracy.labels_per_sample if self.kinds is None else self.kinds.gives_gold
        return float(counts @ each)

    @property
    def labeled_whole(self) -> int:
        """The arm that labels as much as any does."""
        if self.kinds is not None:
            return self.kinds.gold
        if "everything" in self.accuracy.arms:
            return self.accuracy.arms.index("everything")
        return int(np.argmax(self.accuracy.labels_per_sample))

    @property
    def nothing_more(self) -> FloatArray:
        """No more labels, and all of the pool that is free to use without them."""
        counts = np.zeros(len(self.accuracy.arms))
        if self.unlabeled_is_free:
            counts[self.accuracy.arms.index("nothing")] = self.pool
        return counts

    @cached_property
    def unlabeled_is_free(self) -> bool:
        """Whether samples without a label are on offer, for nothing."""
        return "nothing" in self.accuracy.arms and self.prices.is_free("nothing", self.pool)

    def replaces_unlabeled(self, counts: FloatArray) -> bool:
        """Whether these counts take all of the pool, so that the next label goes to a sample used without one."""
        if "nothing" not in self.accuracy.arms:
            return False
        is_full = self.prices.of_pool(counts) >= np.floor(self.pool)
        is_used = counts[self.accuracy.arms.index("nothing")] >= 1 and is_full
        return self.unlabeled_is_free or bool(is_used)

    def with_error_of_today(self) -> "Situation":
        """Say what the labels held are good for by themselves."""
        error = self.accuracy.error(self.nothing_more)
        return replace(self, held=replace(self.held, error=error if np.isfinite(error) else None))

    def priced_by(self, function: CostFunction, held: dict[str, float]) -> "Situation":
        """The same situation at the costs of a function.

        Parameters
        ----------
        held : dict
            Samples that were paid for, by rule: what the function says of them is what the labels held have cost.
        """
        costs = FurtherCost.of(function, self.accuracy.arms, held, self.pool)
        return replace(self, prices=costs, held=replace(self.held, cost=costs.paid))

    @cached_property
    def price_list(self) -> dict[str, Any]:
        """What samples cost, in words and numbers: enough to know a question again."""
        if isinstance(self.prices, FurtherCost):
            return {"function": self.prices.name, "digest": self.prices.digest(self.pool), "held": self.held.cost}
        each = {arm: self.prices.next_price(self.nothing_more, index) for index, arm in enumerate(self.prices.arms)}
        return {"per_sample": each, "held": self.held.cost}

    def _costs_in_turn(self, counts: FloatArray) -> FloatArray:
        """What every arm adds, one after the other: in the order of the arms, where that matters."""
        if isinstance(self.prices, ArmPrices):
            return np.asarray(counts * self.prices.per_sample)
        steps = np.tril(np.ones((len(counts), len(counts)))) * counts
        return np.diff([self.prices.cost(counts) for counts in steps], prepend=0.0)


def _whole_where_near(labels: FloatArray) -> FloatArray:
    """Whole numbers where only rounding is between: mean lengths are sums of shares."""
    whole = np.rint(labels)
    return np.where(np.abs(labels - whole) <= _ROUNDING * np.maximum(whole, 1.0), whole, labels)
