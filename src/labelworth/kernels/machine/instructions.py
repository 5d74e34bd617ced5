"""What the processor can do and Numba has no word for: prefetching, counters that threads share, bits of doubles."""

import struct
import sys
import time
from threading import Lock
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from labelworth.arrays import AnyArray, IntArray
from labelworth.kernels.machine.vector_code import DOUBLE, LONG, SHORT, Emitter, word

_COUNTING = Lock()


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
