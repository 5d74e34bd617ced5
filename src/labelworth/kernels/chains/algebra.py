"""What a recursion over a chain consists of: a row times a matrix, with what goes before and after it in registers.

Matrices are square and flat, with rows of a multiple of four columns, at most `WIDEST`; the last functions are plain
loops for any number of labels. Those loops alone, raced in one process with interleaved repeats, make an EM pass of a
hidden Markov model 3 times slower with 5 labels, 4 times with 12 and 6 times with 40. What labels score at a token is
a row of a table, or, where something is known of the label, a row made for it.

Products with expected counts add up rows of a block of vectors, flat too, with a multiple of four columns, at most
`WIDEST`; as plain compiled loops, raced in the same way, they take twice as long.
"""

from typing import Any

import numpy as np
from numba.core import cgutils

from labelworth.arrays import FloatArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.vector_code import DOUBLE, LANES, LONG, Emitter, constant, word, zeros

WIDEST = 48
"""The most columns: twelve registers for sums leave room for the rest."""

_WIDTHS = range(LANES, WIDEST + 1, LANES)


@compiled()
def rows_at_once(width: int) -> int:
    """How many sums of rows are kept apart, so that the processor need not wait for one addition before the next."""
    return 4 if width <= 12 else 2 if width <= 24 else 1


def write_product(
    emitter: Emitter, factors: Any, rows: Any, n_rows: Any, width: int, initial: list[Any] | None = None
) -> list[Any]:
    """The sum of `n_rows` rows, each times its factor, as vectors; added to `initial` where that is given."""
    builder, n_sets = emitter.builder, rows_at_once(width)
    n_vectors = width // LANES

    def body(index: Any, sums: list[Any]) -> list[Any]:
        changed = []
        for number in range(n_sets):
            row = builder.add(builder.mul(index, LONG(n_sets)), LONG(number))
            factor = builder.load(emitter.at(factors, row))
            values = emitter.load(emitter.at(rows, row, width), width)
            changed += emitter.multiply_add(factor, values, sums[number * n_vectors : (number + 1) * n_vectors])
        return changed

    before = (zeros(width) if initial is None else initial) + zeros(width) * (n_sets - 1)
    sums = emitter.loop(LONG(0), builder.udiv(n_rows, LONG(n_sets)), before, body)
    return emitter.added_in_halves(sums, n_vectors)


