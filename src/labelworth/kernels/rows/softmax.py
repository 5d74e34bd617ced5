"""Log weights into probabilities, four at a time.

Rows have a multiple of four columns. Each word has a plain Python twin, which is what runs where the compiler is
switched off (``NUMBA_DISABLE_JIT=1``).
"""

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types

from labelworth.arrays import FloatArray
from labelworth.kernels.machine.compilation import compiled, intrinsic
from labelworth.kernels.machine.vector_code import DOUBLE, LONG, SHORT, Emitter, arrays_among
from labelworth.kernels.rows.logarithm import LN2_HIGH, LN2_LOW

_LANES = 4
_VECTOR, _PATTERN = ir.VectorType(DOUBLE, _LANES), ir.VectorType(LONG, _LANES)
_DEGREE = 13
_LOG2_E = 1.4426950408889634
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, which then sits in the low bits
_LOWEST = -708.0


@compiled()
def normalize(values: FloatArray, start: int, n_columns: int, weight: float, sums: FloatArray) -> float:
    """Turn the log weights of one row into probabilities times `weight`, and add these to `sums`.

    Returns the log of the sum of the weights. A row of minus infinities becomes zeros.
    """
    best = largest(values, start, n_columns)
    if best == -np.inf:
        values[start : start + n_columns] = 0.0
        return best
    total = exponentiate(values, start, n_columns, best)
    share_out(values, start, n_columns, weight / total, sums)
    log_total: float = best + np.log(total)
    return log_total


def _constant(vector: Any, number: float) -> Any:
    return ir.Constant(vector, [vector.element(number)] * _LANES)


def _emit_exponential(emitter: Emitter, number: Any) -> Any:
    """e to the power of four numbers of at most 700, within two units in the last place; 0 below -708.

    The power is n log 2 + r with an integer n: Taylor's polynomial in r, and n added to the exponent bits.
    """
    builder = emitter.builder
    inside = builder.fcmp_ordered(">", number, _constant(_VECTOR, _LOWEST))
    clipped = builder.select(inside, number, _constant(_VECTOR, _LOWEST))
    shifted = emitter.fused(clipped, _constant(_VECTOR, _LOG2_E), _constant(_VECTOR, _ROUND))
    whole = builder.fsub(shifted, _constant(_VECTOR, _ROUND))
    rest = emitter.fused(whole, _constant(_VECTOR, -LN2_HIGH), clipped)
    rest = emitter.fused(whole, _constant(_VECTOR, -LN2_LOW), rest)
    value = _constant(_VECTOR, 1 / factorial(_DEGREE))
    for power in reversed(range(_DEGREE)):
        value = emitter.fused(value, rest, _constant(_VECTOR, 1 / factorial(power)))
    exponent = builder.shl(builder.bitcast(shifted, _PATTERN), _constant(_PATTERN, 52))
    value = builder.bitcast(builder.add(builder.bitcast(value, _PATTERN), exponent), _VECTOR)
    return builder.select(inside, value, _constant(_VECTOR, 0.0))


def _lanes(builder: Any, vector: Any) -> list[Any]:
    return [builder.extract_element(vector, SHORT(lane)) for lane in range(_LANES)]


class _Row:
    """A loop over the vectors of one row: arguments 0 to 2 are the array, the start and the number of columns."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.emitter = Emitter(builder)
        self.arrays = arrays_among(context, builder, signature, arguments)
        self.base = builder.gep(self.arrays[0].data, [arguments[1]])
        self.n_vectors = builder.udiv(arguments[2], LONG(_LANES))

    def at(self, base: Any, place: Any) -> Any:
        return self.emitter.builder.gep(base, [self.emitter.builder.mul(place, LONG(_LANES))])

    def fold(self, initial: list[Any], step: Callable[[Any, Any, list[Any]], list[Any]]) -> list[Any]:
        """Repeat `step(place, vector, values)` for the vectors of the row."""

        def body(place: Any, values: list[Any]) -> list[Any]:
            return step(place, self.emitter.load(self.at(self.base, place), _LANES)[0], values)

        return self.emitter.loop(LONG(0), self.n_vectors, initial, body)

    def store(self, base: Any, place: Any, vector: Any) -> None:
        self.emitter.store(self.at(base, place), _LANES, [vector])


@intrinsic
def _largest(typing_context: Any, values: Any, start: Any, n_columns: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def larger(first: Any, second: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", first, second), first, second)

        row = _Row(context, builder, signature, arguments)
        (best,) = row.fold([_constant(_VECTOR, float("-inf"))], lambda _, vector, best: [larger(vector, best[0])])
        first, second, third, fourth = _lanes(builder, best)
        return larger(larger(first, second), larger(third, fourth))

    return types.float64(values, types.int64, types.int64), generate


def _largest_plainly(values: FloatArray, start: int, n_columns: int) -> float:
    """The largest of the row."""
    return float(values[start : start + n_columns].max())


@intrinsic
def _exponentiate(typing_context: Any, values: Any, start: Any, n_columns: Any, shift: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = _Row(context, builder, signature, arguments)
        shift = row.emitter.spread(arguments[3], _LANES)

        def step(place: Any, vector: Any, sums: list[Any]) -> list[Any]:
            powers = _emit_exponential(row.emitter, builder.fsub(vector, shift))
            row.store(row.base, place, powers)
            return [builder.fadd(powers, sums[0])]

        (sums,) = row.fold([_constant(_VECTOR, 0.0)], step)
        first, second, third, fourth = _lanes(builder, sums)
        return builder.fadd(builder.fadd(first, second), builder.fadd(third, fourth))

    return types.float64(values, types.int64, types.int64, types.float64), generate


def _exponentiate_plainly(values: FloatArray, start: int, n_columns: int, shift: float) -> float:
    """Replace every value of the row by e to the power of it less `shift`; return the sum."""
    row = values[start : start + n_columns]
    row[:] = np.exp(row - shift)
    return float(row.sum())


@intrinsic
def _share_out(typing_context: Any, values: Any, start: Any, n_columns: Any, factor: Any, sums: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = _Row(context, builder, signature, arguments)
        factor, sums = row.emitter.spread(arguments[3], _LANES), row.arrays[4].data

        def step(place: Any, vector: Any, _: list[Any]) -> list[Any]:
            shares = builder.fmul(vector, factor)
            row.store(row.base, place, shares)
            (before,) = row.emitter.load(row.at(sums, place), _LANES)
            row.store(sums, place, builder.fadd(before, shares))
            return []

        row.fold([], step)
        return context.get_dummy_value()

    return types.void(values, types.int64, types.int64, types.float64, sums), generate


def _share_out_plainly(values: FloatArray, start: int, n_columns: int, factor: float, sums: FloatArray) -> None:
    """Multiply the row by `factor` and add it to the first columns of `sums`."""
    row = values[start : start + n_columns]
    row *= factor
    sums[:n_columns] += row


_plain = bool(config.DISABLE_JIT)
largest: Callable[..., float] = _largest_plainly if _plain else _largest
exponentiate: Callable[..., float] = _exponentiate_plainly if _plain else _exponentiate
share_out: Callable[..., None] = _share_out_plainly if _plain else _share_out
