"""What the processor can do and Numba has no word for: prefetching, counters that threads share, bits of doubles.

Each word has a plain Python twin, which is what runs where the compiler is switched off (``NUMBA_DISABLE_JIT=1``).
"""

import struct
import sys
import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils

from labelworth.arrays import AnyArray, IntArray
from labelworth.kernels.machine.compilation import intrinsic
from labelworth.kernels.machine.vector_code import DOUBLE, LONG, emit_prefetch

_COUNTING = Lock()


@intrinsic
def _prefetch(typing_context: Any, array: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        emit_prefetch(builder, builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _prefetch_plainly(array: AnyArray, place: int) -> None:
    """Call for a cache line that will be needed soon."""


@intrinsic
def _fetch_and_add(typing_context: Any, counters: Any, place: Any, step: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(counters, types.int64, types.int64), generate


def _fetch_and_add_plainly(counters: IntArray, place: int, step: int) -> int:
    """Add to a counter that threads share, and return what it was before; all earlier writes become visible."""
    with _COUNTING:
        before = int(counters[place])
        counters[place] = before + step
        return before


@intrinsic
def _let_others_run(typing_context: Any) -> Any:
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return types.void(), generate


def _let_others_run_plainly() -> None:
    """Give the processor to another thread that waits for it, if there is one."""
    time.sleep(0)


@intrinsic
def _bits(typing_context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], LONG)

    return types.int64(types.float64), generate


def _bits_plainly(number: float) -> int:
    """The 64 bits of a double, read as an integer."""
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


@intrinsic
def _from_bits(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], DOUBLE)

    return types.float64(types.int64), generate


def _from_bits_plainly(bits: int) -> float:
    """The double with these 64 bits; higher bits are dropped, as the processor does."""
    return float(struct.unpack("<d", struct.pack("<Q", int(bits) & (2**64 - 1)))[0])


_plain = bool(config.DISABLE_JIT)
prefetch: Callable[..., None] = _prefetch_plainly if _plain else _prefetch
fetch_and_add: Callable[..., int] = _fetch_and_add_plainly if _plain else _fetch_and_add
let_others_run: Callable[[], None] = _let_others_run_plainly if _plain else _let_others_run
bits: Callable[[float], int] = _bits_plainly if _plain else _bits
from_bits: Callable[[int], float] = _from_bits_plainly if _plain else _from_bits