def _write_total(emitter: Emitter, vectors: list[Any]) -> Any:
    """The sum of all entries."""
    builder = emitter.builder
    while len(vectors) > 1:
        odd = vectors[len(vectors) // 2 * 2 :]
        vectors = [builder.fadd(*pair) for pair in zip(vectors[0::2], vectors[1::2], strict=False)] + odd
    first, second, third, fourth = emitter.lanes(vectors[0])
    return builder.fadd(builder.fadd(first, third), builder.fadd(second, fourth))


def _write_forward_step(emitter: Emitter, given: Any) -> Any:
    builder, scale = emitter.builder, emitter.spread(given.scale)
    target = emitter.at(given.target.data, given.target_start)
    factors = emitter.at(given.factors.data, given.factors_start)
    row = builder.select(given.made, given.row.data, emitter.at(given.table.data, given.table_start))
    total = cgutils.alloca_once(builder, DOUBLE)

    def write(width: int) -> None:
        products = write_product(emitter, factors, given.matrix.data, given.n_rows, width)
        nodes = [builder.fmul(vector, scale) for vector in emitter.load(row, width)]
        weighted = [builder.fmul(*pair) for pair in zip(products, nodes, strict=True)]
        emitter.store(target, width, weighted)
        builder.store(_write_total(emitter, weighted), total)

    emitter.switch(given.width, _WIDTHS, write)
    return builder.load(total)


@word(_write_forward_step)
def forward_step(
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


def _write_backward_step(emitter: Emitter, given: Any) -> None:
    builder, zero = emitter.builder, constant(0.0)
    scale, weight = emitter.spread(given.scale), emitter.spread(given.weight)
    forwards, marginals = (emitter.at(array.data, given.start) for array in (given.forwards, given.marginals))
    ratios, beta = emitter.at(given.ratios.data, given.ratios_start), given.beta.data
    row = builder.select(given.made, given.row.data, emitter.at(given.table.data, given.table_start))

    def write(width: int) -> None:
        for column in range(0, width, LANES):
            here = [emitter.at(base, LONG(column)) for base in (forwards, beta, row)]
            ((forward,), (after,), (node,)) = (emitter.load(address, LANES) for address in here)
            marginal = builder.fmul(weight, builder.fmul(forward, after))
            emitter.store(emitter.at(marginals, LONG(column)), LANES, [marginal])
            quotient = builder.fmul(after, builder.fmul(node, scale))
            possible = builder.fcmp_ordered(">", forward, zero)
            ratio = builder.select(possible, quotient, zero)
            emitter.store(emitter.at(ratios, LONG(column)), LANES, [ratio])
        emitter.store(beta, width, write_product(emitter, ratios, given.matrix.data, given.n_rows, width))

    emitter.switch(given.width, _WIDTHS, write)


@word(_write_backward_step)
def backward_step(
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
    """Marginals of one position, the ratios that lead to it, and `beta` of the position before.

    ``marginals = weight * forwards * beta``, ``ratios = beta * row * scale`` where the forward weight is not zero,
    and then ``beta = ratios @ matrix``.
    """
    forward = forwards[start : start + width]
    marginals[start : start + width] = weight * (forward * beta)
    with np.errstate(all="ignore"):
        quotients = beta * ((row if made else table[table_start : table_start + width]) * scale)
    ratios[ratios_start : ratios_start + width] = np.where(forward > 0.0, quotients, 0.0)
    beta[:] = ratios[ratios_start : ratios_start + width] @ matrix.reshape(width, width)


def _write_add_outer_rows(emitter: Emitter, given: Any) -> None:
    builder = emitter.builder

    def write(width: int) -> None:
        n_sets, n_vectors = rows_at_once(width), width // LANES
        targets = [
            emitter.at(given.sums.data, builder.add(given.label, LONG(number)), width) for number in range(n_sets)
        ]
        column = emitter.at(given.left.data, builder.add(given.left_start, given.label))

        def body(index: Any, totals: list[Any]) -> list[Any]:
            start = builder.mul(index, LONG(width))
            base = emitter.at(given.right.data, start)
            factors = [
                emitter.spread(builder.load(emitter.at(column, builder.add(start, LONG(number)))))
                for number in range(n_sets)
            ]
            # Vector by vector, so that none of them takes a register from the sums for long.
            changed = list(totals)
            for vector in range(n_vectors):
                (values,) = emitter.load(emitter.at(base, LONG(LANES * vector)), LANES)
                for number in range(n_sets):
                    mine = number * n_vectors + vector
                    changed[mine] = emitter.fused(factors[number], values, changed[mine])
            return changed

        totals = [vector for target in targets for vector in emitter.load(target, width)]
        totals = emitter.loop(LONG(0), given.n_rows, totals, body)
        for number, target in enumerate(targets):
            emitter.store(target, width, totals[number * n_vectors : (number + 1) * n_vectors])

    emitter.switch(given.width, _WIDTHS, write)


@word(_write_add_outer_rows)
def add_outer_rows(
    sums: FloatArray, label: int, left: FloatArray, left_start: int, right: FloatArray, n_rows: int, width: int
) -> None:
    """Add outer products of rows of `left` and `right` to `rows_at_once` rows of a square matrix, from `label` on."""
    columns = left[left_start : left_start + n_rows * width].reshape(n_rows, width)[
        :, label : label + rows_at_once(width)
    ]
    target = sums.reshape(width, width)[label : label + rows_at_once(width)]
    target += columns.T @ right[: n_rows * width].reshape(n_rows, width)


@compiled(fastmath={"contract", "reassoc"})
def weigh_row(target: FloatArray, target_start: int, row: FloatArray, scale: float, width: int) -> float:
    """Multiply a row of `target` by another one, and by a number; return its sum."""
    total = 0.0
    for label in range(width):
        value = target[target_start + label] * (row[label] * scale)
        target[target_start + label] = value
        total += value
    return total


@compiled(fastmath={"contract"})
def divide_rows(
    marginals: FloatArray,
    forwards: FloatArray,
    start: int,
    row: FloatArray,
    scale: float,
    weight: float,
    ratios: FloatArray,
    ratios_start: int,
    beta: FloatArray,
    width: int,
) -> None:
    """Marginals of one position, and the ratios that lead to it."""
    for label in range(width):
        forward = forwards[start + label]
        marginals[start + label] = weight * (forward * beta[label])
        # Where a label cannot be, nothing bounds its ratio, and nothing asks for it.
        quotient = beta[label] * (row[label] * scale)
        ratios[ratios_start + label] = quotient if forward > 0.0 else 0.0


@compiled(fastmath={"contract"})
def multiply_rows(
    target: FloatArray, target_start: int, factors: FloatArray, factors_start: int, matrix: FloatArray, width: int
) -> None:
    """Set a row of `target` to a row of `factors` times a square matrix; all flat, rows of `width`."""
    for column in range(width):
        target[target_start + column] = factors[factors_start] * matrix[column]
    for row in range(1, width):
        factor = factors[factors_start + row]
        for column in range(width):
            target[target_start + column] += factor * matrix[row * width + column]


@compiled(fastmath={"contract"})
def add_outer_products(
    sums: FloatArray, left: FloatArray, left_start: int, right: FloatArray, n_rows: int, n_labels: int, width: int
) -> None:
    """Add to a square matrix the outer products of `n_rows` rows of `left` with as many of `right`."""
    if width <= WIDEST:
        for label in range(0, n_labels, rows_at_once(width)):
            add_outer_rows(sums, label, left, left_start, right, n_rows, width)
        return
    for row in range(n_rows):
        for label in range(width):
            factor = left[left_start + row * width + label]
            for column in range(width):
                sums[label * width + column] += factor * right[row * width + column]


def _write_gather_rows(emitter: Emitter, given: Any) -> None:
    target = emitter.at(given.target.data, given.target_start)
    weights = emitter.at(given.weights.data, given.weights_start)
    rows = emitter.at(given.rows.data, given.rows_start)

    def write(width: int) -> None:
        initial = emitter.load(target, width)
        emitter.store(target, width, write_product(emitter, weights, rows, given.n_rows, width, initial))

    emitter.switch(given.n_columns, _WIDTHS, write)


@word(_write_gather_rows)
def gather_rows(
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


def _write_spread_rows(emitter: Emitter, given: Any) -> None:
    rows = emitter.at(given.rows.data, given.rows_start)
    weights = emitter.at(given.weights.data, given.weights_start)

    def write(width: int) -> None:
        kept = emitter.load(emitter.at(given.values.data, given.values_start), width)

        def body(index: Any, _: list[Any]) -> list[Any]:
            row = emitter.at(rows, index, width)
            factor = emitter.builder.load(emitter.at(weights, index))
            emitter.store(row, width, emitter.multiply_add(factor, kept, emitter.load(row, width)))
            return []

        emitter.loop(LONG(0), given.n_rows, [], body)

    emitter.switch(given.n_columns, _WIDTHS, write)


@word(_write_spread_rows)
def spread_rows(
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
