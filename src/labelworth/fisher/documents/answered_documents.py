r"""What answers leave missing of documents with any number of words: products with vectors, no matrix.

Given a document and an answer z the class has probabilities :math:`r_z \propto p \circ L(z | \cdot)`, and the
complete score of the model is one of K vectors :math:`S_k`. So what an arm leaves missing of one document is

.. math::

    S' B_a S, \qquad B_a = \operatorname{diag}(p) - \sum_z P(z | x)\, r_z r_z'

a K x K matrix between two products with its words: the answers cost nothing beyond the matrix, and a design, a
weighted sum of arms, costs what one arm does. docs/derivations/channels.md, section 4.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray
from labelworth.channels.arm import Outcomes
from labelworth.data.counts import as_counts
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.fisher.documents.channels import ArmSet
from labelworth.fisher.documents.count_whitening import CountWhitening
from labelworth.fisher.documents.population import chunks
from labelworth.models.classes.responsibilities import condition

_DECIDED = 1e-15
"""A document whose other classes have less than this together leaves nothing missing."""
_MOST_NUMBERS = 2e8
"""How many numbers the matrices of all documents and arms may be: 1.6 GB."""


@dataclass(frozen=True, eq=False)
class AnsweredDocuments:
    """Documents whose class is open, with what the answers of every arm leave of that."""

    whitening: CountWhitening
    arms: ArmSet
    counts: sp.csr_array  # (n, V): Of the documents that leave anything missing.
    posterior: FloatArray  # (n, K): p(y | x).
    shares: FloatArray  # (n,): What each counts; those of all documents, the decided ones too, sum to one.
    n_decided: int
    class_shares: FloatArray  # (K,): Of all documents.

    @classmethod
    def of(
        cls, whitening: CountWhitening, arms: ArmSet, samples: Samples, shares: FloatArray | None = None
    ) -> "AnsweredDocuments":
        """Documents that each count their share, all alike where none is given; labels are not looked at.

        Raises
        ------
        InvalidInputError
            If there are too many of them for so many arms and classes.
        """
        hidden = samples.hide()
        posterior, _ = condition(whitening.model.log_joint(hidden), hidden.evidence)
        each = np.full(len(posterior), 1 / len(posterior)) if shares is None else shares
        is_open = (posterior.sum(axis=1) - posterior.max(axis=1) > _DECIDED) & (each > 0)
        numbers = float(is_open.sum()) * len(arms.arms) * posterior.shape[1] ** 2
        if numbers > _MOST_NUMBERS:
            raise InvalidInputError(
                f"What the answers of {len(arms.arms)} kinds leave open of {int(is_open.sum()):,} documents of "
                f"{posterior.shape[1]} classes takes {numbers:.2g} numbers; up to {_MOST_NUMBERS:.2g} are kept. Use "
                "fewer kinds or fewer documents."
            )
        counts = sp.csr_array(as_counts(hidden.counts))[np.flatnonzero(is_open)]
        return cls(
            whitening,
            arms,
            counts,
            posterior[is_open],
            each[is_open],
            int((~is_open).sum()),
            each @ posterior,
        )

    @cached_property
    def left(self) -> FloatArray:
        """B of every arm and document, (n_arms, n, K, K)."""
        n, n_classes = self.posterior.shape
        left = np.zeros((len(self.arms.arms), n, n_classes, n_classes))
        for index, answers in enumerate(self.arms.answers):
            if not answers.has_gold:
                for part in chunks(n, 2 * len(answers.likelihood) * n_classes):
                    left[index, part] = _left_open(self.posterior[part], answers)
        return left

    @cached_property
    def _columns(self) -> sp.csr_array:
        """The counts by words: a product with it takes no turning over."""
        return sp.csr_array(self.counts.T)

    def mixed(self, counts: FloatArray) -> FloatArray:
        """What a design leaves, (n, K, K)."""
        return np.tensordot(counts, self.left, axes=1)

    def inner(self, block: FloatArray) -> FloatArray:
        """S_k' v of every document, class and vector of a whitened block (size, b): (n, K, b)."""
        words, classes = self.whitening.log_change_blocks(block)
        n_classes, n_vectors = classes.shape
        products = self.counts @ words.reshape(-1, n_classes * n_vectors)
        return np.asarray(products.reshape(-1, n_classes, n_vectors) + classes)

    def gathered(self, weights: FloatArray) -> FloatArray:
        """The sum over documents of S_k times their weights (n, K, b), whitened: (size, b)."""
        n_vectors = weights.shape[2]
        words = self._columns @ weights.reshape(len(weights), -1)
        return self.whitening.whitened_blocks(words.reshape(-1, weights.shape[1], n_vectors), weights.sum(axis=0))

    def missing(self, left: FloatArray, block: FloatArray) -> FloatArray:
        """The product of what is missing per sample, of a mixture (n, K, K), with a whitened block (size, b).

        In units in which the complete information of one sample is the identity.
        """
        scale = self.whitening.total_weight * self.shares
        return self.gathered(scale[:, None, None] * np.matmul(left, self.inner(block)))

    def missing_trace(self, left: FloatArray) -> float:
        """The trace of the same, exactly: the words of one class alone move with each S_k."""
        white, counts = self.whitening, self.counts
        spread = self.shares[:, None] * np.einsum("nkk->nk", left)
        lengths = np.asarray(counts.sum(axis=1)).reshape(-1, 1)
        squares = sp.csr_array(counts.multiply(counts))
        words = (squares @ (1 / white.model.word_probabilities.T) - lengths**2) / white.word_totals
        classes = spread.sum(axis=0) / (white.class_total * white.model.class_probabilities)
        return float(white.total_weight * ((spread * words).sum() + classes.sum()))

    def missing_root(self, signs: FloatArray) -> FloatArray:
        r"""Vectors whose covariance is what unlabeled samples leave missing, (size, b), from signs (n, K, b).

        With :math:`F = \operatorname{diag}(\sqrt p)(1 - \sqrt p \sqrt p')`, :math:`F F' = B`.
        """
        roots = np.sqrt(self.posterior)[:, :, None]
        turned = roots * (signs - roots * (roots * signs).sum(axis=1, keepdims=True))
        scale = np.sqrt(self.whitening.total_weight * self.shares)
        return self.gathered(scale[:, None, None] * turned)

    @cached_property
    def nuisance(self) -> tuple[FloatArray, FloatArray]:
        """Of channels' parameters: beside the model's, (n_arms, size, p), and their own, (n_arms, p, p)."""
        p, (n, n_classes) = self.arms.nuisance.size, self.posterior.shape
        crossed = np.zeros((len(self.arms.arms), self.whitening.size, p))
        own = np.zeros((len(self.arms.arms), p, p))
        if not p:
            return crossed, own
        scale = np.sqrt(self.whitening.total_weight)
        for index, answers in enumerate(self.arms.answers):
            own[index] = answers.complete_information(self.class_shares)
            if answers.has_gold or not answers.scores.any():
                continue
            weights = np.zeros((n, n_classes, p))
            for part in chunks(n, 3 * len(answers.likelihood) * n_classes * p):
                weights[part], lost = _lost_of_channels(self.posterior[part], self.shares[part], answers)
                own[index] -= lost
            crossed[index] = -scale * self.gathered(weights)
        return crossed, own


