r"""Coordinates in which a labeled document of multinomial naive Bayes carries the identity.

The complete information has :math:`T_k / \theta_{kw}` on the diagonal, where :math:`T_k` counts the words of class k;
only the rows' sums being one ties the entries together. So whitening is a scale per entry and a projection per row.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.linalg.lanczos import row_chunks
from labelworth.models.classes.multinomial import MultinomialModel


@dataclass(frozen=True, eq=False)
class CountWhitening:
    """A model and how much evidence there is of every row of its probabilities, when all labels are seen.

    Vectors hold an entry per word and class, word by word, and then one per class.
    """

    model: MultinomialModel
    class_total: float  # The samples' weight plus the smoothing of the class probabilities.
    word_totals: FloatArray  # (K,): The expected number of words of every class plus their smoothing.
    total_weight: float  # Of all samples.

    @classmethod
    def of_population(cls, model: MultinomialModel) -> "CountWhitening":
        """Of one sample of the model."""
        return cls(model, 1.0, model.class_probabilities * model.lengths.mean, 1.0)

    @property
    def n_parameters(self) -> int:
        return self.model.n_classes * self.model.n_features - 1

    @property
    def size(self) -> int:
        """The length of a vector: every probability, the last of a row included."""
        return self.model.n_classes * (self.model.n_features + 1)

    @cached_property
    def _word_roots(self) -> FloatArray:
        """The unit normals of the words' rows, (V, K)."""
        return np.sqrt(np.ascontiguousarray(self.model.word_probabilities.T))

    @cached_property
    def _class_roots(self) -> FloatArray:
        return np.sqrt(self.model.class_probabilities)

    @cached_property
    def named_weights(self) -> FloatArray:
        """The squared error of a probability where its whitened coordinate has variance 1/n, times n; (size,)."""
        words = np.square(self._word_roots) / self.word_totals
        classes = np.square(self._class_roots) / self.class_total
        weights: FloatArray = self.total_weight * np.concatenate([words.ravel(), classes])
        return weights

    @property
    def named_complete(self) -> float:
        """trace(J'J complete^-1): the named total variance if every sample were labeled."""
        normals = np.square(np.concatenate([self._word_roots.ravel(), self._class_roots]))
        return float(self.named_weights @ (1 - normals))

    @property
    def log_determinant(self) -> float:
        """log det of the complete information per sample in free coordinates."""
        model = self.model
        words = (model.n_features - 1) * np.log(self.word_totals / self.total_weight).sum()
        classes = (model.n_classes - 1) * np.log(self.class_total / self.total_weight)
        return float(words + classes - model.log_word_probabilities.sum() - model.log_class_probabilities.sum())

    def project(self, block: FloatArray) -> None:
        """Remove, in place, what would change the sum of a row of probabilities."""
        words, classes = self._split(block)
        along = np.zeros(words.shape[1:])
        for chunk in row_chunks(words):
            along += np.einsum("wk,wkb->kb", self._word_roots[chunk], words[chunk])
        for chunk in row_chunks(words):
            words[chunk] -= self._word_roots[chunk][:, :, None] * along
        classes -= np.outer(self._class_roots, self._class_roots @ classes)

    def whitened(self, word_counts: FloatArray, class_weights: FloatArray) -> FloatArray:
        """A score, given by what it counts of words (V, K) and classes (K,), as a whitened vector, (size, 1)."""
        return self.whitened_blocks(word_counts[:, :, None], class_weights[:, None])

    def whitened_blocks(self, word_counts: FloatArray, class_weights: FloatArray) -> FloatArray:
        """The same of many scores, (V, K, b) and (K, b): (size, b)."""
        words = self._word_scale[:, :, None] * word_counts
        classes = class_weights / (self._class_roots * np.sqrt(self.class_total))[:, None]
        block = np.concatenate([words.reshape(-1, words.shape[2]), classes])
        self.project(block)
        return block

    def log_changes(self, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What a whitened vector (size,) changes the log probabilities of words (V, K) and classes (K,) by."""
        words, classes = self.log_change_blocks(vector[:, None])
        return words[:, :, 0], classes[:, 0]

    def log_change_blocks(self, block: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same of a block of vectors (size, b): (V, K, b) and (K, b)."""
        words, classes = self._split(block)
        scale = self._class_roots * np.sqrt(self.class_total)
        return words * self._word_scale[:, :, None], classes / scale[:, None]

    @cached_property
    def _word_scale(self) -> FloatArray:
        """Turns whitened coordinates into changes of log-probability, and back scores into whitened ones, (V, K)."""
        return np.asarray(1 / (self._word_roots * np.sqrt(self.word_totals)))

    def _split(self, block: FloatArray) -> tuple[FloatArray, FloatArray]:
        n_classes = self.model.n_classes
        words = block[: self.size - n_classes].reshape(self.model.n_features, n_classes, -1)
        return words, block[self.size - n_classes :]
