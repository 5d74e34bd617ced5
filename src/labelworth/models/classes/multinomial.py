"""Documents as bags of words: a class, a length, and words drawn independently given the class."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.data.counts import as_counts, document_lengths
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.data.shards.features import ShardedFeatures
from labelworth.errors import InvalidInputError
from labelworth.kernels.documents import layout
from labelworth.kernels.documents.expectation import expectation, make_workspace
from labelworth.kernels.rows.tables import logarithms
from labelworth.models.blocks import Numbered
from labelworth.models.classes.naive_bayes import NaiveBayesFamily, NaiveBayesModel
from labelworth.models.classes.walked_documents import WalkedDocuments
from labelworth.models.coordinates import Coordinates, SimplexRows
from labelworth.models.doors import require_features, stored
from labelworth.models.probability_rows import require_rows, smoothed_rows
from labelworth.models.protocol import Expectation

_LONGEST = 1e15  # beyond it a double cannot count by ones


@dataclass(frozen=True, eq=False)
class MultinomialModel(NaiveBayesModel):
    r"""Multinomial naive Bayes with a distribution of document lengths.

    .. math:: p(x, y) = q(m) \binom{m}{c_1 \ldots c_V} \pi_y \prod_w \theta_{yw}^{c_w}, \quad m = \sum_w c_w

    Examples
    --------
    >>> model = MultinomialModel(("a", "b"), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], LengthDistribution.single(3))
    >>> model.coordinates.names()
    ['class_probabilities[a]', 'word_probabilities[a, word 0]', 'word_probabilities[b, word 0]']
    """

    kind: ClassVar[str] = "multinomial"
    table_name: ClassVar[str] = "word_probabilities"

    word_probabilities: FloatArray  # (K, V): :math:`\theta`, a row per class.
    lengths: LengthDistribution  # :math:`q(m)`, which carries no parameter.
    feature_names: tuple[str, ...] | None = None  # The words.

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows("word_probabilities", self.word_probabilities)

    @cached_property
    def coordinates(self) -> Coordinates:
        """Class probabilities, then a row of word probabilities per class."""
        classes = [str(name) for name in self.classes]
        words = self.feature_names or Numbered("word", self.n_features)
        return Coordinates(
            (SimplexRows("class_probabilities", [""], classes), SimplexRows("word_probabilities", classes, words))
        )

    @property
    def cells(self) -> FloatArray:
        """One row over all words per class, (K, 1, V)."""
        return self.word_probabilities[:, None, :]

    @property
    def n_draws(self) -> float:
        """E[m]."""
        return self.lengths.mean

    def as_cells(self, sums: FloatArray, totals: FloatArray) -> FloatArray:
        """The counts of words as they are."""
        return sums[:, None, :]

    @cached_property
    def log_word_probabilities(self) -> FloatArray:
        """log theta, minus infinity for zero."""
        return logarithms(self.word_probabilities)

    def log_joint(self, samples: Samples) -> FloatArray:
        """log pi_y + sum_w c_w log theta_yw, shape (n, K): without q(m) and the multinomial coefficient.

        A word a class never uses rules that class out: minus infinity.
        """
        counts = self.checked_counts(samples)
        if counts.nnz < self.n_features:
            # A few documents hold few of the words: logarithms of all the others would take most of the time.
            words, columns = np.unique(counts.indices, return_inverse=True)
            counts = sp.csr_array((counts.data, columns, counts.indptr), shape=(counts.shape[0], len(words)))
            log_words = logarithms(self.word_probabilities[:, words])
        else:
            log_words = self.log_word_probabilities
        # Only stored values take part in the product, so 0 log 0 is 0 as long as no zero is stored.
        return np.asarray(counts @ log_words.T) + self.log_class_probabilities

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

    def to_arrays(self) -> dict[str, AnyArray]:
        """The probabilities and the distribution of lengths."""
        lengths = {"lengths": self.lengths.lengths, "length_probabilities": self.lengths.probabilities}
        return super().to_arrays() | lengths

    @classmethod
    def _further(cls, arrays: Mapping[str, AnyArray]) -> dict[str, Any]:
        return {"lengths": LengthDistribution(stored(arrays, "lengths"), stored(arrays, "length_probabilities"))}

    def checked_counts(self, samples: Samples) -> sp.csr_array:
        """The counts, without stored zeros."""
        counts = samples.counts
        require_features(samples, self.n_features)
        if counts.nnz and not counts.data.all():
            counts = counts.copy()
            counts.eliminate_zeros()
        return counts


class MultinomialPass:
    """Documents with their evidence, laid out once for many passes.

    Counts must be clean: sorted, without duplicates or stored zeros. The rows whose class was seen add the same to
    every pass: they are summed once, here. The result does not depend on the number of threads.
    """

    def __init__(
        self, counts: sp.csr_array, evidence: Evidence, row_weights: FloatArray, n_threads: int | None = None
    ) -> None:
        codes, n_classes = evidence.codes, evidence.n_classes
        counted = row_weights != 0
        self._evidence = layout.Evidence(
            np.ascontiguousarray(codes, dtype=np.int64),
            np.ascontiguousarray(evidence.weights, dtype=np.float64),
            np.ascontiguousarray(row_weights, dtype=np.float64),
        )
        self._documents = layout.block_documents(
            counts.indptr,
            counts.indices,
            counts.data,
            counts.shape[1],
            n_classes,
            np.flatnonzero(counted & (codes < 0)),
        )
        seen = np.flatnonzero(counted & (codes >= 0))
        self._known = layout.sum_known(self._documents, self._evidence, seen, n_classes)
        self._workspace = make_workspace(self._documents, n_classes)
        self._in_use = Lock()
        self._n_threads = n_threads

    def expectation(self, model: MultinomialModel) -> Expectation:
        """Expected ``class_weights`` (K,) and ``word_counts`` (K, V), and the log-likelihood."""
        with self._in_use:
            class_weights, word_counts, log_likelihood = expectation(
                self._documents,
                self._workspace,
                self._evidence,
                self._known,
                model.log_class_probabilities,
                model.word_probabilities,
                self._n_threads,
            )
        return Expectation({"class_weights": class_weights, "word_counts": word_counts}, log_likelihood)


@dataclass(frozen=True, eq=False)
class MultinomialFamily(NaiveBayesFamily[MultinomialModel]):
    r"""Multinomial models with a Dirichlet prior.

    The objective gains :math:`a \sum_k \log \pi_k + \alpha \sum_{kw} \log \theta_{kw}`, so that the maximizer for
    labeled data is :math:`\hat\theta_{kw} = (N_{kw} + \alpha) / (N_k + \alpha V)`: add-alpha smoothing.
    """

    # :math:`q(m)`; read off the documents when absent (fractional lengths are rounded).
    lengths: LengthDistribution | None = None

    walks: ClassVar[bool] = True

    def adapted(self, samples: Samples, row_weights: FloatArray) -> Self:
        """Read the distribution of lengths off the documents that have words, each counting its row weight."""
        if self.lengths is not None:
            return self
        weight_of: dict[int, float] = {}
        for lengths, weights in samples.each(_lengths, row_weights):
            for length, weight in zip(lengths.tolist(), weights.tolist(), strict=True):
                weight_of[length] = weight_of.get(length, 0.0) + weight
        if not weight_of:
            raise InvalidInputError(
                "Every document is empty, so there is nothing to learn from; check the vocabulary."
            )
        lengths, shares = np.array(sorted(weight_of)), np.array([weight_of[length] for length in sorted(weight_of)])
        return replace(self, lengths=LengthDistribution(lengths, shares / shares.sum()))

    def prepare(self, samples: Samples, row_weights: FloatArray) -> MultinomialPass | WalkedDocuments:
        """Check the documents and lay them out; those of a shard stay where they are."""
        if isinstance(samples.features, ShardedFeatures) and len(samples.features.parts) == 1:
            self._require_fitting(samples, row_weights)
            return WalkedDocuments(samples.features.parts[0], samples.evidence, row_weights)
        counts = self._checked_counts(samples, row_weights)
        _require_countable(document_lengths(counts))
        return MultinomialPass(counts, samples.evidence, row_weights)

    def neutral(self) -> MultinomialModel:
        """Uniform class and word probabilities."""
        n_classes = len(self.classes)
        return self._model(
            np.full(n_classes, 1 / n_classes), np.full((n_classes, self.n_features), 1 / self.n_features)
        )

    def maximize(self, statistics: Mapping[str, FloatArray]) -> MultinomialModel:
        """Smoothed shares of the expected counts."""
        return self._model(
            smoothed_rows(statistics["class_weights"], self.class_smoothing),
            smoothed_rows(statistics["word_counts"], self.smoothing),
        )

    def _model(self, class_probabilities: FloatArray, word_probabilities: FloatArray) -> MultinomialModel:
        if self.lengths is None:
            raise InvalidInputError(
                "The family knows no document lengths; give lengths=, or use adapted(samples, ..)."
            )
        return MultinomialModel(
            self.classes, class_probabilities, word_probabilities, self.lengths, self.feature_names
        )


def _lengths(counts: Any, row_weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """The lengths of documents that have words, rounded, and how much those of each length weigh."""
    totals = document_lengths(as_counts(counts))
    _require_countable(totals)
    worded = totals > 0
    whole = np.maximum(np.rint(totals[worded]), 1.0).astype(np.int64)
    lengths, group = np.unique(whole, return_inverse=True)
    weights: FloatArray = np.bincount(group, weights=row_weights[worded], minlength=len(lengths)).astype(np.float64)
    return lengths, weights


def _require_countable(lengths: FloatArray) -> None:
    longest = float(lengths.max(initial=0.0))
    if longest > _LONGEST:
        raise InvalidInputError(
            f"The longest document has {longest:g} words, beyond what a double can count; rescale the documents."
        )
