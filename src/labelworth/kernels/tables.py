"""Tables of words by classes: as models keep them, a row per class, and as passes read them, a row per word."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.kernels.compilation import compiled

_LANES = 4
_CACHE_LINE = 64
_TILE = 8


def padded_width(n_classes: int) -> int:
    """How long the row of a word is: whole vectors of four doubles."""
    return -(-n_classes // _LANES) * _LANES


def aligned_zeros(size: int) -> FloatArray:
    """Zeros that begin at a cache line, so that no vector straddles two."""
    raw = np.zeros(size + _CACHE_LINE // 8)
    first = (-raw.ctypes.data % _CACHE_LINE) // 8
    return raw[first : first + size]


@compiled()
def spread_table(table: FloatArray, padded: FloatArray, width: int, first: int, last: int) -> None:
    """Copy the columns `first` to `last` of a table (K, V) into the padded rows of those words."""
    n_classes = table.shape[0]
    for start in range(first, last, _TILE):
        stop = min(start + _TILE, last)
        for label in range(n_classes):
            for word in range(start, stop):
                padded[word * width + label] = table[label, word]


@compiled()
def collect_table(padded: FloatArray, table: FloatArray, width: int, first: int, last: int) -> None:
    """Copy the padded rows of the words `first` to `last` back into a table (K, V)."""
    n_classes = table.shape[0]
    for start in range(first, last, _TILE):
        stop = min(start + _TILE, last)
        for label in range(n_classes):
            for word in range(start, stop):
                table[label, word] = padded[word * width + label]
