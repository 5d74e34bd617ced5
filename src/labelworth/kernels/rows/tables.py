"""Tables of words by classes: as models keep them, a row per class, and as passes read them, a row per word."""

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import SMALLEST_NORMAL, fetch_and_add, logarithm
from labelworth.kernels.machine.threads import n_threads_for, run_together, wait_until

_LANES = 4
_CACHE_LINE = 64
_TILE = 64
_PIECE = 1 << 14


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


def sum_of_logarithms(values: FloatArray) -> float:
    """The sum of the logarithms of all values, none of which is negative."""
    return float(add_logarithms(np.ascontiguousarray(values).reshape(-1)))


def smoothed_shares(counts: FloatArray, smoothing: float) -> FloatArray:
    """(count + smoothing) over the sum of its row, for non-negative counts; a row of zeros is shared evenly."""
    counts = np.ascontiguousarray(counts)
    shares = np.empty(counts.shape)
    pieces = np.zeros((len(counts), -(-counts.shape[1] // _PIECE)))
    counters = np.zeros(4, dtype=np.int64)
    arguments = (counts, smoothing, shares, pieces, counters)
    run_together(work_on_shares, arguments, n_threads_for(counts.size), counters[3:], pieces.size)
    return shares


@compiled()
def add_logarithms(values: FloatArray) -> float:
    """Sum logarithms, a tile at a time."""
    logs = np.empty(_TILE)
    total = 0.0
    for start in range(0, len(values), _TILE):
        tile = values[start : start + _TILE]
        fill_logarithms(tile, logs)
        total += sum_smoothed(logs[: len(tile)], 0.0)
    return total


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
    counts: FloatArray, smoothing: float, shares: FloatArray, pieces: FloatArray, counters: IntArray
) -> None:
    """What one thread does of `smoothed_shares`: sums of pieces, then, when all are there, shares."""
    n_rows, n_pieces = pieces.shape
    while True:
        row, piece = divmod(fetch_and_add(counters, 0, 1), max(1, n_pieces))
        if row >= n_rows:
            break
        pieces[row, piece] = sum_smoothed(counts[row, piece * _PIECE : (piece + 1) * _PIECE], smoothing)
        fetch_and_add(counters, 1, 1)
    wait_until(counters, 1, n_rows * n_pieces)
    while True:
        row, piece = divmod(fetch_and_add(counters, 2, 1), max(1, n_pieces))
        if row >= n_rows:
            return
        first, last = piece * _PIECE, min((piece + 1) * _PIECE, counts.shape[1])
        total = pieces[row].sum()
        if total > 0:
            fill_shares(counts[row, first:last], smoothing, total, shares[row, first:last])
        else:
            shares[row, first:last] = 1 / counts.shape[1]
        fetch_and_add(counters, 3, 1)


@compiled(fastmath={"contract", "reassoc", "nsz"})
def sum_smoothed(counts: FloatArray, smoothing: float) -> float:
    """The sum of the counts, each with the smoothing."""
    total = 0.0
    for count in counts:
        total += count + smoothing
    return total


@compiled()
def fill_shares(counts: FloatArray, smoothing: float, total: float, shares: FloatArray) -> None:
    """Each count with the smoothing, over the total."""
    for position in range(len(counts)):
        shares[position] = (counts[position] + smoothing) / total
