"""Where a plan starts: what is held, what more samples cost, and what they would buy."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.planning.answer import ArmCount, Design, Held
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.costs import ArmPrices


@dataclass(frozen=True, eq=False)
class Situation:
    """Everything that a trade-off needs to know of the data.

    Attributes
    ----------
    held : Held
        What there is before the plan.
    accuracy : Accuracy
        With what is held counted in.
    prices : ArmPrices
        Of one more sample of every arm; what was paid already is not in it.
    pool : float
        How many more samples can be had, labeled or not.
    places_per_sample : float
        Labels that a sample can carry: 1 for documents, the mean length of sequences.
    keeps_rest : bool
        Whether samples of the pool that the counts leave out are learned from all the same.
    alternatives : tuple of functions without arguments
        The accuracy at other parameters that the pilot would have allowed, each as probable as the next.
    origin : str
        Where those come from.
    bands : tuple of two accuracies, optional
        The lower and the upper end of a forecast's interval, where there are no alternatives.
    """

    held: Held
    accuracy: Accuracy
    prices: ArmPrices
    pool: float
    places_per_sample: float = 1.0
    keeps_rest: bool = False
    alternatives: tuple[Callable[[], Accuracy], ...] = field(default=())
    origin: str = ""
    bands: tuple[Accuracy, Accuracy] | None = None

    def design(self, counts: FloatArray) -> Design:
        """What these counts, beyond what is held, amount to."""
        labels = counts * self.accuracy.labels_per_sample
        costs = counts * self.prices.per_sample
        n_samples = self.held.n_samples if self.keeps_rest else self.held.n_labeled + float(counts.sum())
        in_all = self.held.n_labels + float(labels.sum())
        return Design(
            tuple(
                ArmCount(arm, float(count), float(some), float(cost))
                for arm, count, some, cost in zip(self.accuracy.arms, counts, labels, costs, strict=True)
            ),
            float(labels.sum()),
            in_all,
            n_samples,
            in_all / (n_samples * self.places_per_sample) if n_samples else 0.0,
            float(costs.sum()),
            self.held.cost + float(costs.sum()),
            self.accuracy.error(counts),
            self.accuracy.standard_error(counts),
        )

    @property
    def nothing_more(self) -> FloatArray:
        """No more labels, and all of the pool that is free to use without them."""
        counts = np.zeros(len(self.accuracy.arms))
        if "nothing" in self.accuracy.arms:
            place = self.accuracy.arms.index("nothing")
            if self.prices.per_sample[place] == 0:
                counts[place] = self.pool
        return counts
