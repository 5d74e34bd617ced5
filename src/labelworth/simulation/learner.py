"""What a simulation needs of a model: fit it, predict with it, draw labels from it, hide them.

Data is made of *units*, the things that are labeled one at a time (rows, sequences), and every unit of *places* that
carry a label each (the row itself, the tokens).
"""

from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.policies.policy import Policy

Mode = Literal["labels-only", "semi-supervised"]
MODES: tuple[Mode, Mode] = ("labels-only", "semi-supervised")

DataT = TypeVar("DataT")


class Prediction(Protocol):
    """What a model says of data whose labels it is not shown."""

    @property
    def best(self) -> IntArray:
        """The predicted label of every place, as codes, (n_places,)."""

    def log_posteriors(self, temperature: float) -> FloatArray:
        """log p(label | x) at every place, (n_places, K), with log-odds divided by the temperature."""

    def draw(self, temperature: float, rng: np.random.Generator) -> IntArray:
        """Labels drawn given x with those log-odds, (n_places,)."""


class Learner(Protocol[DataT]):
    """A way to learn, frozen: the kind of model, its prior, and what a unit without label counts."""

    @property
    def mode(self) -> Mode:
        """Whether units without labels are learned from."""

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways it can learn: a CRF has only one."""

    def in_mode(self, mode: Mode) -> "Learner[DataT]":
        """The same learner with or without the unlabeled units."""

    def places_per_unit(self, data: DataT) -> IntArray:
        """How many places every unit has, (n_units,)."""

    def codes(self, data: DataT) -> IntArray:
        """The label of every place, -1 where it is not known, (n_places,)."""

    def take(self, data: DataT, units: IntArray) -> DataT:
        """Keep these units, in that order."""

    def labeled(self, data: DataT, codes: IntArray) -> DataT:
        """The same units with these labels at all places."""

    def hide(self, data: DataT, kept: IntArray, policy: Policy | None = None, seed: int = 0) -> DataT:
        """Forget all labels but those of the units `kept`; of these, the ones that `policy` would not have bought."""

    def fit(self, data: DataT, start: Any = None) -> Any:
        """The fitted model, found from `start` where one is given."""

    def predict(self, model: Any, data: DataT) -> Prediction:
        """Predict all places; labels that are there are not looked at."""
