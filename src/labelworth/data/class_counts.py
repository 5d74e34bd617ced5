"""How often every class is labeled, and what that says of classes without a label."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import IntArray
from labelworth.data.protocol import Data

MOST_UNSEEN = 0.05
"""A pilot lacks classes if more of the data than this belongs to classes that it has no label of."""


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Labels of every class in a pilot of documents or sequences that were drawn at random."""

    labels: IntArray  # (n_classes,)
    samples: IntArray  # (n_classes,): In how many documents or sequences the class is labeled.
    is_whole: bool  # Whether a sample carries one label: documents.

    @classmethod
    def of(cls, data: Data) -> "ClassCounts":
        evidence, sample = data.evidence, np.repeat(np.arange(data.n_samples), data.lengths)
        gold = evidence.is_gold
        pairs = np.unique(sample[gold] * evidence.n_classes + evidence.codes[gold])
        samples = np.bincount(pairs % evidence.n_classes, minlength=evidence.n_classes)
        return cls(evidence.label_counts(), samples, bool((data.lengths == 1).all()))

    @property
    def alone(self) -> int:
        """Labels whose class no other sample has."""
        return int(self.labels[self.samples == 1].sum())

    @property
    def unseen_share(self) -> float:
        """The share of the data whose class has no label yet, by Good and Turing.

        Every sample is left out in turn: the labels whose class no other sample has, over all labels.
        """
        return float(self.alone / max(self.labels.sum(), 1))

    @property
    def lacks_classes(self) -> bool:
        """Whether so many classes occur in one sample alone that others must be missing; one such is no sign."""
        return int((self.samples == 1).sum()) > 1 and self.unseen_share > MOST_UNSEEN

    @property
    def alone_words(self) -> str:
        """How many labels are alone, as the rest of a sentence."""
        where = "the only ones of their class" if self.is_whole else "of classes that no other sequence has"
        return f"{self.alone:,} of {int(self.labels.sum()):,} labels are {where}"
