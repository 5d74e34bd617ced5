"""Tables of words by classes: as models keep them, a row per class, and as passes read them, a row per word."""

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import (
    LN2_HIGH,
    LN2_LOW,
    SMALLEST_NORMAL,
    fetch_and_add,
    logarithm,
    split,
)
from labelworth.kernels.machine.threads import n_threads_for, run_together, wait_until

_LANES = 4
_CACHE_LINE = 64
_TILE = 64
_PIECE = 1 << 14
_MOST_FACTORS = 512
"""Mantissas below two that are multiplied before their product is split again."""
_LARGE_EXPONENT = 64.0
_LARGE = 2.0**_LARGE_EXPONENT


def padded_width(n_classes: int) -> int:
    """How long the row of a word is: whole vectors of four doubles."""
    return -(-n_classes // _LANES) * _LANES


def aligned_zeros(size: int) -> FloatArray:
    """Zeros that begin at a cache line, so that no vector straddles two."""
    raw = np.zeros(size + _CACHE_LINE // 8)
    first = (-raw.ctypes.data % _CACHE_LINE) // 8
    return raw[first : first + size]


@compiled()
def spread_logarithms(table: FloatArray, padded: FloatArray, width: int, first: int, last: int) -> None:
    """Write the logarithms of the columns `first` to `last` of a table (K, V) into the padded rows of those words."""
    logs = np.empty((table.shape[0], _TILE))
    for start in range(first, last, _TILE):
        stop = min(start + _TILE, last)
        for label in range(table.shape[0]):
            fill_logarithms(table[label, start:stop], logs[label])
        for word in range(start, stop):
            for label in range(table.shape[0]):
                padded[word * width + label] = logs[label, word - start]


@compiled()
def collect_table(padded: FloatArray, table: FloatArray, width: int, first: int, last: int) -> None:
    """Copy the padded rows of the words `first` to `last` back into a table (K, V)."""
    for start in range(first, last, _TILE):
        for label in range(table.shape[0]):
            for word in range(start, min(start + _TILE, last)):
                table[label, word] = padded[word * width + label]


def logarithms(values: FloatArray) -> FloatArray:
    """The natural logarithm of every value, none of which is negative; minus infinity for zero."""
    logs = np.empty(values.shape)
    fill_logarithms(np.ascontiguousarray(values).reshape(-1), logs.reshape(-1))
    return logs


def sum_of_logarithms(values: FloatArray, times: FloatArray | None = None) -> float:
    """The sum of the logarithms of all values, none of which is negative; of a column as often as `times` says."""
    table = np.ascontiguousarray(values).reshape(len(values) if values.ndim > 1 else 1, -1)
    return float(add_logarithms(table, np.ones(table.shape[1]) if times is None else times))


def smoothed_shares(counts: FloatArray, smoothing: float, times: FloatArray | None = None) -> FloatArray:
    """(count + smoothing) over the sum of its row, for non-negative counts; a row of zeros is shared evenly.

    `times` (n_columns,) is how often the smoothing, or an even share, falls on a column; once when None.
    """
    counts = np.ascontiguousarray(counts)
    shares = np.empty(counts.shape)
    pieces = np.zeros((len(counts), -(-counts.shape[1] // _PIECE)))
    counters = np.zeros(4, dtype=np.int64)
    n_columns = counts.shape[1]
    smoothings = np.full(n_columns, smoothing) if times is None else smoothing * times
    even = np.full(n_columns, 1 / n_columns) if times is None else times / times.sum()
    arguments = (counts, smoothings, even, shares, pieces, counters)
    run_together(work_on_shares, arguments, n_threads_for(counts.size), counters[3:], pieces.size)
    return shares


@compiled()
def add_logarithms(table: FloatArray, times: FloatArray) -> float:
    """Sum the logarithms of a table, those of every column so many times.

    The numbers of a column are multiplied, and one logarithm is taken of the product: of mantissas, that is, while
    exponents are added, so that no product leaves what doubles hold.
    """
    products, exponents, logs = np.empty(_TILE), np.empty(_TILE), np.empty(_TILE)
    total = 0.0
    for start in range(0, table.shape[1], _TILE):
        n_columns = min(_TILE, table.shape[1] - start)
        products[:] = 1.0
        exponents[:] = 0.0
        for row in range(table.shape[0]):
            multiply_mantissas(table[row, start : start + n_columns], products, exponents)
            if row % _MOST_FACTORS == _MOST_FACTORS - 1:
                logs[:] = products
                products[:] = 1.0
                multiply_mantissas(logs, products, exponents)
        fill_logarithms(products, logs)
        for column in range(n_columns):
            rest = logs[column] + exponents[column] * LN2_LOW
            total += times[start + column] * (exponents[column] * LN2_HIGH + rest)
    return total


@compiled()
def multiply_mantissas(values: FloatArray, products: FloatArray, exponents: FloatArray) -> None:
    """Multiply the products by the mantissas of so many values, from 1 to 2, and add their exponents.

    A value of zero makes a product zero.
    """
    for position in range(len(values)):
        value = values[position]
        is_small = value < SMALLEST_NORMAL
        mantissa, exponent = split(value * _LARGE if is_small else value)
        products[position] *= 0.0 if value == 0.0 else mantissa
        exponents[position] += exponent - _LARGE_EXPONENT if is_small else exponent


@compiled()
def fill_logarithms(values: FloatArray, logs: FloatArray) -> None:
    """Logarithms of normal numbers in vectors; where there are others, those again one by one."""
    n_others = 0
    for position in range(len(values)):
        logs[position] = logarithm(values[position])
    for position in range(len(values)):
        n_others += values[position] < SMALLEST_NORMAL
    if n_others > 0:
        for position in range(len(values)):
            if values[position] < SMALLEST_NORMAL:
                logs[position] = np.log(values[position]) if values[position] > 0 else -np.inf


@compiled()
def work_on_shares(
    counts: FloatArray,
    smoothings: FloatArray,
    even: FloatArray,
    shares: FloatArray,
    pieces: FloatArray,
    counters: IntArray,
) -> None:
    """What one thread does of `smoothed_shares`: sums of pieces, then, when all are there, shares."""
    n_rows, n_pieces = pieces.shape
    while True:
        row, piece = divmod(fetch_and_add(counters, 0, 1), max(1, n_pieces))
        if row >= n_rows:
            break
        inside = slice(piece * _PIECE, (piece + 1) * _PIECE)
        pieces[row, piece] = sum_smoothed(counts[row, inside], smoothings[inside])
        fetch_and_add(counters, 1, 1)
    wait_until(counters, 1, n_rows * n_pieces)
    while True:
        row, piece = divmod(fetch_and_add(counters, 2, 1), max(1, n_pieces))
        if row >= n_rows:
            return
        first, last = piece * _PIECE, min((piece + 1) * _PIECE, counts.shape[1])
        total = pieces[row].sum()
        if total > 0:
            fill_shares(counts[row, first:last], smoothings[first:last], total, shares[row, first:last])
        else:
            shares[row, first:last] = even[first:last]
        fetch_and_add(counters, 3, 1)


@compiled(fastmath={"contract", "reassoc", "nsz"})
def sum_smoothed(counts: FloatArray, smoothings: FloatArray) -> float:
    """The sum of the counts, each with its smoothing."""
    total = 0.0
    for position in range(len(counts)):
        total += counts[position] + smoothings[position]
    return total


@compiled()
def fill_shares(counts: FloatArray, smoothings: FloatArray, total: float, shares: FloatArray) -> None:
    """Each count with its smoothing, over the total."""
    for position in range(len(counts)):
        shares[position] = (counts[position] + smoothings[position]) / total
