"""Accuracies in units people pay for: errors and log-losses as they will be measured."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.special

from labelworth.arrays import FloatArray
from labelworth.criteria.classification_error import Inputs, ScoredInputs, variances_of
from labelworth.data.samples import Samples
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.dense import DenseInformation
from labelworth.models.protocol import AnyModel
from labelworth.tradeoff.accuracy import Source

_MOST_ENUMERATED = 5000
_MOST_DOCUMENTS = 2000
_N_DRAWS = 128


@dataclass(frozen=True, eq=False)
class ErrorAccuracy:
    r"""The share of wrong predictions, by the delta method: that of the true model and what estimation adds.

    See `labelworth.criteria.classification_error.excess_error`; here the scores of the documents and the random
    directions are computed once, and every design is a product.
    """

    model: AnyModel  # Taken for true.
    information: DenseInformation
    documents: Samples  # Averaged over where there are too many distinct ones to enumerate.
    held_labeled: float = 0.0
    held_unlabeled: float = 0.0
    adds_level: bool = True  # Whether the error of the true model is added; else it is the excess alone.
    is_alone: bool = False  # Whether labeled documents are the only arm.
    seed: int = 0  # Of the random directions, with more than two classes.
    reason: str = "The information is known at every labeled fraction, so the error of every design follows."
    _last: dict[bytes, tuple[float, float]] = field(default_factory=dict, init=False, repr=False)

    @property
    def arms(self) -> tuple[str, ...]:
        """A labeled example, an unlabeled one."""
        return ("everything",) if self.is_alone else ("everything", "nothing")

    @property
    def labels_per_sample(self) -> FloatArray:
        return np.array([1.0, 0.0])[: len(self.arms)]

    @property
    def criterion(self) -> str:
        """Error, or excess error."""
        return "error" if self.adds_level else "excess_error"

    @property
    def source(self) -> Source:
        return "asymptotic"

    def error(self, counts: FloatArray) -> float:
        """The share of wrong predictions; infinite where the model is not identified."""
        return self._figure(counts)[0]

    def standard_error(self, counts: FloatArray) -> float | None:
        """Over the documents and random directions; None where both were summed over."""
        if self._inputs.is_exact and not self._scored.draws.size:
            return None
        return self._figure(counts)[1]

    def _figure(self, counts: FloatArray) -> tuple[float, float]:
        key = np.asarray(counts, dtype=np.float64).tobytes()
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._computed(counts)
        return self._last[key]

    def _computed(self, counts: FloatArray) -> tuple[float, float]:
        total = np.array([self.held_labeled + float(counts[0]), self.held_unlabeled])
        if not self.is_alone:
            total[1] += float(counts[1])
        if self.information.point(CRITERIA["log_volume"], total) is None:
            return np.inf, np.inf
        lost = self._scored.lost(variances_of(self.information, total))
        value = float(self._inputs.weights @ lost.mean(axis=1))
        return value + (self.level if self.adds_level else 0.0), self._noise(lost)

    @property
    def level(self) -> float:
        """The error of the true model."""
        return float(self._inputs.weights @ (1 - self._inputs.posterior.max(axis=1)))

    @cached_property
    def _inputs(self) -> Inputs:
        enumerated = Inputs.enumerated(self.model, _MOST_ENUMERATED)
        if enumerated is not None:
            return enumerated
        rng = np.random.default_rng([self.seed, 2])
        rows = np.sort(rng.permutation(self.documents.n_samples)[:_MOST_DOCUMENTS])
        return Inputs.of(self.model, self.documents.take(rows))

    @cached_property
    def _scored(self) -> ScoredInputs:
        d = self.information.n_parameters
        draws = np.empty((d, 0))
        if len(self.model.classes) > 2:
            half = np.random.default_rng([self.seed, 3]).standard_normal((d, _N_DRAWS // 2))
            # Every direction with its opposite: what is odd in it cancels.
            draws = np.concatenate([half, -half], axis=1)
        return ScoredInputs.of(self.model, self._inputs, self.information, draws)

    def _noise(self, lost: FloatArray) -> float:
        """Over the documents, unless all there are were summed over, and over pairs of opposite directions."""
        weights, by_document = self._inputs.weights, lost.mean(axis=1)
        center = float(weights @ by_document)
        variance = 0.0 if self._inputs.is_exact else float(weights**2 @ np.square(by_document - center))
        half = lost.shape[1] // 2
        if half >= 2:
            pairs = weights @ (lost[:, :half] + lost[:, half:]) / 2
            variance += float(pairs.var(ddof=1)) / half
        return float(np.sqrt(variance))


def entropy(model: AnyModel, documents: Samples) -> float:
    """H(y | x) in nats: the log-loss of the true model."""
    inputs = Inputs.enumerated(model, _MOST_ENUMERATED) or Inputs.of(model, documents)
    return float(inputs.weights @ scipy.special.entr(inputs.posterior).sum(axis=1))
