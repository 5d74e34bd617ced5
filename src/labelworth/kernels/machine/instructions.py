"""What the processor can do and Numba has no word for: prefetching, shared counters, bits and logarithms."""

import struct
import sys
import time
from threading import Lock
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from labelworth.arrays import AnyArray, IntArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.vector_code import DOUBLE, LONG, SHORT, Emitter, word

_COUNTING = Lock()
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
"""log 2 in two parts, the first with so few digits that its products with small integers are exact."""

SMALLEST_NORMAL = 2.2250738585072014e-308
_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52
_INTEGER = 1075 << 52  # the bits of 2**52: an integer below it in the low bits makes 2**52 plus that integer
_SQRT2 = 1.4142135623730951


@word(lambda emitter, given: emitter.prefetch(emitter.at(given.array.data, given.index)))
def prefetch(array: AnyArray, index: int) -> None:
    """Call for a cache line that will be needed soon."""


def _write_fetch_and_add(emitter: Emitter, given: Any) -> Any:
    counter = emitter.at(given.counters.data, given.index)
    return emitter.builder.atomic_rmw("add", counter, given.step, "seq_cst")


@word(_write_fetch_and_add)
def fetch_and_add(counters: IntArray, index: int, step: int) -> int:
    """Add to a counter that threads share, and return what it was before; all earlier writes become visible."""
    with _COUNTING:
        before = int(counters[index])
        counters[index] = before + step
        return before


def _write_let_others_run(emitter: Emitter, given: Any) -> None:
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
    function = cgutils.get_or_insert_function(emitter.builder.module, ir.FunctionType(SHORT, []), name)
    emitter.builder.call(function, [])


@word(_write_let_others_run)
def let_others_run() -> None:
    """Give the processor to another thread that waits for it, if there is one."""
    time.sleep(0)


@word(lambda emitter, given: emitter.builder.bitcast(given.number, LONG))
def bits(number: float) -> int:
    """The 64 bits of a double, read as an integer."""
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


@word(lambda emitter, given: emitter.builder.bitcast(given.pattern, DOUBLE))
def from_bits(pattern: int) -> float:
    """The double with these 64 bits; higher bits are dropped, as the processor does."""
    return float(struct.unpack("<d", struct.pack("<Q", int(pattern) & (2**64 - 1)))[0])


@compiled(within=True)
def split(number: float) -> tuple[float, float]:
    """The mantissa, from 1 to 2, and the exponent of a positive normal double."""
    pattern = bits(number)
    exponent = from_bits(((pattern >> 52) & 2047) + _INTEGER) - (4503599627370496.0 + 1023.0)
    return from_bits((pattern & _MANTISSA) + _ONE), exponent


@compiled(fastmath={"contract"})
def logarithm(number: float) -> float:
    """The natural logarithm of a positive normal double, within two units in the last place.

    The number is m 2^n with m within a factor sqrt(2) of 1, and log m = 2 artanh(s), s = (m - 1) / (m + 1).
    """
    mantissa, exponent = split(number)
    large = mantissa > _SQRT2
    mantissa = 0.5 * mantissa if large else mantissa
    exponent = exponent + 1.0 if large else exponent
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    value = 2.0 / 21.0
    value = value * square + 2.0 / 19.0
    value = value * square + 2.0 / 17.0
    value = value * square + 2.0 / 15.0
    value = value * square + 2.0 / 13.0
    value = value * square + 2.0 / 11.0
    value = value * square + 2.0 / 9.0
    value = value * square + 2.0 / 7.0
    value = value * square + 2.0 / 5.0
    value = value * square + 2.0 / 3.0
    rest = ratio * square * value + exponent * LN2_LOW
    return exponent * LN2_HIGH + (2.0 * ratio + rest)
