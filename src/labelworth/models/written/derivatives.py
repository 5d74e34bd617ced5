"""Densities that people wrote, compiled and differentiated by JAX: the only module that speaks to it.

Numbers are doubles. JAX would make them single unless told otherwise, and telling it for good would change what else
runs in the process; so every call here stands inside ``jax.enable_x64``, which holds for this call in this thread.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.models.written.tree import ParameterTree

LogJoint = Callable[[Any, Any], Any]
LogPrior = Callable[[Any], Any]

_ROW_COUNTS = (1 << 8, 1 << 10, 1 << 12)
_NUMBERS_AT_ONCE = 1 << 21


@lru_cache(maxsize=64)
def derivatives_of(
    log_joint: LogJoint, log_prior: LogPrior | None, tree: ParameterTree, n_classes: int
) -> "Derivatives":
    """The derivatives of a density, compiled once for all fits to it."""
    return Derivatives(log_joint, log_prior, tree, n_classes)


class Derivatives:
    r"""log p(x, y) of many rows, and what follows from it.

    Scores and curvatures are in free coordinates: with t the step from the parameters given, a simplex moves by
    :math:`(t_1, .., t_{K-1}, -\sum t)` and everything else by t itself, and derivatives are taken at t = 0. The
    objective is one of the unconstrained coordinates of `labelworth.models.blocks`.
    """

    def __init__(self, log_joint: LogJoint, log_prior: LogPrior | None, tree: ParameterTree, n_classes: int) -> None:
        self.tree, self.n_classes = tree, n_classes
        self._written = log_joint
        blocks = tree.coordinates().blocks
        self._n_free = sum(block.n_free for block in blocks)
        self._free_cuts = np.cumsum([block.n_free for block in blocks])[:-1].tolist()
        self._unconstrained_cuts = np.cumsum([block.n_unconstrained for block in blocks])[:-1].tolist()

        def at_step(step: Any, arrays: Any, row: Any) -> Any:
            return log_joint(tree.built(self._moved(arrays, step)), row)

        def at_vector(vector: Any, row: Any) -> Any:
            return log_joint(tree.built(self._from_unconstrained(vector)), row)

        def prior_at_step(step: Any, arrays: Any) -> Any:
            return 0.0 * step.sum() if log_prior is None else log_prior(tree.built(self._moved(arrays, step)))

        def objective(vector: Any, rows: Any, log_evidence: Any, weights: Any) -> Any:
            joint = jax.vmap(at_vector, (None, 0))(vector, rows)
            # What the evidence rules out carries no slope, even where its density has none.
            allowed = jnp.isfinite(log_evidence)
            known = jnp.where(allowed, jnp.where(allowed, joint, 0.0) + log_evidence, -jnp.inf)
            value = weights @ jax.nn.logsumexp(known, axis=1)
            return value if log_prior is None else value + log_prior(tree.built(self._from_unconstrained(vector)))

        def weighted(step: Any, arrays: Any, rows: Any, weights: Any) -> Any:
            joint = jax.vmap(at_step, (None, None, 0))(step, arrays, rows)
            return jnp.sum(jnp.where(weights > 0, weights * joint, 0.0))

        def along(arrays: Any, step: Any, rows: Any) -> Any:
            def moved(size: Any) -> Any:
                return jax.vmap(at_step, (None, None, 0))(size * step, arrays, rows)

            return jax.jvp(moved, (0.0,), (1.0,))[1]

        def plain(arrays: Any, rows: Any) -> Any:
            return jax.vmap(log_joint, (None, 0))(tree.built(arrays), rows)

        def squares(vector: Any, rows: Any, responsibilities: Any) -> Any:
            scores = jax.vmap(jax.jacrev(at_vector), (None, 0))(vector, rows)
            return jnp.einsum("nk,nkd->d", responsibilities, jnp.square(scores))

        self._log_joint = jax.jit(plain)
        self._scores = jax.jit(jax.vmap(jax.jacrev(at_step), (None, None, 0)))
        self._along = jax.jit(along)
        self._curvature = jax.jit(jax.hessian(weighted))
        self._objective = jax.jit(jax.value_and_grad(objective))
        self._squares = jax.jit(squares)
        self._prior = jax.jit(prior_at_step)
        self._prior_slope = jax.jit(jax.grad(prior_at_step))
        self._prior_curvature = jax.jit(jax.hessian(prior_at_step))

    def require_shape(self, arrays: Sequence[FloatArray], n_features: int) -> None:
        """Refuse a function that fails, or returns something else than one number per class."""
        with jax.enable_x64(True):
            try:
                shape = jax.eval_shape(self._written, self.tree.built(arrays), np.zeros(n_features))
            except Exception as error:  # whatever the user's function raises
                raise InvalidInputError(
                    f"log_joint fails on the starting point and a row of {n_features} numbers: "
                    f"{str(error).partition(chr(10))[0]}"
                ) from error
        given = getattr(shape, "shape", None)
        if given != (self.n_classes,) or not jnp.issubdtype(shape.dtype, jnp.floating):
            kind = type(shape).__name__ if given is None else f"{shape.dtype} of shape {given}"
            raise InvalidInputError(
                f"log_joint must return log p(x, y) of one row x for every class: real numbers of shape "
                f"({self.n_classes},). Got {kind}."
            )

    def log_joint(self, arrays: Sequence[FloatArray], rows: FloatArray) -> FloatArray:
        """log p(x, y), (n, K)."""
        if not len(rows):
            return np.zeros((0, self.n_classes))
        with jax.enable_x64(True):
            return _doubles(self._log_joint(tuple(arrays), padded(rows)))[: len(rows)]

    def scores(self, arrays: Sequence[FloatArray], rows: FloatArray) -> FloatArray:
        """The gradient of log p(x, y), free coordinates, (n, K, d)."""
        if not len(rows):
            return np.zeros((0, self.n_classes, self._n_free))
        with jax.enable_x64(True):
            return _doubles(self._scores(np.zeros(self._n_free), tuple(arrays), padded(rows)))[: len(rows)]

    def along(self, arrays: Sequence[FloatArray], step: FloatArray, rows: FloatArray) -> FloatArray:
        """The slope of log p(x, y) along a step in free coordinates, (n, K)."""
        with jax.enable_x64(True):
            return _doubles(self._along(tuple(arrays), step, padded(rows)))[: len(rows)]

    def curvature(self, arrays: Sequence[FloatArray], rows: FloatArray, weights: FloatArray) -> FloatArray:
        """Minus the Hessian of the weighted sum of log p(x, y), weights (n, K), free coordinates, (d, d)."""
        total = np.zeros((self._n_free, self._n_free))
        step = np.zeros(self._n_free)
        with jax.enable_x64(True):
            for part in self.parts(len(rows)):
                total -= _doubles(
                    self._curvature(step, tuple(arrays), padded(rows[part]), padded(weights[part], fill=0.0))
                )
        return (total + total.T) / 2

    def objective(
        self, vector: FloatArray, rows: FloatArray, log_evidence: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Log-likelihood plus log prior, and the gradient, in unconstrained coordinates; rows are padded already."""
        with jax.enable_x64(True):
            value, gradient = self._objective(vector, rows, log_evidence, weights)
            return float(value), _doubles(gradient)

    def squares(self, vector: FloatArray, rows: FloatArray, responsibilities: FloatArray) -> FloatArray:
        """Sums of squared scores in unconstrained coordinates, weighted by responsibilities (n, K)."""
        total = np.zeros(len(vector))
        with jax.enable_x64(True):
            for part in self.parts(len(rows)):
                total += _doubles(self._squares(vector, padded(rows[part]), padded(responsibilities[part], fill=0.0)))
        return total

    def log_prior(self, arrays: Sequence[FloatArray]) -> float:
        with jax.enable_x64(True):
            return float(self._prior(np.zeros(self._n_free), tuple(arrays)))

    def prior_slope(self, arrays: Sequence[FloatArray]) -> FloatArray:
        """The gradient of the log prior, free coordinates, (d,)."""
        with jax.enable_x64(True):
            return _doubles(self._prior_slope(np.zeros(self._n_free), tuple(arrays)))

    def prior_curvature(self, arrays: Sequence[FloatArray]) -> FloatArray:
        """Minus the Hessian of the log prior, free coordinates, (d, d)."""
        with jax.enable_x64(True):
            return -_doubles(self._prior_curvature(np.zeros(self._n_free), tuple(arrays)))

    def called(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function of the user answers, computed in doubles."""
        with jax.enable_x64(True):
            return function(*arguments)

    def _moved(self, arrays: Any, step: Any) -> list[Any]:
        parts = jnp.split(step, self._free_cuts)
        return [
            array + _push(leaf.constraint, part, leaf.shape)
            for leaf, array, part in zip(self.tree.leaves, arrays, parts, strict=True)
        ]

    def _from_unconstrained(self, vector: Any) -> list[Any]:
        """As the blocks do it: squares that are normalized, exponentials, the numbers themselves."""
        arrays = []
        for leaf, part in zip(self.tree.leaves, jnp.split(vector, self._unconstrained_cuts), strict=True):
            table = part.reshape(leaf.shape)
            if leaf.constraint == "simplex":
                squares = jnp.square(table)
                table = squares / squares.sum(axis=-1, keepdims=True)
            elif leaf.constraint == "positive":
                table = jnp.exp(table)
            arrays.append(table)
        return arrays

    def parts(self, n_rows: int) -> list[slice]:
        """Runs of rows whose derivatives fit comfortably in memory."""
        size = max(_ROW_COUNTS[0], _NUMBERS_AT_ONCE // (self.n_classes * max(1, self._n_free)))
        return [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]


def padded(rows: FloatArray, fill: float | None = None) -> FloatArray:
    """Rows behind which the first is repeated, or `fill`, up to one of few numbers of rows.

    Code is compiled for a number of rows, which takes longer than to run it on some rows more; and refits differ.
    """
    n_rows = len(rows)
    size = next((count for count in _ROW_COUNTS if count >= n_rows), 1 << (n_rows - 1).bit_length())
    missing = size - n_rows
    if not missing:
        return rows
    more = np.repeat(rows[:1], missing, axis=0) if fill is None else np.full((missing, *rows.shape[1:]), fill)
    return np.concatenate([rows, more])


def _push(constraint: str, part: Any, shape: tuple[int, ...]) -> Any:
    if constraint != "simplex":
        return part.reshape(shape)
    head = part.reshape(*shape[:-1], shape[-1] - 1)
    return jnp.concatenate([head, -head.sum(axis=-1, keepdims=True)], axis=-1)


def _doubles(values: Any) -> FloatArray:
    return np.asarray(values, dtype=np.float64)
