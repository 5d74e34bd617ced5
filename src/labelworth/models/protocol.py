"""The whole interface between models and the rest of the house.

A model is a value: the parameters of p(x, y), with their meaning. A family says how such a model is fitted.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from labelworth.arrays import AnyArray, FloatArray
from labelworth.data.samples import Samples
from labelworth.models.coordinates import Coordinates


class Parameters(Protocol):
    """What EM asks of a model, of classes or of sequences alike."""

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """What the class codes stand for."""

    @property
    def coordinates(self) -> Coordinates:
        """Named, free and unconstrained views of the parameters."""

    @property
    def tables(self) -> Mapping[str, FloatArray]:
        """The named tables, as in `coordinates`."""

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        """The same kind of model with other parameters."""

    def divergence(self, other: Self) -> float:
        """How far a nearby model is, in nats per sample: half the step, squared in the complete information.

        Equal to the relative entropy of p(x, y) to leading order, and free of its cancellation.
        """


class Model(Parameters, Protocol):
    """Parameters of p(x, y) = p(y) p(x | y), frozen."""

    kind: ClassVar[str]

    @property
    def n_features(self) -> int:
        """How many columns the features have."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """What the columns stand for, if they have names."""

    def log_joint(self, samples: Samples) -> FloatArray:
        """log p(x, y) for every sample and class, shape (n, K); constants in x alone may be left out."""

    def sample(self, n_samples: int, rng: np.random.Generator) -> Samples:
        """Draw fully labeled samples."""

    def complete_information(self) -> FloatArray:
        """Var of the complete-data score of one sample, free coordinates, (d, d), in closed form."""

    def class_scores(self, samples: Samples) -> FloatArray:
        """Gradient of log p(x, y) in free coordinates for every sample and class, (n, K, d); for small d."""

    def complete_curvature(self, samples: Samples, responsibilities: FloatArray) -> FloatArray:
        """Minus the Hessian of sum_i sum_k r_ik log p(x_i, k), free coordinates, (d, d); for small d."""

    def to_arrays(self) -> dict[str, AnyArray]:
        """Everything needed to build the model again but the names of classes and features, as plain arrays."""

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, AnyArray],
        *,
        classes: tuple[Hashable, ...],
        feature_names: tuple[str, ...] | None = None,
    ) -> Self:
        """Build the model again, checking everything."""


@runtime_checkable
class OpenModel(Protocol):
    """What a model also says whose density somebody wrote: of it no sum over x is known in closed form."""

    @property
    def support(self) -> FloatArray | None:
        """Every x there is, once, (n, n_features); None where they cannot be listed."""


ModelT = TypeVar("ModelT", bound=Model)
ParametersT = TypeVar("ParametersT", bound=Parameters)
DataT_contra = TypeVar("DataT_contra", contravariant=True)
PassedT_contra = TypeVar("PassedT_contra", bound=Parameters, contravariant=True)


@dataclass(frozen=True)
class Expectation:
    """What one pass over the data returns; two shards' worth add up."""

    # Expected sufficient statistics; ``class_weights`` (K,) is always there for models of classes.
    statistics: Mapping[str, FloatArray]
    # The weighted sum of log p(evidence, x); minus infinity if a sample is impossible under the model.
    log_likelihood: float


class Pass(Protocol[PassedT_contra]):
    """The data, laid out for many passes by one model family."""

    def expectation(self, model: PassedT_contra) -> Expectation:
        """One E-step: expected statistics and log-likelihood under `model`."""


@runtime_checkable
class SlopedPass(Protocol[PassedT_contra]):
    """A pass that also knows the slope of the objective: where there is no M-step, L-BFGS climbs along it."""

    def expectation(self, model: PassedT_contra) -> Expectation:
        """As in `Pass`."""

    def slope(self, vector: FloatArray) -> tuple[float, FloatArray]:
        """Log-likelihood plus log prior and its gradient, in unconstrained coordinates."""

    def scales(self, model: PassedT_contra) -> FloatArray:
        """How much of the objective each unconstrained coordinate is worth: roots of sums of squared scores."""


class Maximizer(Protocol[ParametersT]):
    """What EM asks of a family, of classes or of sequences alike: the M-step and the prior."""

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """What the class codes stand for."""

    def neutral(self) -> ParametersT:
        """A model under which features say nothing about the class and all classes are equally likely.

        One EM step from it over labeled rows is the supervised fit: the class of a row is its evidence alone.
        """

    def maximize(self, statistics: Mapping[str, FloatArray]) -> ParametersT:
        """The M-step: the maximizer of expected complete log-likelihood plus `log_prior`."""

    def log_prior(self, model: ParametersT) -> float:
        """The log-density of the smoothing prior, up to a constant."""


class EMFamily(Maximizer[ParametersT], Protocol[ParametersT, DataT_contra]):
    """How one kind of model is fitted by EM to rows or sequences. Frozen; holds the smoothing."""

    def adapted(self, data: DataT_contra, weights: FloatArray, /) -> Self:
        """The family with what it reads off the data filled in: lengths of documents, scales of a prior.

        What was given explicitly stays. Fitting does this once, so that the objective is fixed from then on.
        """

    def prepare(self, data: DataT_contra, weights: FloatArray, /) -> Pass[ParametersT]:
        """Check the data and lay it out; `weights` (n,) is how much each row or sequence counts.

        A family that says ``walks`` is given shards that were not read, one at a time, and reads them with every
        pass; any other is given the rows of a shard in memory, and one whose ``adds_up`` is False all of them.
        """

    def prior_curvature(self, model: ParametersT) -> FloatArray:
        """Minus the Hessian of `log_prior` in free coordinates, (d, d); for small d."""

    def smoother(self, factor: float) -> Self:
        """The same family with a prior `factor` times as strong, for a diffuse first model.

        Where there is no prior, the strength becomes `factor` itself.
        """


@runtime_checkable
class BegunFamily(Protocol):
    """A family whose fits begin where somebody said, instead of at a supervised model."""

    def starting_models(
        self, data: Any, weights: FloatArray, n_starts: int, rng: np.random.Generator
    ) -> Iterator[Any]:
        """The given start first, then others around it."""


class Family(EMFamily[ModelT, Samples], Protocol[ModelT]):
    """How one kind of model of p(x, y) is fitted to rows."""


AnyModel = Model
AnyFamily = Family[Any]