def _given(posterior: FloatArray, answers: Outcomes) -> tuple[FloatArray, FloatArray]:
    """P(z | x), (n, A), and r(y | x, z), (n, A, K)."""
    joint = posterior[:, None, :] * answers.likelihood
    seen = joint.sum(axis=2)
    given = np.divide(joint, seen[:, :, None], out=np.zeros_like(joint), where=seen[:, :, None] > 0)
    return seen, given


def _left_open(posterior: FloatArray, answers: Outcomes) -> FloatArray:
    """diag(p) - sum_z P(z | x) r_z r_z', (n, K, K)."""
    seen, given = _given(posterior, answers)
    left = -np.matmul((seen[:, :, None] * given).transpose(0, 2, 1), given)
    diagonal = np.arange(posterior.shape[1])
    left[:, diagonal, diagonal] += posterior
    return np.asarray(left)


def _lost_of_channels(posterior: FloatArray, shares: FloatArray, answers: Outcomes) -> tuple[FloatArray, FloatArray]:
    """share times sum_z P(z | x) Cov(class, T | x, z), (n, K, p), and the sum of E[Var(T | x, z)], (p, p)."""
    seen, given = _given(posterior, answers)
    weights = (shares[:, None] * seen)[:, :, None] * given
    means = np.einsum("nak,akp->nap", given, answers.scores)
    crossed = np.einsum("nak,akp->nkp", weights, answers.scores) - np.einsum("nak,nap->nkp", weights, means)
    squares = np.einsum("ak,akp,akq->pq", weights.sum(axis=0), answers.scores, answers.scores)
    scaled = np.sqrt(weights.sum(axis=2))[:, :, None] * means
    flat = scaled.reshape(-1, scaled.shape[2])
    return crossed, squares - flat.T @ flat
