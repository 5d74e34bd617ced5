"""What a recursion over a chain consists of: a row times a matrix, with what goes before and after it in registers.

Matrices are square and flat, with rows of a multiple of four columns, at most `WIDEST`; `chain_steps` has the loops
for wider ones. What labels score at a token is a row of a table, or, where something is known of the label, a row
made for it. Each word has a plain Python twin, which is what runs where the compiler is switched off
(``NUMBA_DISABLE_JIT=1``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils

from labelworth.arrays import FloatArray
from labelworth.kernels.machine.compilation import compiled, intrinsic
from labelworth.kernels.machine.vector_code import DOUBLE, LONG, SHORT, Emitter, arrays_among

WIDEST = 48
"""The most columns: twelve registers for sums leave room for the rest."""

LANES = 4


@compiled()
def rows_at_once(width: int) -> int:
    """How many sums of rows are kept apart, so that the processor need not wait for one addition before the next."""
    return 4 if width <= 12 else 2 if width <= 24 else 1


def vectors_of_zeros(width: int) -> list[Any]:
    """A row of zeros."""
    vector = ir.VectorType(DOUBLE, LANES)
    return [ir.Constant(vector, [DOUBLE(0.0)] * LANES) for _ in range(width // LANES)]


def _emit_product(emitter: Emitter, factors: Any, matrix: Any, n_rows: Any, width: int) -> list[Any]:
    """A row of factors times the first rows of a matrix, as vectors."""
    builder, n_sets = emitter.builder, rows_at_once(width)
    n_vectors = width // LANES

    def body(place: Any, sums: list[Any]) -> list[Any]:
        changed = []
        for number in range(n_sets):
            row = builder.add(builder.mul(place, LONG(n_sets)), LONG(number))
            factor = builder.load(builder.gep(factors, [row]))
            values = emitter.load(builder.gep(matrix, [builder.mul(row, LONG(width))]), width)
            changed += emitter.multiply_add(factor, values, sums[number * n_vectors : (number + 1) * n_vectors])
        return changed

    sums = emitter.loop(LONG(0), builder.udiv(n_rows, LONG(n_sets)), vectors_of_zeros(width) * n_sets, body)
    while len(sums) > n_vectors:
        half = len(sums) // 2
        sums = [builder.fadd(one, two) for one, two in zip(sums[:half], sums[half:], strict=True)]
    return sums


def _emit_total(builder: Any, vectors: list[Any]) -> Any:
    """The sum of all entries."""
    while len(vectors) > 1:
        odd = vectors[len(vectors) // 2 * 2 :]
        vectors = [builder.fadd(*pair) for pair in zip(vectors[0::2], vectors[1::2], strict=False)] + odd
    lanes = [builder.extract_element(vectors[0], SHORT(lane)) for lane in range(LANES)]
    return builder.fadd(builder.fadd(lanes[0], lanes[2]), builder.fadd(lanes[1], lanes[3]))


def places_of(context: Any, builder: Any, signature: Any, arguments: Any, starts: dict[int, int]) -> list[Any]:
    """Where the rows begin: the arrays at the given places of the arguments, each at the start that follows it."""
    arrays = arrays_among(context, builder, signature, arguments)
    return [builder.gep(arrays[place].data, [arguments[start]]) for place, start in starts.items()]


@intrinsic
def _forward_step(
    typing_context: Any,
    target: Any,
    target_start: Any,
    factors: Any,
    factors_start: Any,
    matrix: Any,
    table: Any,
    table_start: Any,
    row: Any,
    made: Any,
    scale: Any,
    n_rows: Any,
    width: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emitter = Emitter(builder)
        target, factors, listed = places_of(context, builder, signature, arguments, {0: 1, 2: 3, 5: 6})
        arrays = arrays_among(context, builder, signature, arguments)
        matrix, row = arrays[4].data, builder.select(arguments[8], arrays[7].data, listed)
        scale, n_rows = emitter.spread(arguments[9], LANES), arguments[10]
        result = cgutils.alloca_once(builder, DOUBLE)

        def write(width: int) -> None:
            products = _emit_product(emitter, factors, matrix, n_rows, width)
            nodes = [builder.fmul(vector, scale) for vector in emitter.load(row, width)]
            weighted = [builder.fmul(*pair) for pair in zip(products, nodes, strict=True)]
            emitter.store(target, width, weighted)
            builder.store(_emit_total(builder, weighted), result)

        emitter.switch(arguments[11], range(LANES, WIDEST + 1, LANES), write)
        return builder.load(result)

    long, double, flag = types.int64, types.float64, types.boolean
    taken = (target, long, factors, long, matrix, table, long, row, flag, double, long, long)
    return types.float64(*taken), generate


def _forward_step_plainly(
    target: FloatArray,
    target_start: int,
    factors: FloatArray,
    factors_start: int,
    matrix: FloatArray,
    table: FloatArray,
    table_start: int,
    row: FloatArray,
    made: bool,
    scale: float,
    n_rows: int,
    width: int,
) -> float:
    """Set a row of `target` to ``(factors @ matrix) * (row * scale)``; return its sum.

    The row is that of `table` unless it was `made`. The matrix has zeros after its first `n_rows` rows, a multiple of
    `rows_at_once`. The sum is not waited for: the scale that belongs to it comes in with the next step.
    """
    products = factors[factors_start : factors_start + width] @ matrix.reshape(width, width)
    node = row if made else table[table_start : table_start + width]
    target[target_start : target_start + width] = products * (node * scale)
    return float(target[target_start : target_start + width].sum())


@intrinsic
def _backward_step(
    typing_context: Any,
    marginals: Any,
    forwards: Any,
    start: Any,
    table: Any,
    table_start: Any,
    row: Any,
    made: Any,
    scale: Any,
    weight: Any,
    ratios: Any,
    ratios_start: Any,
    matrix: Any,
    beta: Any,
    n_rows: Any,
    width: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emitter = Emitter(builder)
        starts = {0: 2, 1: 2, 3: 4, 9: 10}
        marginals, forwards, listed, ratios = places_of(context, builder, signature, arguments, starts)
        arrays = arrays_among(context, builder, signature, arguments)
        matrix, beta = arrays[11].data, arrays[12].data
        row = builder.select(arguments[6], arrays[5].data, listed)
        scale, weight = (emitter.spread(arguments[place], LANES) for place in (7, 8))

        def write(width: int) -> None:
            zero = vectors_of_zeros(LANES)[0]
            for column in range(0, width, LANES):
                at = [builder.gep(base, [LONG(column)]) for base in (forwards, beta, row, marginals, ratios)]
                ((forward,), (after,), (node,)) = (emitter.load(place, LANES) for place in at[:3])
                emitter.store(at[3], LANES, [builder.fmul(weight, builder.fmul(forward, after))])
                quotient = builder.fmul(after, builder.fmul(node, scale))
                possible = builder.fcmp_ordered(">", forward, zero)
                emitter.store(at[4], LANES, [builder.select(possible, quotient, zero)])
            emitter.store(beta, width, _emit_product(emitter, ratios, matrix, arguments[13], width))

        emitter.switch(arguments[14], range(LANES, WIDEST + 1, LANES), write)
        return context.get_dummy_value()

    long, double, flag = types.int64, types.float64, types.boolean
    signature = types.void(
        marginals, forwards, long, table, long, row, flag, double, double, ratios, long, matrix, beta, long, long
    )
    return signature, generate


def _backward_step_plainly(
    marginals: FloatArray,
    forwards: FloatArray,
    start: int,
    table: FloatArray,
    table_start: int,
    row: FloatArray,
    made: bool,
    scale: float,
    weight: float,
    ratios: FloatArray,
    ratios_start: int,
    matrix: FloatArray,
    beta: FloatArray,
    n_rows: int,
    width: int,
) -> None:
    """Marginals of one place, the ratios that lead to it, and `beta` of the place before.

    ``marginals = weight * forwards * beta``, ``ratios = beta * row * scale`` where the forward weight is not zero,
    and then ``beta = ratios @ matrix``.
    """
    forward = forwards[start : start + width]
    marginals[start : start + width] = weight * (forward * beta)
    with np.errstate(all="ignore"):
        quotients = beta * ((row if made else table[table_start : table_start + width]) * scale)
    ratios[ratios_start : ratios_start + width] = np.where(forward > 0.0, quotients, 0.0)
    beta[:] = ratios[ratios_start : ratios_start + width] @ matrix.reshape(width, width)


@intrinsic
def _add_outer_rows(
    typing_context: Any, sums: Any, label: Any, left: Any, left_start: Any, right: Any, n_rows: Any, width: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emitter = Emitter(builder)
        arrays = arrays_among(context, builder, signature, arguments)
        sums, left, right = (arrays[place].data for place in (0, 2, 4))
        label, left_start, n_rows = arguments[1], arguments[3], arguments[5]

        def write(width: int) -> None:
            n_sets, n_vectors = rows_at_once(width), width // LANES
            targets = [
                builder.gep(sums, [builder.mul(builder.add(label, LONG(number)), LONG(width))])
                for number in range(n_sets)
            ]
            column = builder.gep(left, [builder.add(left_start, label)])

            def body(place: Any, totals: list[Any]) -> list[Any]:
                start = builder.mul(place, LONG(width))
                base = builder.gep(right, [start])
                factors = [
                    emitter.spread(builder.load(builder.gep(column, [builder.add(start, LONG(number))])), LANES)
                    for number in range(n_sets)
                ]
                # Vector by vector, so that none of them takes a register from the sums for long.
                changed = list(totals)
                for vector in range(n_vectors):
                    (values,) = emitter.load(builder.gep(base, [LONG(LANES * vector)]), LANES)
                    for number in range(n_sets):
                        mine = number * n_vectors + vector
                        changed[mine] = emitter.fused(factors[number], values, changed[mine])
                return changed

            totals = [vector for target in targets for vector in emitter.load(target, width)]
            totals = emitter.loop(LONG(0), n_rows, totals, body)
            for number, target in enumerate(targets):
                emitter.store(target, width, totals[number * n_vectors : (number + 1) * n_vectors])

        emitter.switch(arguments[6], range(LANES, WIDEST + 1, LANES), write)
        return context.get_dummy_value()

    long = types.int64
    return types.void(sums, long, left, long, right, long, long), generate


def _add_outer_rows_plainly(
    sums: FloatArray, label: int, left: FloatArray, left_start: int, right: FloatArray, n_rows: int, width: int
) -> None:
    """Add outer products of rows of `left` and `right` to `rows_at_once` rows of a square matrix, from `label` on."""
    columns = left[left_start : left_start + n_rows * width].reshape(n_rows, width)[
        :, label : label + rows_at_once(width)
    ]
    target = sums.reshape(width, width)[label : label + rows_at_once(width)]
    target += columns.T @ right[: n_rows * width].reshape(n_rows, width)


_plain = bool(config.DISABLE_JIT)
forward_step: Callable[..., float] = _forward_step_plainly if _plain else _forward_step
backward_step: Callable[..., None] = _backward_step_plainly if _plain else _backward_step
add_outer_rows: Callable[..., None] = _add_outer_rows_plainly if _plain else _add_outer_rows
