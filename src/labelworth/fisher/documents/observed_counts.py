r"""The observed information of multinomial naive Bayes at a fit, whitened, as a product with blocks of vectors.

At a maximum with smoothing the complete information has :math:`T_k / \theta_{kw}` on the diagonal, where
:math:`T_k` counts the words of class k, expected and smoothed; only the rows' sums being one ties the entries
together. So whitening is a scale per entry and a projection per row, and the missing information is a pass over the
documents. docs/derivations/matrix_free.md has the derivation.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray
from labelworth.data.counts import as_counts
from labelworth.data.samples import Samples
from labelworth.data.shards.passes import PassesOverShards, laid_out
from labelworth.engines.runner import Sums
from labelworth.errors import InvalidInputError
from labelworth.fisher.documents.count_whitening import CountWhitening
from labelworth.kernels.documents.layout import Documents, block_documents
from labelworth.kernels.documents.missing import missing_product
from labelworth.kernels.documents.responsibilities import Responsibilities, find_responsibilities, keep_undecided
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.models.probability_rows import require_interior
from labelworth.models.sharded import prepared

_FIXED_POINT = 1e-3  # how much one more EM step may change a probability, relatively


@dataclass(frozen=True, eq=False)
class Undecided:
    """Documents whose class was not seen, and that more than one class may have written, laid out for products."""

    documents: Documents
    responsibilities: Responsibilities
    row_weights: FloatArray  # Of all rows, those that are seen or decided too.
    n_classes: int

    def write_product(
        self,
        words: FloatArray,
        classes: FloatArray,
        word_out: FloatArray,
        class_out: FloatArray,
        word_scale: FloatArray | None = None,
    ) -> None:
        """See `missing_product`."""
        missing_product(
            self.documents, self.responsibilities, self.row_weights, words, classes, word_out, class_out, word_scale
        )

    def product(self, vectors: tuple[FloatArray, FloatArray]) -> Sums:
        """The same as sums by name."""
        words, classes = vectors
        word_out, class_out = np.empty_like(words), np.empty_like(classes)
        self.write_product(words, classes, word_out, class_out)
        return {"words": word_out, "classes": class_out}

    def squares(self, model: MultinomialModel) -> Sums:
        r"""What the trace of the missing information is made of, per class.

        Given x, the score moves the words of one class only, so each document adds
        :math:`r_k (1-r_k) \|s_k\|^2` with :math:`s_k` the projected words of class k, ``words`` where they are
        whitened and ``named`` where they are probabilities, and :math:`r_k (1-r_k)` to ``classes``.
        """
        counts, spread = self._counts, self._weighted_spread
        theta, lengths = model.word_probabilities, counts.sum(axis=1)[:, None]
        squares = sp.csr_array(counts.multiply(counts))
        words = squares @ (1 / theta.T) - lengths**2
        crossed = lengths**2 * np.square(theta).sum(axis=1) - 2 * lengths * (counts @ theta.T)
        named = squares.sum(axis=1)[:, None] + crossed
        return {
            "words": np.asarray(spread.multiply(words).sum(axis=0)),
            "named": np.asarray(spread.multiply(named).sum(axis=0)),
            "classes": np.asarray(spread.sum(axis=0)),
        }

    @property
    def _counts(self) -> sp.csr_array:
        """The counts of these documents."""
        layout = self.documents
        shape = (len(self.row_weights), layout.n_words)
        return sp.csr_array((layout.counts, layout.words, layout.starts), shape=shape)[layout.rows]

    @property
    def _weighted_spread(self) -> sp.csr_array:
        """Row weight times r (1 - r)."""
        stored, rows = self.responsibilities, self.documents.rows
        shares = stored.values * (1 - stored.values)
        spread = sp.csr_array((shares, stored.classes, stored.starts), shape=(len(rows), self.n_classes))
        return sp.csr_array(sp.diags_array(self.row_weights[rows]) @ spread)


@dataclass(frozen=True, eq=False)
class UndecidedLayout:
    """Lays out what is undecided under a model; see `labelworth.data.shards.passes.Layout`."""

    model: MultinomialModel
    feature_names: ClassVar[None] = None

    def prepare(self, samples: Samples, weights: FloatArray, /) -> Undecided:
        model, counts = self.model, as_counts(samples.counts)
        unlabeled = np.flatnonzero(samples.evidence.is_unlabeled)
        documents = block_documents(
            counts.indptr, counts.indices, counts.data, model.n_features, model.n_classes, unlabeled
        )
        responsibilities = find_responsibilities(
            documents,
            np.ascontiguousarray(model.log_word_probabilities.T),
            model.log_class_probabilities,
            samples.evidence.codes,
            samples.evidence.weights,
        )
        return Undecided(*keep_undecided(documents, responsibilities), weights, model.n_classes)


@dataclass(frozen=True, eq=False)
class ObservedCounts(CountWhitening):
    """A fitted model, the documents whose class was not seen, and how much evidence there is of every row."""

    unlabeled_weight: float  # Of samples without a label.
    residual: float  # By how much, relatively, one more EM step would change a probability at most.
    undecided: "Undecided | PassesOverShards"  # What is open, in memory or in shards.

    @classmethod
    def at(cls, model: MultinomialModel, family: MultinomialFamily, samples: Samples) -> "ObservedCounts":
        """Pass over the samples that `model` was fitted to with the prior of `family`."""
        _require_suitable(model, samples)
        weights, unlabeled = samples.sample_weights, samples.evidence.is_unlabeled
        statistics = prepared(family, samples, weights).expectation(model).statistics
        class_counts = statistics["class_weights"] + family.class_smoothing
        word_counts = statistics["word_counts"] + family.smoothing
        word_totals = word_counts.sum(axis=1)
        residual = max(
            float(np.abs(class_counts / (class_counts.sum() * model.class_probabilities) - 1).max()),
            float(np.abs(word_counts / (word_totals[:, None] * model.word_probabilities) - 1).max()),
        )
        return cls(
            model,
            float(class_counts.sum()),
            word_totals,
            float(weights.sum()),
            float(weights[unlabeled].sum()),
            residual,
            laid_out(UndecidedLayout(model), samples, weights),
        )

    def reweighted(self, change: FloatArray) -> "ObservedCounts":
        """The same with so much added to the weight of every row; of rows in memory."""
        if not isinstance(self.undecided, Undecided):
            raise TypeError("The documents lie in shards.")
        weights = self.undecided.row_weights + change
        return replace(self, undecided=replace(self.undecided, row_weights=weights))

    def require_fixed_point(self) -> None:
        """Refuse a fit that has not converged: the information holds at a maximum alone."""
        if self.residual > _FIXED_POINT:
            raise InvalidInputError(
                f"The fit has not converged: one more EM step would change a probability by {self.residual:.2g} of "
                "itself. Fit with a smaller tolerance and more iterations."
            )

    @cached_property
    def missing_traces(self) -> tuple[float, float]:
        """The trace of the whitened missing information N, and of the named weights times N, exactly."""
        open_documents = self.undecided
        sums = (
            open_documents.squares(self.model)
            if isinstance(open_documents, Undecided)
            else open_documents.total("squares", self.model)
        )
        classes = sums["classes"] / self.class_total
        plain = float((sums["words"] / self.word_totals).sum() + classes @ (1 / self.model.class_probabilities))
        named = float((sums["named"] / self.word_totals**2).sum() + classes.sum() / self.class_total)
        return plain, self.total_weight * named

    def missing(self, block: FloatArray, out: FloatArray) -> None:
        """Write the product of the whitened missing information, summed over the samples, into `out`."""
        words, classes = self._split(block)
        word_out, class_out = self._split(out)
        class_scale = (1 / (self._class_roots * np.sqrt(self.class_total)))[:, None]
        if isinstance(self.undecided, Undecided):
            self.undecided.write_product(words, class_scale * classes, word_out, class_out, self._word_scale)
        else:
            scale = self._word_scale[:, :, None]
            sums = self.undecided.total("product", (scale * words, class_scale * classes))
            np.multiply(scale, sums["words"], out=word_out)
            class_out[...] = sums["classes"]
        class_out *= class_scale
        self.project(out)


def _require_suitable(model: MultinomialModel, samples: Samples) -> None:
    require_interior("class_probabilities", model.class_probabilities)
    require_interior("word_probabilities", model.word_probabilities)
    evidence = samples.evidence
    if evidence.is_ambiguous.any():
        raise InvalidInputError(
            f"{int(evidence.is_ambiguous.sum())} sample(s) have candidate sets; matrix-free information knows labeled"
            " and unlabeled samples only. Hide them, or use observed_information if the model is small."
        )
    if not evidence.is_unlabeled.any():
        raise InvalidInputError("Every sample is labeled, so nothing is missing; the complete information is all.")
