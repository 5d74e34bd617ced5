"""What a simulation needs of a model: fit it, predict with it, draw labels from it, and tell how wrong it is."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Literal, Protocol, Self

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.protocol import Data, DataT
from labelworth.errors import InvalidInputError
from labelworth.evaluation.temperature import best_temperature
from labelworth.policies.choosing import By
from labelworth.policies.policy import Policy

Mode = Literal["labels-only", "semi-supervised"]
LearnerKind = Literal["generative", "vectors", "linear", "local", "sequences"]
"""Whose learning curves are alike: models of p(x, y), of words and of vectors; linear borders; neighbors, trees, all
else; sequences."""
MODES: tuple[Mode, Mode] = ("labels-only", "semi-supervised")


class Prediction(Protocol):
    """What a model says of data whose labels it is not shown."""

    @property
    def best(self) -> IntArray:
        """The predicted label of every position, as codes, (n_positions,)."""

    def log_posteriors(self, temperature: float) -> FloatArray:
        """log p(label | x) at every position, (n_positions, K), with log-odds divided by the temperature."""

    def draw(self, temperature: float, rng: np.random.Generator) -> IntArray:
        """Labels drawn given x with those log-odds, (n_positions,)."""


@dataclass(frozen=True, eq=False)
class Source:
    """Labels for all of the data from one point of view, and how far the pilot bears them out."""

    prediction: Prediction
    error: float | None = None  # Cross-validated on the pilot; None: that of the learner itself, which has points.
    # Whether labels are drawn from p(label | x) instead of being the most probable ones: a model of p(x, y) that was
    # fitted to all of the data tells from it how far its classes overlap. Others are only more or less sure.
    is_drawn: bool = False


@dataclass(frozen=True, eq=False)
class Learner(ABC, Generic[DataT]):
    """A way to learn, frozen: the kind of model, its prior, and what a sample without label counts."""

    mode: Mode = field(default="semi-supervised", kw_only=True)  # Whether samples without labels are learned from.
    modes: tuple[Mode, ...] = field(default=MODES, kw_only=True)  # The ways it can learn: a CRF has only one.

    in_processes: ClassVar[bool] = False  # Whether fits may hold on to the interpreter: then processes pay.
    n_other_sources: ClassVar[int] = 0  # From how many sides labels are simulated beside its own.

    @property
    @abstractmethod
    def kind(self) -> LearnerKind:
        """Whose constants its forecasts take."""

    @property
    def is_joint(self) -> bool:
        """Whether it is a model of p(x, y) of rows: chosen rows alone would mislead it."""
        return self.kind in ("generative", "vectors")

    @property
    def learns_answers(self) -> bool:
        """Whether it learns from answers that may be wrong; its ``channels`` are what is known of who answers."""
        return False

    @property
    def worth_modes(self) -> tuple[Mode, ...]:
        """In which ways of learning the worth of a row is known; none: in no way."""
        return ()

    def failure(self, data: DataT, model: Any = None) -> str:
        """Why it cannot be fitted to the labels of `data`, or a fit of it not predict these; empty: it can."""
        return ""

    @property
    def has_scores(self) -> bool:
        """Whether predictions say how sure they are, and not only what they are."""
        return True

    def sources(self, data: DataT, workers: int | None = 1) -> dict[str, Source]:
        """What takes the place of the truth in simulations, by name; unless a learner knows better, its own fits."""
        return own_sources(self, data)

    def in_mode(self, mode: Mode) -> Self:
        """The same learner with or without the unlabeled samples."""
        return replace(self, mode=mode)

    def fit(self, data: DataT, start: Any = None) -> Any:
        """The fitted model, found from `start` where one is given and samples without labels count."""
        if self.mode == "labels-only":
            return self.fit_model(data.take(data.is_labeled), None)
        return self.fit_model(data, start)

    def work(self, n_labeled: int, n_samples: int) -> int:
        """What a fit takes, relative to others: the samples that are learned from."""
        return n_labeled if self.mode == "labels-only" else n_samples

    @abstractmethod
    def fit_model(self, data: DataT, start: Any) -> Any:
        """The model fitted to all of `data`."""

    @abstractmethod
    def predict(self, model: Any, data: DataT) -> Prediction:
        """Predict all positions; labels that are there are not looked at."""

    def scores(self, by: By, model: Any, data: DataT) -> FloatArray:
        """By what rows are chosen, (n_samples,): the larger, the sooner; of rows without a label.

        Uncertainty is one less the largest probability of a class, as the fitted model says it.

        Raises
        ------
        InvalidInputError
            If the learner has no such score.
        """
        if by == "worth":
            return self.worths(model, data)
        if by == "random":
            return np.ones(data.n_samples)
        if not self.has_scores:
            raise InvalidInputError(
                "To choose rows by uncertainty the model must say how sure it is, and this one only names classes: "
                "take one with predict_proba or decision_function."
            )
        log_posteriors = self.predict(model, data).log_posteriors(1.0)
        return np.asarray(np.maximum(-np.expm1(log_posteriors.max(axis=1)), 0.0))

    def worths(self, model: Any, data: DataT) -> FloatArray:
        """By how many nats per row the label of every row lowers the excess log-loss, (n_samples,)."""
        raise InvalidInputError(
            "The worth of a row is known of models of p(x, y) that learn from unlabeled rows (multinomial, "
            "bernoulli, gaussian) and of logistic regression. Take one of these, as model='multinomial', or choose "
            "by uncertainty with this one."
        )


def own_sources(learner: Learner[DataT], data: DataT) -> dict[str, Source]:
    """The fits of all modes, by the name of the mode."""
    learners = {mode: learner.in_mode(mode) for mode in learner.modes}
    return {mode: Source(own.predict(own.fit(data), data)) for mode, own in learners.items()}


def keep_labels(data: DataT, kept: IntArray, policy: Policy | None = None, seed: int = 0) -> DataT:
    """Forget all labels but those of the samples `kept`; of these, the ones that `policy` would not have bought.

    One seed draws the same positions whatever is kept, so that larger sets contain smaller ones.
    """
    hidden = np.ones(data.evidence.n_samples, dtype=bool)
    hidden[data.positions_of(kept)] = False
    if policy is not None:
        hidden |= ~policy.draw(data, seed).labeled
    return data.hide(hidden)


def known_codes(data: Data) -> IntArray:
    """The label of every position, -1 where it is not known for sure."""
    return np.maximum(data.evidence.codes, -1)


_PRECISION = 0.02  # of the logarithm of a temperature: log-losses are flat around the best one


def honest_temperature(predictions: Sequence[Prediction], codes: Sequence[IntArray]) -> float:
    """The temperature of least mean log-loss over all positions whose label is known, between 0.05 and 1000."""

    def loss(temperature: float) -> float:
        losses = [
            code_losses(prediction.log_posteriors(temperature), known)
            for prediction, known in zip(predictions, codes, strict=True)
        ]
        return float(np.nanmean(np.concatenate(losses)))

    return best_temperature(loss, precision=_PRECISION)


def code_losses(log_posteriors: FloatArray, codes: IntArray) -> FloatArray:
    """-log p of the label, position by position; NaN where it is not known."""
    losses: FloatArray = -log_posteriors[np.arange(len(codes)), codes]
    return np.where(codes >= 0, losses, np.nan)


def code_errors(best: IntArray, codes: IntArray) -> FloatArray:
    """1 where the prediction is wrong, 0 where it is right, NaN where the label is not known."""
    return np.where(codes >= 0, best != codes, np.nan).astype(np.float64)


def expected_error(best: IntArray, probabilities: FloatArray) -> float:
    """The expected share of wrong predictions when labels are drawn with these probabilities, (n_positions, K)."""
    return float(1.0 - probabilities[np.arange(len(best)), best].mean())


def expected_log_loss(prediction: Prediction, probabilities: FloatArray) -> float:
    """The mean log-loss to be expected under these probabilities, at the temperature where it is least."""

    def loss(temperature: float) -> float:
        log_posteriors = prediction.log_posteriors(temperature)
        # 0 log 0 is 0: what is never drawn costs nothing.
        terms = np.where(probabilities > 0, probabilities * log_posteriors, 0.0)
        return float(-terms.sum(axis=1).mean())

    return loss(best_temperature(loss, precision=_PRECISION))
