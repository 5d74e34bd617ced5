"""Threads that run compiled kernels together. Kernels let go of the interpreter, so plain threads are enough.

Nobody waits for a thread, only for pieces of work: a helper that comes late finds nothing left to do, and if none
comes at all (as after a fork) the caller does everything.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from numba import config

from labelworth.arrays import IntArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import fetch_and_add, let_others_run

_WORTH_A_THREAD = 1 << 19


def n_threads_available() -> int:
    """One per processor, or what ``NUMBA_NUM_THREADS`` says."""
    return int(config.NUMBA_NUM_THREADS)


def n_threads_for(size: int) -> int:
    """As many as are worth waking up to go through `size` numbers."""
    return min(n_threads_available(), 1 + size // _WORTH_A_THREAD)


@cache
def _helpers(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="labelworth-kernel")


def run_together(
    work: Callable[..., None], arguments: tuple[Any, ...], n_threads: int, counter: IntArray, n_pieces: int
) -> None:
    """Call ``work(*arguments)`` in so many threads, this one among them, until all pieces are done.

    The calls share their arguments; `work` has to draw its pieces from a counter in them, and to count those that it
    has finished in ``counter[0]``. Uncompiled, threads would only take turns, so one does everything.
    """
    n_helpers = 0 if config.DISABLE_JIT else n_threads - 1
    invited = [_helpers(n_helpers).submit(work, *arguments) for _ in range(n_helpers)]
    work(*arguments)
    wait_until(counter, 0, n_pieces)
    for invitation in invited:
        invitation.cancel()


@compiled()
def wait_until(counters: IntArray, position: int, value: int) -> None:
    """Wait until a counter has come to a value."""
    while fetch_and_add(counters, position, 0) < value:
        let_others_run()
