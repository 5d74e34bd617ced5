"""Rows of a block of vectors, weighted and added up in registers: what products with expected counts consist of.

Blocks are flat, with a multiple of four columns, at most `WIDEST`, and weights come in multiples of four. As plain
compiled loops, raced in one process with interleaved repeats, a product takes twice as long.
"""

from typing import Any

from labelworth.arrays import FloatArray
from labelworth.kernels.chains.algebra import WIDEST, write_product
from labelworth.kernels.machine.vector_code import LANES, LONG, Emitter, word

__all__ = ["WIDEST", "gather_rows", "spread_rows"]

_WIDTHS = range(LANES, WIDEST + 1, LANES)


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
