"""How models that people write are fitted: by their own M-step, or along the slope of the likelihood."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.classes.responsibilities import condition
from labelworth.models.doors import require_features, require_rows_for
from labelworth.models.protocol import Expectation, Pass
from labelworth.models.written.model import Inputs, Written, WrittenDensity

_ROUNDING = 1e-9
_SHAKE = 0.5
_NOTHING = 1e-6  # of what one row can say


@dataclass(frozen=True, eq=False)
class WrittenFamily:
    """Models of one function; fits begin where the user says."""

    # An M-step is given the rows themselves, a slope is asked of all of them: nothing is added shard by shard.
    adds_up: ClassVar[bool] = False

    written: Written
    n_features: int
    start: tuple[FloatArray, ...]
    feature_names: tuple[str, ...] | None = None
    observed: Inputs | None = None

    def __post_init__(self) -> None:
        self.written.derivatives.require_shape(self.start, self.n_features)

    @property
    def classes(self) -> tuple[Hashable, ...]:
        return self.written.classes

    def adapted(self, samples: Samples, row_weights: FloatArray) -> Self:
        """Keep the x of the data: over them averages are taken where the user says of no others."""
        if self.observed is not None:
            return self
        return replace(self, observed=Inputs(samples.vectors, row_weights / row_weights.sum()))

    def prepare(self, samples: Samples, row_weights: FloatArray) -> Pass[WrittenDensity]:
        require_features(samples, self.n_features)
        require_rows_for(samples, self.classes, row_weights)
        kind = WrittenPass if self.written.m_step is not None else SlopedWrittenPass
        return kind(self, samples.vectors, samples.evidence, row_weights)

    def neutral(self) -> WrittenDensity:
        """The starting point: the class of a labeled row is its evidence, whatever the model."""
        return self._model(self.start)

    def starting_models(
        self, data: Samples, weights: FloatArray, n_starts: int, rng: np.random.Generator
    ) -> Iterator[WrittenDensity]:
        """The starting point first, then others around it, by normal steps in unconstrained coordinates."""
        model = self.neutral()
        if n_starts:
            yield model
        coordinates, tables = model.coordinates, model.tables
        center = coordinates.unconstrained(tables)
        # What has no bounds has units: it is shaken by what its entries differ by.
        spreads = [
            float(tables[block.table].std()) or 1.0 if leaf.constraint == "free" else 1.0
            for leaf, block in zip(self.written.tree.leaves, coordinates.blocks, strict=True)
        ]
        sizes = np.repeat(spreads, [block.n_unconstrained for block in coordinates.blocks])
        for _ in range(n_starts - 1):
            shaken = center + _SHAKE * sizes * rng.standard_normal(center.shape)
            yield model.with_tables(coordinates.from_unconstrained(shaken))

    def maximize(self, statistics: Mapping[str, FloatArray]) -> WrittenDensity:
        """The user's M-step; refused where it lowers what it is to raise."""
        m_step = self.written.m_step
        if m_step is None:
            raise InvalidInputError("This model has no M-step; it is fitted along the slope of its likelihood.")
        responsibilities, rows = statistics["responsibilities"], statistics["rows"]
        row_weights = statistics["row_weights"]
        answer = self.written.derivatives.called(m_step, responsibilities.copy(), rows.copy(), row_weights.copy())
        model = self._model(self._within_bounds(answer, row_weights @ responsibilities))
        before = float(statistics["expected"])
        after = _expected(model.log_joint_of(rows), row_weights[:, None] * responsibilities) + self.log_prior(model)
        if not after >= before - _ROUNDING * (abs(before) + float(row_weights.sum())):
            raise InvalidInputError(
                "maximize lowers the expected log-likelihood of (x, y) that it is to raise, from "
                f"{before:.8g} to {after:.8g}: it is no M-step of log_joint (and log_prior). Leave it out, and the "
                "likelihood is climbed along its slope."
            )
        return model

    def _within_bounds(self, answer: Any, class_weights: FloatArray) -> tuple[FloatArray, ...]:
        """What an M-step gave; where it is out of bounds and a class has no rows, that is said to be why."""
        try:
            return self.written.tree.flattened(answer, "maximize")
        except InvalidInputError as error:
            missing = [name for name, weight in zip(self.classes, class_weights, strict=True) if not weight]
            if not missing:
                raise
            raise InvalidInputError(
                f"{error} No row is of class {missing[0]!r}: parts of a pilot lack classes too, so let maximize stay "
                "within its bounds without rows of one (with a prior, or half a row more of each)."
            ) from error

    def log_prior(self, model: WrittenDensity) -> float:
        """What the user adds to the log-likelihood; nothing unless given."""
        return 0.0 if self.written.log_prior is None else self.written.derivatives.log_prior(model.arrays)

    def prior_curvature(self, model: WrittenDensity) -> FloatArray:
        if self.written.log_prior is None:
            return np.zeros((model.coordinates.n_free, model.coordinates.n_free))
        return self.written.derivatives.prior_curvature(model.arrays)

    def smoother(self, factor: float) -> Self:
        """The same: fits begin at a given point, and an M-step knows its own prior."""
        return self

    def still_climbing(self, model: WrittenDensity, samples: Samples, row_weights: FloatArray) -> tuple[float, str]:
        """What a step along the slope would still gain, in nats per unit of weight, and the parameter most in it."""
        responsibilities, _ = condition(model.log_joint(samples), samples.evidence)
        scores = model.class_scores(samples)
        weights = row_weights[:, None] * responsibilities
        slope = np.einsum("nk,nkd->d", weights, scores)
        if self.written.log_prior is not None:
            slope += self.written.derivatives.prior_slope(model.arrays)
        squares = np.einsum("nk,nkd->d", weights, np.square(scores))
        gains = 0.5 * np.square(slope) / np.where(squares > 0, squares, 1.0)
        worst = int(np.argmax(gains))
        return float(gains[worst] / row_weights.sum()), model.coordinates.name(worst)

    def at_the_edge(self, model: WrittenDensity, samples: Samples, row_weights: FloatArray) -> list[str]:
        """Positive numbers and probabilities of which all rows together say nothing: a fit has run off along them."""
        responsibilities, _ = condition(model.log_joint(samples), samples.evidence)
        weights = (row_weights[:, None] * responsibilities).ravel()
        scores = model.class_scores(samples)
        names = []
        for leaf, own in model.relative_scores(scores.reshape(len(weights), -1)):
            if leaf.constraint != "free":
                seen = weights @ np.square(own)
                names += [leaf.entry(int(index)) for index in np.flatnonzero(seen < _NOTHING)]
        return names

    def _model(self, arrays: tuple[FloatArray, ...]) -> WrittenDensity:
        return WrittenDensity(self.written, self.n_features, arrays, self.feature_names, self.observed)


