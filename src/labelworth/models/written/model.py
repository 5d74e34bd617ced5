"""A model of p(x, y) that somebody wrote as a function, at some parameters; see `Model` of the protocol."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import softmax

from labelworth.arrays import AnyArray, FloatArray, IntArray, require_shape
from labelworth.data.counts import as_vectors
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.coordinates import Coordinates
from labelworth.models.doors import require_features
from labelworth.models.written.tree import Leaf, ParameterTree

if TYPE_CHECKING:
    from labelworth.models.written.derivatives import Derivatives

_N_DRAWS = 1 << 14
_FEW_EVENTS = 40
_CERTAIN = 10.0
"""So many standard errors from zero a mean score is not chance, even where scores have tails."""


@dataclass(frozen=True, eq=False)
class Written:
    """What was written: functions, the form of the parameters, the classes."""

    log_joint: Callable[[Any, Any], Any]  # (parameters, x) -> log p(x, y) of every class, (K,).
    tree: ParameterTree
    classes: tuple[Hashable, ...]
    draw: Callable[..., Any] | None = None  # (parameters, n, rng) -> x (n, n_features), class codes (n,).
    support: FloatArray | None = None  # Every x there is, if they can be listed, (n, n_features).
    m_step: Callable[..., Any] | None = None  # (responsibilities, X, weights) -> parameters.
    log_prior: Callable[[Any], Any] | None = None  # parameters -> a number.

    @property
    def derivatives(self) -> "Derivatives":
        """By JAX, compiled when first used.

        Raises
        ------
        InvalidInputError
            If JAX is not installed.
        """
        try:
            from labelworth.models.written.derivatives import derivatives_of
        except ImportError as error:
            raise InvalidInputError(
                "Models that you write are differentiated by JAX, which is not installed. Use: "
                "pip install 'labelworth[jax]'"
            ) from error
        return derivatives_of(self.log_joint, self.log_prior, self.tree, len(self.classes))


@dataclass(frozen=True, eq=False)
class Inputs:
    """Some x, and how much each one counts in averages over x."""

    rows: FloatArray  # (n, n_features)
    shares: FloatArray  # (n,): They sum to one.


@dataclass(frozen=True, eq=False)
class WrittenDensity:
    """p(x, y) as a function gives it, at some parameters."""

    kind: ClassVar[str] = "written"

    written: Written
    n_features: int
    arrays: tuple[FloatArray, ...]  # The leaves of the parameters, in the order of the tree.
    feature_names: tuple[str, ...] | None = None
    observed: Inputs | None = None  # The x of the data it was fitted to.

    @property
    def classes(self) -> tuple[Hashable, ...]:
        return self.written.classes

    @property
    def parameters(self) -> Any:
        """The tree, as the function takes it."""
        return self.written.tree.built(self.arrays)

    @property
    def support(self) -> FloatArray | None:
        """Every x there is, if they can be listed, (n, n_features)."""
        return self.written.support

    @cached_property
    def coordinates(self) -> Coordinates:
        """A block per leaf, entries called as in ``means[1, 0]``."""
        return self.written.tree.coordinates()

    @property
    def tables(self) -> dict[str, FloatArray]:
        """Every leaf as a table of two axes, by its name."""
        return self.written.tree.tables(self.arrays)

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        return replace(self, arrays=self.written.tree.from_tables(tables))

    def log_joint(self, samples: Samples) -> FloatArray:
        """log p(x, y), shape (n, K)."""
        require_features(samples, self.n_features)
        return self.log_joint_of(samples.vectors)

    def log_joint_of(self, rows: FloatArray) -> FloatArray:
        """The same from bare rows; minus infinity is a class that cannot be, anything else not finite an error."""
        values = self.written.derivatives.log_joint(self.arrays, rows)
        broken = np.argwhere(np.isnan(values) | np.isposinf(values))
        if broken.size:
            row, code = broken[0]
            raise InvalidInputError(
                f"log_joint gives {values[row, code]} for class {self.classes[code]!r} at x = "
                f"{_shown(rows[row])} with {self._described()}. Write it so that it is finite, or minus infinity, "
                "for all parameters that the constraints allow."
            )
        return values

    def sample(self, n_samples: int, rng: np.random.Generator) -> Samples:
        """By the sampler; else out of the support; else x as observed, and its class given x.

        Raises
        ------
        InvalidInputError
            If there is nothing to draw from, or the sampler draws from something else than `log_joint`.
        """
        if self.written.draw is not None:
            _ = self._tried
            rows, codes = self._drawn(n_samples, rng)
        else:
            inputs = self._listed
            chosen = rng.choice(len(inputs.rows), size=n_samples, p=inputs.shares)
            rows = inputs.rows[chosen]
            shares = softmax(self.log_joint_of(rows), axis=1).cumsum(axis=1)
            codes = (rng.random((n_samples, 1)) * shares[:, -1:] >= shares).sum(axis=1).astype(np.int64)
        return Samples(rows, Evidence(codes, self.classes), feature_names=self.feature_names)

    def complete_information(self) -> FloatArray:
        """E[S S'] of one labeled sample, (d, d).

        A sum over the support; else the mean over 16384 drawn x, each averaged over its classes; else over the x
        observed.
        """
        rows, shares = self._inputs.rows, self._inputs.shares
        roots = np.sqrt(shares[:, None] * softmax(self.log_joint_of(rows), axis=1))
        d = self.coordinates.n_free
        total = np.zeros((d, d))
        for part in self.written.derivatives.parts(len(rows)):
            weighted = (self._scores(rows[part]) * roots[part, :, None]).reshape(-1, d)
            total += weighted.T @ weighted
        return total

    def class_scores(self, samples: Samples) -> FloatArray:
        """Gradient of log p(x, y) in free coordinates for every sample and class, (n, K, d)."""
        require_features(samples, self.n_features)
        return self._scores(samples.vectors)

    def complete_curvature(self, samples: Samples, responsibilities: FloatArray) -> FloatArray:
        """Minus the Hessian of sum_i sum_k r_ik log p(x_i, k), (d, d)."""
        require_features(samples, self.n_features)
        require_shape("responsibilities", responsibilities, (samples.n_samples, len(self.classes)))
        curvature = self.written.derivatives.curvature(self.arrays, samples.vectors, responsibilities)
        if not np.isfinite(curvature).all():
            raise InvalidInputError(f"log_joint has no second derivative with {self._described()}.")
        return curvature

    def divergence(self, other: Self) -> float:
        """Half the squared step in the complete information of the x at hand, in nats per sample."""
        inputs = self.observed or self._inputs
        step = self.coordinates.flatten(other.tables) - self.coordinates.flatten(self.tables)
        slopes = self.written.derivatives.along(self.arrays, step, inputs.rows)
        posterior = softmax(self.log_joint_of(inputs.rows), axis=1)
        return 0.5 * float(inputs.shares @ (posterior * np.square(slopes)).sum(axis=1))

    def to_arrays(self) -> dict[str, AnyArray]:
        return dict(self.tables)

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, AnyArray],
        *,
        classes: tuple[Hashable, ...],
        feature_names: tuple[str, ...] | None = None,
    ) -> Self:
        raise InvalidInputError(
            "A model that somebody wrote is a function, and files of labelworth hold no code. Keep its parameters "
            "(model_.parameters) and give them as the start of the same WrittenModel."
        )

    def relative_scores(self, scores: FloatArray) -> Iterator[tuple[Leaf, FloatArray]]:
        """Every leaf with its part of scores (n, d): in logarithms of what is positive, in log-odds of a simplex.

        Of a leaf all entries, (n, size of the leaf).
        """
        slices, tables = self.coordinates.slices(), self.tables
        for leaf in self.written.tree.leaves:
            own, table = scores[:, slices[leaf.name]], tables[leaf.name]
            if leaf.constraint == "positive":
                own = own * table.ravel()
            elif leaf.constraint == "simplex":
                n_rows, n_columns = table.shape
                free = np.zeros((len(scores), n_rows, n_columns))
                free[:, :, :-1] = own.reshape(len(scores), n_rows, n_columns - 1)
                mean = (free * table).sum(axis=2, keepdims=True)
                own = np.asarray(table * (free - mean)).reshape(len(scores), -1)
            yield leaf, own

    def _scores(self, rows: FloatArray) -> FloatArray:
        scores = self.written.derivatives.scores(self.arrays, rows)
        if not np.isfinite(scores).all():
            row, code, index = np.argwhere(~np.isfinite(scores))[0]
            raise InvalidInputError(
                f"log_joint has no derivative in {self.coordinates.name(int(index))} for class "
                f"{self.classes[code]!r} at x = {_shown(rows[row])} with {self._described()}. A where() around "
                "something infinite has none: choose its argument, not its result."
            )
        return scores

    @cached_property
    def _inputs(self) -> Inputs:
        """Where averages over x are taken."""
        if self.support is not None or self.written.draw is None:
            return self._listed
        rng = np.random.default_rng(0)
        return Inputs(self.sample(_N_DRAWS, rng).vectors, np.full(_N_DRAWS, 1 / _N_DRAWS))

    @cached_property
    def _listed(self) -> Inputs:
        if self.support is not None:
            joint = np.exp(self.log_joint_of(self.support)).sum(axis=1)
            return Inputs(self.support, joint / joint.sum())
        if self.observed is not None:
            return self.observed
        raise InvalidInputError(
            "Nothing says which x there are: give sample= or support=, or fit the model to data first."
        )

    def _drawn(self, n_samples: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        draw = self.written.draw
        assert draw is not None
        answer = self.written.derivatives.called(draw, self.parameters, n_samples, rng)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise InvalidInputError("sample must return the rows X and their class codes, as a tuple of two arrays.")
        rows, codes = as_vectors(np.asarray(answer[0]), name="sample's X"), np.asarray(answer[1])
        if rows.shape != (n_samples, self.n_features) or codes.shape != (n_samples,):
            raise InvalidInputError(
                f"sample must return {n_samples} rows of {self.n_features} numbers and as many class codes. Got "
                f"shapes {rows.shape} and {codes.shape}."
            )
        if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= len(self.classes):
            raise InvalidInputError(f"sample must return class codes from 0 to {len(self.classes) - 1}.")
        return rows, codes.astype(np.int64)

    @cached_property
    def _tried(self) -> None:
        """Refuse a sampler of another density, or a density that is not normalized: scores then have a mean.

        They are taken in logarithms of what is positive and of odds of what is a simplex, where an event too rare to
        be drawn moves a mean by no more than its probability: what some forty such events could do is let pass. What
        has no bounds is judged where scores of both signs were drawn.
        """
        rows, codes = self._drawn(_N_DRAWS, np.random.default_rng(1))
        impossible = ~np.isfinite(self.log_joint_of(rows)[np.arange(_N_DRAWS), codes])
        if impossible.any():
            raise InvalidInputError(
                f"sample draws x = {_shown(rows[np.argmax(impossible)])} of class "
                f"{self.classes[codes[np.argmax(impossible)]]!r}, to which log_joint gives the probability zero."
            )
        scores = np.concatenate(
            [
                np.take_along_axis(self._scores(rows[part]), codes[part, None, None], axis=1)[:, 0]
                for part in self.written.derivatives.parts(_N_DRAWS)
            ]
        )
        for leaf, own in self.relative_scores(scores):
            mean, error = own.mean(axis=0), own.std(axis=0) / np.sqrt(_N_DRAWS)
            if leaf.constraint == "free":
                is_met = np.minimum((own > 0).sum(axis=0), (own < 0).sum(axis=0)) >= _FEW_EVENTS
            else:
                is_met = np.abs(mean) > _FEW_EVENTS / _N_DRAWS
            wrong = np.flatnonzero(is_met & (np.abs(mean) > _CERTAIN * error))
            if wrong.size:
                index = int(wrong[np.argmax(np.abs(mean[wrong]))])
                raise InvalidInputError(
                    f"sample and log_joint do not describe the same p(x, y): over {_N_DRAWS} draws the score of "
                    f"{leaf.entry(index)} has the mean {mean[index]:.2g} (standard error {error[index]:.1g}), and "
                    "should have none. Is log_joint normalized, with all terms that hold parameters?"
                )

    def _described(self) -> str:
        parts = (f"{name} = {_shown(table.ravel())}" for name, table in self.tables.items())
        return ", ".join(parts)


def _shown(values: FloatArray) -> str:
    text = ", ".join(f"{value:.4g}" for value in values[:5])
    return f"[{text}{', ..' if len(values) > 5 else ''}]"
