"""What plans are made from: data, the model fitted to it, and what can be asked of the two."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal

import numpy as np

from labelworth.arrays import BoolArray
from labelworth.data.digest import arrays_digest
from labelworth.data.lengths import LengthDistribution
from labelworth.data.protocol import DataT
from labelworth.simulation.learner import Learner
from labelworth.simulation.selection import ModelChoice

PoolKind = Literal["documents", "sequences"]


@dataclass(frozen=True)
class Abilities:
    """What some pools can do and others cannot."""

    formula_criteria: tuple[str, ...]  # What the formulas can forecast.
    most_parameters: int  # Up to this many, matrices are formed at every parameter that is asked about.
    rules: bool = False  # Whether a sample can be labeled in part, by rules of a menu.
    # Whether predictions of held-out samples tell, at any time, if unlabeled data helps; else a simulation
    # does.
    folds: bool = False
    surface: bool = False  # Whether the error is drawn over (samples, labeled fraction).


@dataclass(frozen=True, eq=False)
class Pool(ABC, Generic[DataT]):
    """Samples with and without labels, and the model fitted to all of them."""

    data: DataT
    fitted: Any  # To all of it: has ``model`` and ``converged``.
    # What else than the data decides what is fitted, as a checkpoint knows it again.
    settings: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    # How the model was chosen; None: it was named.
    choice: ModelChoice | None = field(default=None, kw_only=True)
    # Fits the best model of another kind, where one was chosen: a pool of the same data, chosen by forecast.
    rival: "Callable[[], Pool[Any]] | None" = field(default=None, kw_only=True)

    kind: ClassVar[PoolKind]
    abilities: ClassVar[Abilities]

    @property
    def model(self) -> Any:
        return self.fitted.model

    @property
    def converged(self) -> bool:
        return bool(self.fitted.converged)

    @property
    def model_name(self) -> str:
        return str(self.model.kind)

    @property
    def model_digest(self) -> str:
        """Of all that was fitted; what is fitted by others' code is known by data and settings alone."""
        return arrays_digest(self.model.tables)

    @property
    def in_numbers(self) -> Any:
        """The data with features that are numbers; None where there are none."""
        return self.data

    @property
    @abstractmethod
    def n_parameters(self) -> int | None:
        """Of the model; what never occurs in the data does not count. None: not known."""

    @property
    @abstractmethod
    def learner(self) -> Learner[DataT]:
        """How such a model is fitted to other samples and predicts."""

    @abstractmethod
    def require_anchored(self) -> None:
        """Refuse labels that could be swapped.

        Raises
        ------
        NotIdentifiableError
        """

    @property
    def is_labeled(self) -> BoolArray:
        """Which samples carry a label, (n_samples,)."""
        return self.data.is_labeled

    @property
    def n_samples(self) -> int:
        return self.data.n_samples

    @property
    def n_labeled(self) -> int:
        """Samples that carry a label."""
        return int(self.is_labeled.sum())

    @property
    def n_unlabeled(self) -> int:
        return self.n_samples - self.n_labeled

    @property
    def n_labels(self) -> int:
        """Labeled positions: as many as labeled samples where a sample has one."""
        return int((~self.data.evidence.is_unlabeled).sum())

    @property
    def lengths(self) -> LengthDistribution:
        """Of positions, over all samples."""
        lengths, counts = np.unique(self.data.lengths, return_counts=True)
        return LengthDistribution(lengths, counts / counts.sum())

    @property
    def lengths_left(self) -> LengthDistribution:
        """Of positions, over the samples that can still be labeled; over all where none is left."""
        is_left = ~self.is_labeled
        lengths, counts = np.unique(
            self.data.lengths[is_left] if is_left.any() else self.data.lengths, return_counts=True
        )
        return LengthDistribution(lengths, counts / counts.sum())

    @property
    def tokens_per_position(self) -> float | None:
        """What has to be read for one label, on average; None: not known."""
        return 1.0

    @property
    def is_conditional(self) -> bool:
        """Whether samples without labels tell the model nothing."""
        return False

    @property
    def is_large(self) -> bool:
        """Whether there are more parameters than matrices are formed for."""
        return (self.n_parameters or 0) > self.abilities.most_parameters

    @property
    def samples(self) -> str:
        """What they are called, in the plural."""
        return self.kind

    @property
    def notes(self) -> list[str]:
        """What is to be known of the data, in sentences."""
        return []