@dataclass(frozen=True, eq=False)
class WrittenPass:
    """Rows laid out for EM."""

    family: WrittenFamily
    rows: FloatArray
    evidence: Evidence
    row_weights: FloatArray

    def expectation(self, model: WrittenDensity) -> Expectation:
        """Responsibilities with the rows they belong to: what the user's M-step takes."""
        log_joint = model.log_joint_of(self.rows)
        responsibilities, log_evidence = condition(log_joint, self.evidence)
        weights = self.row_weights[:, None] * responsibilities
        statistics = {
            "class_weights": weights.sum(axis=0),
            "responsibilities": responsibilities,
            "rows": self.rows,
            "row_weights": self.row_weights,
            "expected": np.asarray(_expected(log_joint, weights) + self.family.log_prior(model)),
        }
        return Expectation(statistics, float(self.row_weights @ log_evidence))


@dataclass(frozen=True, eq=False)
class SlopedWrittenPass(WrittenPass):
    """Rows laid out for L-BFGS; see `labelworth.models.protocol.SlopedPass`."""

    def slope(self, vector: FloatArray) -> tuple[float, FloatArray]:
        return self.family.written.derivatives.objective(vector, *self._padded)

    def scales(self, model: WrittenDensity) -> FloatArray:
        responsibilities, _ = condition(model.log_joint_of(self.rows), self.evidence)
        vector = model.coordinates.unconstrained(model.tables)
        squares = self.family.written.derivatives.squares(
            vector, self.rows, self.row_weights[:, None] * responsibilities
        )
        if not np.isfinite(squares).all():
            # This says in which parameter, of which class, at which x.
            model.class_scores(Samples(self.rows, self.evidence))
            raise InvalidInputError("The likelihood has no slope at the starting point; begin elsewhere.")
        return np.asarray(np.sqrt(np.where(squares > 0, squares, 1.0)))

    @cached_property
    def _padded(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rows, logarithms of the evidence and weights; those added weigh nothing."""
        from labelworth.models.written.derivatives import padded

        with np.errstate(divide="ignore"):
            log_evidence = np.log(self.evidence.dense())
        return padded(self.rows), padded(log_evidence), padded(self.row_weights, fill=0.0)


def _expected(log_joint: FloatArray, weights: FloatArray) -> float:
    """Of (x, y): what is impossible and has no weight counts nothing."""
    return float(np.sum(np.where(weights > 0, weights * np.where(weights > 0, log_joint, 0.0), 0.0)))
