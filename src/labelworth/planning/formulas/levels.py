"""Accuracies in units people pay for: errors and log-losses as they will be measured."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import entr, ndtr

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.documents.population import enumerate_outcomes, n_outcomes
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import AnyModel
from labelworth.tradeoff.accuracy import Source

MOST_ENUMERATED = 5000
MOST_DOCUMENTS = 2000
_N_DRAWS = 128


@dataclass(frozen=True, eq=False)
class Inputs:
    """The x to average over, p(y | x), and how much each counts."""

    samples: Samples
    posterior: FloatArray  # (n, K)
    weights: FloatArray  # (n,)
    is_exact: bool  # Whether these are all there are.

    @classmethod
    def enumerated(cls, model: AnyModel, most: int) -> "Inputs | None":
        """All of them; None if they are more than `most`."""
        count = n_outcomes(model)
        if count is None or count > most:
            return None
        outcomes = enumerate_outcomes(model)
        return cls(outcomes.samples, outcomes.posterior, outcomes.probabilities, True)

    @classmethod
    def of(cls, model: AnyModel, samples: Samples) -> "Inputs":
        """These, each counting the same."""
        hidden, count = samples.hide(), samples.n_samples
        posterior, _ = condition(model.log_joint(hidden), hidden.evidence)
        return cls(hidden, posterior, np.full(count, 1 / count), False)


@dataclass(frozen=True, eq=False)
class ScoredInputs:
    r"""What estimates that are :math:`N(\theta, Cov)` lose on some x, for every Cov that is diagonal in one basis.

    Two classes, with log-odds :math:`t(x)` whose gradient is the difference of the class scores:

    .. math::

        |2 \eta(x) - 1| \; \Phi\bigl(-|t(x)| / \operatorname{sd} t(x)\bigr), \qquad
        \operatorname{sd}^2 = \nabla t' \, Cov \, \nabla t

    More classes: draw estimates, move every log p(x, y) along its gradient, classify, and count what the chosen class
    falls short of the best, :math:`\max_y p(y | x) - p(\hat y | x)`. No refits. For two classes that would give the
    same number.
    """

    log_joint: FloatArray  # (n, K): log p(x, y).
    scores: FloatArray  # (n, K, d): In the basis in which the information of labels and of none are diagonal.
    posterior: FloatArray  # (n, K)
    draws: FloatArray  # (d, n_draws): Standard normal directions; none with two classes.

    @classmethod
    def of(cls, model: AnyModel, inputs: Inputs, information: DenseInformation, draws: FloatArray) -> "ScoredInputs":
        """Carry the scores to the basis of the information of single samples."""
        basis = information.whitened
        scores = model.class_scores(inputs.samples) @ basis.vectors
        directions = basis.carried(draws) if draws.size else draws
        return cls(model.log_joint(inputs.samples), scores, inputs.posterior, directions)

    def lost(self, variances: FloatArray) -> FloatArray:
        """What each x loses under every drawn estimate, (n, n_draws); with two classes in expectation, (n, 1)."""
        return self._drawn(variances) if self.draws.size else self._expected(variances)

    def _expected(self, variances: FloatArray) -> FloatArray:
        gradient = self.scores[:, 0] - self.scores[:, 1]
        spread = np.sqrt(np.square(gradient) @ variances)
        margin = np.abs(self.log_joint[:, 0] - self.log_joint[:, 1])
        lost = np.abs(self.posterior[:, 0] - self.posterior[:, 1]) * ndtr(-margin / spread)
        return np.asarray(lost[:, None])

    def _drawn(self, variances: FloatArray) -> FloatArray:
        directions = np.sqrt(variances)[:, None] * self.draws
        best = self.posterior.max(axis=1)
        highest, lost = None, np.zeros((len(best), directions.shape[1]))
        # Class by class: an argmax over so short an axis is many times slower.
        for code in range(self.posterior.shape[1]):
            moved = self.scores[:, code] @ directions
            moved += self.log_joint[:, code, None]
            if highest is None:
                highest, lost[:] = moved, (best - self.posterior[:, code])[:, None]
                continue
            wins = moved > highest
            np.copyto(highest, moved, where=wins)
            np.copyto(lost, (best - self.posterior[:, code])[:, None], where=wins)
        return lost


def variances_of(information: DenseInformation, counts: FloatArray) -> FloatArray:
    """Of estimates from so many labeled and unlabeled samples, (d,), in the basis in which both are diagonal."""
    return 1 / np.asarray(counts @ information.whitened.arms)


@dataclass(frozen=True, eq=False)
class ErrorAccuracy:
    """The share of wrong predictions, by the delta method: that of the true model and what estimation adds.

    The scores of the documents and the random directions (see `ScoredInputs`) are computed once; every design is a
    product. First order in the estimation error, as every criterion: right where estimates are close enough for
    log-odds to move along their gradient.
    """

    model: AnyModel  # Taken for true.
    information: DenseInformation
    documents: Samples  # Averaged over where there are too many distinct ones to enumerate.
    held_labeled: float = 0.0
    adds_level: bool = True  # Whether the error of the true model is added; else it is the excess alone.
    is_alone: bool = False  # Whether labeled documents are the only arm.
    seed: int = 0  # Of the random directions, with more than two classes.
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
        kept = self._last.get(key)
        if kept is None:
            # Another thread may forget it at once.
            kept = self._computed(counts)
            self._last.clear()
            self._last[key] = kept
        return kept

    def _computed(self, counts: FloatArray) -> tuple[float, float]:
        total = np.array([self.held_labeled + float(counts[0]), 0.0 if self.is_alone else float(counts[1])])
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
        enumerated = Inputs.enumerated(self.model, MOST_ENUMERATED)
        if enumerated is not None:
            return enumerated
        rng = np.random.default_rng([self.seed, 2])
        rows = np.sort(rng.permutation(self.documents.n_samples)[:MOST_DOCUMENTS])
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
    inputs = Inputs.enumerated(model, MOST_ENUMERATED) or Inputs.of(model, documents)
    return float(inputs.weights @ entr(inputs.posterior).sum(axis=1))
