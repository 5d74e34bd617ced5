"""Accuracies in units people pay for: labels alone, log-losses and errors as they will be measured."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.special
from scipy.special import ndtr

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.outcomes import enumerate_outcomes, n_outcomes
from labelworth.fisher.spectral_sums import relative_information
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import AnyModel
from labelworth.tradeoff.accuracy import Source
from labelworth.tradeoff.curve_accuracy import CurveAccuracy

_MOST_ENUMERATED = 5000
_MOST_DOCUMENTS = 2000
_N_DRAWS = 128


@dataclass(frozen=True, eq=False)
class LabelsOnlyAccuracy:
    """The accuracy of labeled documents alone: the one arm is "everything".

    Attributes
    ----------
    with_unlabeled : CurveAccuracy
        Of labeled and unlabeled documents, in that order, with no unlabeled ones held.
    """

    with_unlabeled: CurveAccuracy

    @property
    def arms(self) -> tuple[str, ...]:
        """A labeled example."""
        return self.with_unlabeled.arms[:1]

    @property
    def labels_per_sample(self) -> FloatArray:
        """One."""
        return self.with_unlabeled.labels_per_sample[:1]

    @property
    def criterion(self) -> str:
        """That of the accuracy inside."""
        return self.with_unlabeled.criterion

    @property
    def source(self) -> Source:
        """That of the accuracy inside."""
        return self.with_unlabeled.source

    @property
    def reason(self) -> str:
        """That of the accuracy inside."""
        return self.with_unlabeled.reason

    @property
    def is_convex(self) -> bool:
        """On a line as everywhere."""
        return self.with_unlabeled.is_convex

    def error(self, counts: FloatArray) -> float:
        """Without unlabeled documents."""
        return self.with_unlabeled.error(_alone(counts))

    def standard_error(self, counts: FloatArray) -> float | None:
        """Of that figure."""
        return self.with_unlabeled.standard_error(_alone(counts))

    def slope(self, counts: FloatArray) -> FloatArray:
        """Along the one arm."""
        return self.with_unlabeled.slope(_alone(counts))[:1]

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """What so many labels leave open."""
        return self.with_unlabeled.open_directions(_alone(counts))


def _alone(counts: FloatArray) -> FloatArray:
    return np.array([float(counts[0]), 0.0])


@dataclass(frozen=True, eq=False)
class LogLossAccuracy(CurveAccuracy):
    """The log-loss that will be measured: what the true model pays, H(y | x), and what estimation adds.

    Attributes
    ----------
    level : float
        H(y | x) in nats.
    """

    level: float = 0.0

    def error(self, counts: FloatArray) -> float:
        """Level plus excess."""
        return self.level + super().error(counts)


@dataclass(frozen=True, eq=False)
class ErrorAccuracy:
    r"""The share of wrong predictions, by the delta method: that of the true model and what estimation adds.

    See `labelworth.criteria.classification_error.excess_error`; here the documents, their scores in the eigenbasis of
    the information and the random directions are laid out once, and every (n, labeled fraction) is a product.

    Attributes
    ----------
    model : Model
        Taken for true.
    information : FractionInformation
    documents : Samples
        Averaged over where there are too many distinct ones to enumerate.
    held_labeled, held_unlabeled : float
    adds_level : bool
        Whether the error of the true model is added; else it is the excess alone.
    is_alone : bool
        Whether labeled documents are the only arm.
    seed : int
        Of the random directions, with more than two classes.
    reason : str
    """

    model: AnyModel
    information: FractionInformation
    documents: Samples
    held_labeled: float = 0.0
    held_unlabeled: float = 0.0
    adds_level: bool = True
    is_alone: bool = False
    seed: int = 0
    reason: str = "The information is known at every labeled fraction, so the error of every design follows."
    _last: dict[bytes, tuple[float, float]] = field(default_factory=dict, init=False, repr=False)

    @property
    def arms(self) -> tuple[str, ...]:
        """A labeled example, an unlabeled one."""
        return ("everything",) if self.is_alone else ("everything", "nothing")

    @property
    def labels_per_sample(self) -> FloatArray:
        """One and none."""
        return np.array([1.0, 0.0])[: len(self.arms)]

    @property
    def criterion(self) -> str:
        """Error, or excess error."""
        return "error" if self.adds_level else "excess_error"

    @property
    def source(self) -> Source:
        """Asymptotic."""
        return "asymptotic"

    def error(self, counts: FloatArray) -> float:
        """The share of wrong predictions; infinite where the model is not identified."""
        return self._figure(counts)[0]

    def standard_error(self, counts: FloatArray) -> float | None:
        """Over the documents and random directions; None where both were summed over."""
        if self._laid.is_exact:
            return None
        return self._figure(counts)[1]

    def _figure(self, counts: FloatArray) -> tuple[float, float]:
        key = np.asarray(counts, dtype=np.float64).tobytes()
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._computed(counts)
        return self._last[key]

    def _computed(self, counts: FloatArray) -> tuple[float, float]:
        labeled, unlabeled = self.held_labeled + float(counts[0]), self.held_unlabeled
        n = labeled + unlabeled + (0.0 if self.is_alone else float(counts[1]))
        if n <= 0 or not self.information.identified(np.array([labeled / n]))[0]:
            return np.inf, np.inf
        laid = self._laid
        variances = 1 / (n * relative_information(self.information.pencil.values, labeled / n))
        lost = laid.lost(variances)
        value = float(laid.weights @ lost.mean(axis=1))
        return value + (self.level if self.adds_level else 0.0), laid.standard_error(lost)

    @property
    def level(self) -> float:
        """The error of the true model."""
        return float(self._laid.weights @ (1 - self._laid.posterior.max(axis=1)))

    @cached_property
    def _laid(self) -> "_Laid":
        count = n_outcomes(self.model)
        if count is not None and count <= _MOST_ENUMERATED:
            outcomes = enumerate_outcomes(self.model)
            documents, posterior, weights = outcomes.samples, outcomes.posterior, outcomes.probabilities
        else:
            rng = np.random.default_rng([self.seed, 2])
            rows = np.sort(rng.permutation(self.documents.n_samples)[:_MOST_DOCUMENTS])
            documents = self.documents.take(rows).hide()
            posterior, _ = condition(self.model.log_joint(documents), documents.evidence)
            weights = np.full(len(rows), 1 / len(rows))
        scores = self.model.class_scores(documents) @ self.information.pencil.vectors
        draws = np.empty((scores.shape[2], 0))
        if len(self.model.classes) > 2:
            rng = np.random.default_rng([self.seed, 3])
            half = rng.standard_normal((scores.shape[2], _N_DRAWS // 2))
            # Every direction with its opposite: what is odd in it cancels.
            draws = np.concatenate([half, -half], axis=1)
        enumerated = count is not None and count <= _MOST_ENUMERATED
        return _Laid(self.model.log_joint(documents), scores, posterior, weights, draws, enumerated)


@dataclass(frozen=True, eq=False)
class _Laid:
    """Documents laid out: log p(x, y) (n, K), scores in the eigenbasis (n, K, d), p(y | x), weights, directions."""

    log_joint: FloatArray
    scores: FloatArray
    posterior: FloatArray
    weights: FloatArray
    draws: FloatArray
    is_enumerated: bool

    @property
    def is_exact(self) -> bool:
        """Whether nothing was left to chance."""
        return self.is_enumerated and not self.draws.size

    def lost(self, variances: FloatArray) -> FloatArray:
        """What each document loses, (n, n_draws); with two classes in expectation, (n, 1)."""
        return self.drawn(variances) if self.draws.size else self.two_class(variances)

    def two_class(self, variances: FloatArray) -> FloatArray:
        """What each document is expected to lose, (n, 1)."""
        gradient = self.scores[:, 0] - self.scores[:, 1]
        spread = np.sqrt(np.square(gradient) @ variances)
        margin = np.abs(self.log_joint[:, 0] - self.log_joint[:, 1])
        lost = np.abs(self.posterior[:, 0] - self.posterior[:, 1]) * ndtr(-margin / spread)
        return np.asarray(lost[:, None])

    def drawn(self, variances: FloatArray) -> FloatArray:
        """What each document loses under every drawn estimate, (n, n_draws)."""
        directions = np.sqrt(variances)[:, None] * self.draws
        best = self.posterior.max(axis=1)
        highest, lost = None, np.zeros((len(best), directions.shape[1]))
        # Class by class: an argmax over so short an axis is many times slower.
        for place in range(self.posterior.shape[1]):
            moved = self.scores[:, place] @ directions
            moved += self.log_joint[:, place, None]
            if highest is None:
                highest, lost[:] = moved, (best - self.posterior[:, place])[:, None]
                continue
            wins = moved > highest
            np.copyto(highest, moved, where=wins)
            np.copyto(lost, (best - self.posterior[:, place])[:, None], where=wins)
        return lost

    def standard_error(self, lost: FloatArray) -> float:
        """Over the documents, unless all there are were summed over, and over pairs of opposite directions."""
        by_document = lost.mean(axis=1)
        center = float(self.weights @ by_document)
        variance = 0.0 if self.is_enumerated else float(self.weights**2 @ np.square(by_document - center))
        half = lost.shape[1] // 2
        if half >= 2:
            pairs = self.weights @ (lost[:, :half] + lost[:, half:]) / 2
            variance += float(pairs.var(ddof=1)) / half
        return float(np.sqrt(variance))


def entropy(model: AnyModel, documents: Samples) -> float:
    """H(y | x) in nats: the log-loss of the true model."""
    count = n_outcomes(model)
    if count is not None and count <= _MOST_ENUMERATED:
        outcomes = enumerate_outcomes(model)
        posterior, weights = outcomes.posterior, outcomes.probabilities
    else:
        posterior, _ = condition(model.log_joint(documents.hide()), documents.hide().evidence)
        weights = np.full(len(posterior), 1 / len(posterior))
    return float(weights @ scipy.special.entr(posterior).sum(axis=1))
