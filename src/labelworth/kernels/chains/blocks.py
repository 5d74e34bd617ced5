"""Rows of a block of vectors, weighted and added up in registers: what products with expected counts consist of.

Blocks are flat, with a multiple of four columns, at most `WIDEST`, and weights come in multiples of four. Each word
has a plain Python twin, which is what runs where the compiler is switched off (``NUMBA_DISABLE_JIT=1``).
"""

from collections.abc import Callable
from typing import Any

from numba import config, types

from labelworth.arrays import FloatArray
from labelworth.kernels.chains.algebra import LANES, WIDEST, places_of, rows_at_once, vectors_of_zeros
from labelworth.kernels.machine.compilation import intrinsic
from labelworth.kernels.machine.vector_code import LONG, Emitter

__all__ = ["WIDEST", "gather_rows", "spread_rows"]


@intrinsic
def _gather_rows(
    typing_context: Any,
    target: Any,
    target_start: Any,
    weights: Any,
    weights_start: Any,
    rows: Any,
    rows_start: Any,
    n_rows: Any,
    n_columns: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emitter = Emitter(builder)
        target, weights, rows = places_of(context, builder, signature, arguments, {0: 1, 2: 3, 4: 5})

        def write(width: int) -> None:
            n_sets, n_vectors = rows_at_once(width), width // LANES

            def body(place: Any, sums: list[Any]) -> list[Any]:
                changed = []
                for number in range(n_sets):
                    row = builder.add(builder.mul(place, LONG(n_sets)), LONG(number))
                    values = emitter.load(builder.gep(rows, [builder.mul(row, LONG(width))]), width)
                    factor = builder.load(builder.gep(weights, [row]))
                    mine = sums[number * n_vectors : (number + 1) * n_vectors]
                    changed += emitter.multiply_add(factor, values, mine)
                return changed

            initial = emitter.load(target, width) + vectors_of_zeros(width) * (n_sets - 1)
            sums = emitter.loop(LONG(0), builder.udiv(arguments[6], LONG(n_sets)), initial, body)
            while len(sums) > n_vectors:
                half = len(sums) // 2
                sums = [builder.fadd(one, two) for one, two in zip(sums[:half], sums[half:], strict=True)]
            emitter.store(target, width, sums)

        emitter.switch(arguments[7], range(LANES, WIDEST + 1, LANES), write)
        return context.get_dummy_value()

    long = types.int64
    return types.void(target, long, weights, long, rows, long, long, long), generate


def _gather_rows_plainly(
    target: FloatArray,
    target_start: int,
    weights: FloatArray,
    weights_start: int,
    rows: FloatArray,
    rows_start: int,
    n_rows: int,
    n_columns: int,
) -> None:
    """Add `n_rows` rows, each times its weight, to a row of `target`."""
    block = rows[rows_start : rows_start + n_rows * n_columns].reshape(n_rows, n_columns)
    target[target_start : target_start + n_columns] += weights[weights_start : weights_start + n_rows] @ block


@intrinsic
def _spread_rows(
    typing_context: Any,
    rows: Any,
    rows_start: Any,
    weights: Any,
    weights_start: Any,
    values: Any,
    values_start: Any,
    n_rows: Any,
    n_columns: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emitter = Emitter(builder)
        rows, weights, values = places_of(context, builder, signature, arguments, {0: 1, 2: 3, 4: 5})

        def write(width: int) -> None:
            kept = emitter.load(values, width)

            def body(place: Any, _: list[Any]) -> list[Any]:
                row = builder.gep(rows, [builder.mul(place, LONG(width))])
                factor = builder.load(builder.gep(weights, [place]))
                emitter.store(row, width, emitter.multiply_add(factor, kept, emitter.load(row, width)))
                return []

            emitter.loop(LONG(0), arguments[6], [], body)

        emitter.switch(arguments[7], range(LANES, WIDEST + 1, LANES), write)
        return context.get_dummy_value()

    long = types.int64
    return types.void(rows, long, weights, long, values, long, long, long), generate


def _spread_rows_plainly(
    rows: FloatArray,
    rows_start: int,
    weights: FloatArray,
    weights_start: int,
    values: FloatArray,
    values_start: int,
    n_rows: int,
    n_columns: int,
) -> None:
    """Add the same values to `n_rows` rows, each time times a weight."""
    block = rows[rows_start : rows_start + n_rows * n_columns].reshape(n_rows, n_columns)
    factors = weights[weights_start : weights_start + n_rows]
    block += factors[:, None] * values[values_start : values_start + n_columns]


_plain = bool(config.DISABLE_JIT)
gather_rows: Callable[..., None] = _gather_rows_plainly if _plain else _gather_rows
spread_rows: Callable[..., None] = _spread_rows_plainly if _plain else _spread_rows
