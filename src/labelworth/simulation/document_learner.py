"""Learners of classes: any family that EM fits, on documents or vectors."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic

import numpy as np
from scipy.special import log_softmax

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import fit
from labelworth.models.protocol import Family, ModelT
from labelworth.policies.policy import Policy
from labelworth.simulation.learner import MODES, Mode

_TOLERANCE = 1e-2  # nats per row: predictions settle long before parameters do
_MOST_STEPS = 20  # accelerated ones; later steps changed errors by 0.013 at most on news texts


@dataclass(frozen=True, eq=False)
class ClassPrediction:
    """Predictions of rows.

    Attributes
    ----------
    log_joint : array of shape (n, K)
        log p(x, y), up to a constant of x.
    """

    log_joint: FloatArray

    @cached_property
    def best(self) -> IntArray:
        """The most probable class of every row."""
        return np.asarray(self.log_joint.argmax(axis=1))

    def log_posteriors(self, temperature: float) -> FloatArray:
        """log p(y | x) with log-odds divided by the temperature."""
        return np.asarray(log_softmax(self.log_joint / temperature, axis=1))

    def draw(self, temperature: float, rng: np.random.Generator) -> IntArray:
        """Classes drawn row by row, by inversion: one uniform number each."""
        shares = np.exp(self.log_posteriors(temperature)).cumsum(axis=1)
        uniforms = rng.random(len(shares)) * shares[:, -1]
        return np.asarray((uniforms[:, None] >= shares).sum(axis=1))


@dataclass(frozen=True, eq=False)
class ClassLearner(Generic[ModelT]):
    """EM on rows with and without labels.

    Attributes
    ----------
    family : Family
        The kind of model and its prior.
    unlabeled_weight : float
        What a row without label counts in the semi-supervised mode.
    start_smoothing : float
        How many times stronger the prior is for the model EM starts from.
    mode : "labels-only" or "semi-supervised"
    tolerance : float
        Of EM, in nats per row; forecasts need predictions, which settle long before parameters do.
    max_iterations : int
        Steps of EM at most.
    """

    family: Family[ModelT]
    unlabeled_weight: float = 1.0
    start_smoothing: float = 1.0
    mode: Mode = "semi-supervised"
    tolerance: float = _TOLERANCE
    max_iterations: int = _MOST_STEPS

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Both."""
        return MODES

    def in_mode(self, mode: Mode) -> "ClassLearner[ModelT]":
        """The same learner with or without the unlabeled rows."""
        return replace(self, mode=mode)

    def places_per_unit(self, data: Samples) -> IntArray:
        """One place per row."""
        return np.ones(data.n_samples, dtype=np.int64)

    def codes(self, data: Samples) -> IntArray:
        """The class of every row, -1 where it is not known."""
        return np.maximum(data.evidence.codes, -1)

    def take(self, data: Samples, units: IntArray) -> Samples:
        """Keep these rows."""
        return data.take(units)

    def labeled(self, data: Samples, codes: IntArray) -> Samples:
        """The same rows with these classes."""
        return replace(data, evidence=Evidence(codes, data.evidence.classes))

    def hide(self, data: Samples, kept: IntArray, policy: Policy | None = None, seed: int = 0) -> Samples:
        """Forget the class of all rows but `kept`; a row is labeled whole, so there is no policy to draw by."""
        if policy is not None:
            raise InvalidInputError("Rows have one label each: policies other than everything are for sequences.")
        hidden = np.ones(data.n_samples, dtype=bool)
        hidden[kept] = False
        return data.hide(hidden)

    def fit(self, data: Samples, start: ModelT | None = None) -> ModelT:
        """EM, or the closed form in the labels-only mode."""
        if self.mode == "labels-only":
            data, start = data.labeled_only(), None
        return fit(
            self.family,
            data,
            start=start,
            start_smoothing=self.start_smoothing,
            unlabeled_weight=self.unlabeled_weight,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        ).model

    def predict(self, model: Any, data: Samples) -> ClassPrediction:
        """log p(x, y) of every row."""
        return ClassPrediction(model.log_joint(data.hide()))
