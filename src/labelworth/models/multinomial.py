"""How multinomial models are fitted: expected counts, smoothed shares."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.counts import as_counts, document_lengths
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.kernels.tables import sum_of_logarithms
from labelworth.models.doors import (
    require_classes,
    require_feature_names,
    require_features,
    require_rows_for,
    require_strength,
)
from labelworth.models.multinomial_model import MultinomialModel
from labelworth.models.multinomial_pass import CountsPass
from labelworth.models.probability_rows import smoothed_rows
from labelworth.models.protocol import Expectation, Pass

__all__ = ["MultinomialFamily", "MultinomialModel", "MultinomialPass"]

_LONGEST = 1e15  # beyond it a double cannot count by ones


class MultinomialPass:
    """Documents laid out for passes under multinomial models."""

    def __init__(self, counts_pass: CountsPass) -> None:
        self._counts_pass = counts_pass

    def expectation(self, model: MultinomialModel) -> Expectation:
        """Expected class weights (K,) and word counts (K, V)."""
        class_weights, word_counts, log_likelihood = self._counts_pass.expectation(
            model.log_class_probabilities, model.word_probabilities
        )
        return Expectation({"class_weights": class_weights, "word_counts": word_counts}, log_likelihood)


@dataclass(frozen=True, eq=False)
class MultinomialFamily:
    r"""Multinomial models with a Dirichlet prior.

    The objective gains :math:`a \sum_k \log \pi_k + \alpha \sum_{kw} \log \theta_{kw}`, so that the maximizer for
    labeled data is :math:`\hat\theta_{kw} = (N_{kw} + \alpha) / (N_k + \alpha V)`: add-alpha smoothing.

    Attributes
    ----------
    classes : tuple
        What the class codes stand for.
    n_features : int
        The size of the vocabulary, V.
    smoothing : float
        :math:`\alpha`; 0 for plain maximum likelihood.
    class_smoothing : float
        :math:`a`, the same for the class probabilities.
    lengths : LengthDistribution, optional
        :math:`q(m)`; read off the documents when absent (fractional lengths are rounded).
    feature_names : tuple of str, optional
        The words.
    """

    classes: tuple[Hashable, ...]
    n_features: int
    smoothing: float = 1.0
    class_smoothing: float = 1.0
    lengths: LengthDistribution | None = None
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.n_features < 1:
            raise InvalidInputError(f"n_features must be at least 1. Got {self.n_features} instead.")
        object.__setattr__(self, "classes", require_classes(self.classes))
        object.__setattr__(self, "smoothing", require_strength("smoothing", self.smoothing))
        object.__setattr__(self, "class_smoothing", require_strength("class_smoothing", self.class_smoothing))
        names = require_feature_names(self.feature_names, self.n_features)
        object.__setattr__(self, "feature_names", names)

    @classmethod
    def for_samples(cls, samples: Samples, *, smoothing: float = 1.0, class_smoothing: float = 1.0) -> Self:
        """The family with the classes, columns and names of `samples`."""
        return cls(
            samples.evidence.classes,
            samples.n_features,
            smoothing,
            class_smoothing,
            feature_names=samples.feature_names,
        )

    def adapted(self, samples: Samples, row_weights: FloatArray) -> Self:
        """Read the distribution of lengths off the documents that have words, each counting its row weight."""
        if self.lengths is not None:
            return self
        totals = document_lengths(as_counts(samples.counts))
        _require_countable(totals)
        worded = totals > 0
        if not worded.any():
            raise InvalidInputError(
                "Every document is empty, so there is nothing to learn from; check the vocabulary."
            )
        whole = np.maximum(np.rint(totals[worded]), 1.0).astype(np.int64)
        lengths, place = np.unique(whole, return_inverse=True)
        shares = np.bincount(place, weights=row_weights[worded])
        return replace(self, lengths=LengthDistribution(lengths, shares / shares.sum()))

    def prepare(self, samples: Samples, row_weights: FloatArray) -> Pass[MultinomialModel]:
        """Check the documents and lay them out."""
        require_features(samples, self.n_features)
        require_rows_for(samples, self.classes, row_weights)
        counts = as_counts(samples.counts)
        _require_countable(document_lengths(counts))
        evidence = samples.evidence
        return MultinomialPass(CountsPass(counts, evidence.codes, evidence.weights, row_weights))

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

    def log_prior(self, model: MultinomialModel) -> float:
        """Smoothing times the sum of the log probabilities; 0 without smoothing."""
        total = 0.0
        if self.class_smoothing:
            total += self.class_smoothing * float(model.log_class_probabilities.sum())
        if self.smoothing:
            total += self.smoothing * sum_of_logarithms(model.word_probabilities)
        return total

    def prior_curvature(self, model: MultinomialModel) -> FloatArray:
        """Minus the Hessian of the log prior: that of `smoothing` more counts of every word, (d, d)."""
        return model.curvature(
            np.full(len(self.classes), self.class_smoothing),
            np.full((len(self.classes), self.n_features), self.smoothing),
        )

    def smoother(self, factor: float) -> Self:
        """The same family with priors `factor` times as strong; as strong as `factor` where there is none."""
        return replace(
            self,
            smoothing=factor * (self.smoothing or 1.0),
            class_smoothing=factor * (self.class_smoothing or 1.0),
        )

    def _model(self, class_probabilities: FloatArray, word_probabilities: FloatArray) -> MultinomialModel:
        if self.lengths is None:
            raise InvalidInputError(
                "The family knows no document lengths; give lengths=, or use adapted(samples, ..)."
            )
        return MultinomialModel(
            self.classes, class_probabilities, word_probabilities, self.lengths, self.feature_names
        )


def _require_countable(lengths: FloatArray) -> None:
    longest = float(lengths.max(initial=0.0))
    if longest > _LONGEST:
        raise InvalidInputError(
            f"The longest document has {longest:g} words, beyond what a double can count; rescale the documents."
        )
