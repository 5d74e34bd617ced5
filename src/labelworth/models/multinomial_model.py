"""Documents as bags of words: a class, a length, and words drawn independently given the class."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from labelworth.arrays import AnyArray, FloatArray, IntArray, as_floats, require_shape
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.kernels.tables import logarithms
from labelworth.models.coordinates import Coordinates, SimplexRows
from labelworth.models.doors import require_classes, require_feature_names, require_features, stored
from labelworth.models.names import Numbered
from labelworth.models.probability_rows import (
    require_interior,
    require_rows,
    row_curvature,
    row_scores,
    squared_distance,
)


@dataclass(frozen=True, eq=False)
class MultinomialModel:
    r"""Multinomial naive Bayes with a distribution of document lengths.

    .. math:: p(x, y) = q(m) \binom{m}{c_1 \ldots c_V} \pi_y \prod_w \theta_{yw}^{c_w}, \quad m = \sum_w c_w

    Attributes
    ----------
    classes : tuple
        What the class codes stand for.
    class_probabilities : array of shape (K,)
        :math:`\pi`.
    word_probabilities : array of shape (K, V)
        :math:`\theta`, a row per class.
    lengths : LengthDistribution
        :math:`q(m)`, which carries no parameter.
    feature_names : tuple of str, optional
        The words.

    Examples
    --------
    >>> model = MultinomialModel(("a", "b"), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], LengthDistribution.single(3))
    >>> model.coordinates.names()
    ['class_probabilities[a]', 'word_probabilities[a, word 0]', 'word_probabilities[b, word 0]']
    """

    kind: ClassVar[str] = "multinomial"

    classes: tuple[Hashable, ...]
    class_probabilities: FloatArray
    word_probabilities: FloatArray
    lengths: LengthDistribution
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", require_classes(self.classes))
        for name, ndim in (("class_probabilities", 1), ("word_probabilities", 2)):
            table = as_floats(name, getattr(self, name), ndim=ndim)
            require_rows(name, table)
            object.__setattr__(self, name, table)
        require_shape("class_probabilities", self.class_probabilities, (self.n_classes,))
        require_shape("word_probabilities", self.word_probabilities, (self.n_classes, self.n_features))
        names = require_feature_names(self.feature_names, self.n_features)
        object.__setattr__(self, "feature_names", names)

    @property
    def n_classes(self) -> int:
        """The number of classes, K."""
        return len(self.classes)

    @property
    def n_features(self) -> int:
        """The size of the vocabulary, V."""
        return int(self.word_probabilities.shape[1])

    @cached_property
    def coordinates(self) -> Coordinates:
        """Class probabilities, then a row of word probabilities per class."""
        classes = [str(name) for name in self.classes]
        words = self.feature_names or Numbered("word", self.n_features)
        return Coordinates(
            (SimplexRows("class_probabilities", [""], classes), SimplexRows("word_probabilities", classes, words))
        )

    @property
    def tables(self) -> dict[str, FloatArray]:
        """``class_probabilities`` (1, K) and ``word_probabilities`` (K, V)."""
        return {
            "class_probabilities": self.class_probabilities[None, :],
            "word_probabilities": self.word_probabilities,
        }

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        """The same classes, words and lengths with other probabilities."""
        return replace(
            self,
            class_probabilities=np.ravel(tables["class_probabilities"]),
            word_probabilities=tables["word_probabilities"],
        )

    @cached_property
    def log_class_probabilities(self) -> FloatArray:
        """log pi, minus infinity for zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.class_probabilities)

    @cached_property
    def log_word_probabilities(self) -> FloatArray:
        """log theta, minus infinity for zero."""
        return logarithms(self.word_probabilities)

    def log_joint(self, samples: Samples) -> FloatArray:
        """log pi_y + sum_w c_w log theta_yw, shape (n, K): without q(m) and the multinomial coefficient.

        A word a class never uses rules that class out: minus infinity.
        """
        counts = self._counts(samples)
        # Only stored values take part in the product, so 0 log 0 is 0 as long as no zero is stored.
        return np.asarray(counts @ self.log_word_probabilities.T) + self.log_class_probabilities

    def sample(self, n_samples: int, rng: np.random.Generator) -> Samples:
        """Draw fully labeled documents: a class, a length, words."""
        codes: IntArray = rng.choice(self.n_classes, size=n_samples, p=self.class_probabilities)
        lengths = self.lengths.sample(n_samples, rng)
        class_of_token = np.repeat(codes, lengths)
        words = np.empty(class_of_token.size, dtype=np.int64)
        for code in range(self.n_classes):
            chosen = np.flatnonzero(class_of_token == code)
            words[chosen] = rng.choice(self.n_features, size=chosen.size, p=self.word_probabilities[code])
        documents = np.repeat(np.arange(n_samples), lengths)
        counts = sp.coo_array((np.ones(words.size), (documents, words)), shape=(n_samples, self.n_features)).tocsr()
        counts.sum_duplicates()
        return Samples(counts, Evidence(codes.astype(np.int64), self.classes), feature_names=self.feature_names)

    def complete_information(self) -> FloatArray:
        r"""Information of one labeled document, (d, d).

        Block diagonal: :math:`\operatorname{diag}(1/\pi) + 1/\pi_K` for the classes, and
        :math:`E[m]\, \pi_k (\operatorname{diag}(1/\theta_k) + 1/\theta_{kV})` for the words of each class.
        """
        expected_words = self.lengths.mean * self.class_probabilities[:, None] * self.word_probabilities
        return self.curvature(self.class_probabilities, expected_words)

    def class_scores(self, samples: Samples) -> FloatArray:
        """Gradient of log p(x, y) in free coordinates for every sample and class, (n, K, d)."""
        self._require_interior()
        counts = self._counts(samples).toarray()
        scores = np.zeros((len(counts), self.n_classes, self.coordinates.n_free))
        scores[:, :, : self.n_classes - 1] = row_scores(np.eye(self.n_classes), self.class_probabilities)
        start = self.n_classes - 1
        for code in range(self.n_classes):
            stop = start + self.n_features - 1
            scores[:, code, start:stop] = row_scores(counts, self.word_probabilities[code])
            start = stop
        return scores

    def complete_curvature(self, samples: Samples, responsibilities: FloatArray) -> FloatArray:
        """Minus the Hessian of sum_i sum_k r_ik log p(x_i, k), (d, d)."""
        counts = self._counts(samples)
        require_shape("responsibilities", responsibilities, (samples.n_samples, self.n_classes))
        return self.curvature(responsibilities.sum(axis=0), np.asarray((counts.T @ responsibilities).T))

    def curvature(self, class_weights: FloatArray, word_counts: FloatArray) -> FloatArray:
        """Minus the Hessian of sum_k N_k log pi_k + sum_kw N_kw log theta_kw, (d, d)."""
        self._require_interior()
        blocks = [row_curvature(class_weights, self.class_probabilities)]
        blocks += [row_curvature(word_counts[code], self.word_probabilities[code]) for code in range(self.n_classes)]
        return np.asarray(block_diag(*blocks))

    def divergence(self, other: Self) -> float:
        """Half the squared step in the complete information, in nats per document."""
        per_class = squared_distance(self.word_probabilities, other.word_probabilities)
        words = self.lengths.mean * float(self.class_probabilities @ per_class)
        return 2 * (float(squared_distance(self.class_probabilities, other.class_probabilities)) + words)

    def to_arrays(self) -> dict[str, AnyArray]:
        """The probabilities and the distribution of lengths."""
        return {
            "class_probabilities": self.class_probabilities,
            "word_probabilities": self.word_probabilities,
            "lengths": self.lengths.lengths,
            "length_probabilities": self.lengths.probabilities,
        }

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, AnyArray],
        *,
        classes: tuple[Hashable, ...],
        feature_names: tuple[str, ...] | None = None,
    ) -> Self:
        """Build the model again, checking everything."""
        lengths = LengthDistribution(stored(arrays, "lengths"), stored(arrays, "length_probabilities"))
        return cls(
            classes,
            stored(arrays, "class_probabilities"),
            stored(arrays, "word_probabilities"),
            lengths,
            feature_names,
        )

    def _counts(self, samples: Samples) -> sp.csr_array:
        counts = samples.counts
        require_features(samples, self.n_features)
        if counts.nnz and not counts.data.all():
            counts = counts.copy()
            counts.eliminate_zeros()
        return counts

    def _require_interior(self) -> None:
        require_interior("class_probabilities", self.class_probabilities)
        require_interior("word_probabilities", self.word_probabilities)
