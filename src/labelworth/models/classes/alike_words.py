r"""Words that have the same counts in every document are fitted as one.

Half of the words of news texts are in one document each, and of a few labeled documents nearly all words are in none:
such words have the same probabilities at every step of EM. A group of m of them is a word with m times the count, m
times the probability and m times the prior,

.. math:: \theta'_g = m \theta_w, \qquad c'_g = m c_w, \qquad \alpha'_g = m \alpha

Responsibilities, distances :math:`\sum (\sqrt\theta - \sqrt\vartheta)^2` and so every step, accelerated ones too, are
those of the words apart; likelihood and prior differ from theirs by constants.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.samples import Samples
from labelworth.data.shards.passes import is_sharded
from labelworth.kernels.documents.alike import merge_alike
from labelworth.kernels.rows.tables import sum_of_logarithms
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.models.probability_rows import smoothed_rows


@dataclass(frozen=True, eq=False)
class GroupFamily(MultinomialFamily):
    """The prior of groups of words: as many counts as there are words in each."""

    sizes: FloatArray = field(default_factory=lambda: np.empty(0))  # (n_features,)

    def neutral(self) -> MultinomialModel:
        """All words alike."""
        n_classes = len(self.classes)
        words = np.tile(self.sizes / self.sizes.sum(), (n_classes, 1))
        return self._model(np.full(n_classes, 1 / n_classes), words)

    def maximize(self, statistics: Mapping[str, FloatArray]) -> MultinomialModel:
        return self._model(
            smoothed_rows(statistics["class_weights"], self.class_smoothing),
            smoothed_rows(statistics["word_counts"], self.smoothing, self.sizes),
        )

    def log_prior(self, model: MultinomialModel) -> float:
        """Up to a constant."""
        classes = self.class_smoothing * float(model.log_class_probabilities.sum()) if self.class_smoothing else 0.0
        words = self.smoothing * sum_of_logarithms(model.word_probabilities, self.sizes) if self.smoothing else 0.0
        return classes + words


@dataclass(frozen=True, eq=False)
class AlikeWords:
    """Groups of words, as a family and samples that `fit` takes."""

    family: GroupFamily
    samples: Samples
    group: IntArray  # (n_words,): Of every word.
    feature_names: tuple[str, ...] | None  # Of the words.

    @classmethod
    def of(cls, family: Any, samples: Any) -> "AlikeWords | None":
        """None where words are not counted here, or all differ."""
        if type(family) is not MultinomialFamily or is_sharded(samples) or not samples.is_sparse:
            return None
        counts = samples.counts
        group, first, sizes = _groups(counts)
        if len(first) == counts.shape[1]:
            return None
        merged = _merged(counts, group, first, sizes)
        if merged is None:
            return None
        family = GroupFamily(
            family.classes,
            len(first),
            family.smoothing,
            family.class_smoothing,
            lengths=family.lengths,
            sizes=sizes.astype(np.float64),
        )
        return cls(family, replace(samples, features=merged, feature_names=None), group, samples.feature_names)

    def apart(self, model: MultinomialModel) -> MultinomialModel:
        """The model of the words."""
        shares = (model.word_probabilities / self.family.sizes).take(self.group, axis=1)
        return replace(model, word_probabilities=shares, feature_names=self.feature_names)


def _groups(counts: sp.csr_array) -> tuple[IntArray, IntArray, IntArray]:
    """The group of every word, and of every group its first word, rising, and how many words it has.

    Words of the same counts have the same sum of random numbers of their documents, to the bit. That others have it
    too is as good as impossible, and seen where they are merged.
    """
    marks = counts.T @ np.random.default_rng(0).random(counts.shape[0])
    _, first, group, sizes = np.unique(marks, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[group], first[order], sizes[order]


def _merged(counts: sp.csr_array, group: IntArray, first: IntArray, sizes: IntArray) -> sp.csr_array | None:
    """The counts of groups; None where words of one differ."""
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    if not np.array_equal(frequency, frequency[first][group]):
        return None
    starts, words, values = (
        np.empty(len(counts.indptr), np.int64),
        np.empty_like(counts.indices),
        np.empty(counts.nnz),
    )
    rows = (counts.indptr.astype(np.int64), counts.indices, counts.data)
    if not merge_alike(*rows, group, first, sizes, starts, words, values):
        return None
    n_stored = int(starts[-1])
    # Of the type of the words: else these are copied to that of the starts, and back.
    ends = starts.astype(words.dtype)
    return sp.csr_array((values[:n_stored], words[:n_stored], ends), shape=(counts.shape[0], len(first)))
