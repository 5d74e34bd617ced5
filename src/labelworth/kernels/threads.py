"""Threads that run compiled kernels together. Kernels let go of the interpreter, so plain threads are enough."""

from collections.abc import Callable
from threading import Thread
from typing import Any

from numba import config


def n_threads_available() -> int:
    """One per processor, or what ``NUMBA_NUM_THREADS`` says."""
    return int(config.NUMBA_NUM_THREADS)


def run_together(work: Callable[..., None], arguments: tuple[Any, ...], n_threads: int) -> None:
    """Call ``work(*arguments)`` in so many threads, this one among them, and wait until all have returned.

    The calls share their arguments; `work` has to take its pieces from a counter in them. Uncompiled, threads
    would only take turns, so one does everything.
    """
    n_others = 0 if config.DISABLE_JIT else n_threads - 1
    others = [Thread(target=work, args=arguments) for _ in range(n_others)]
    for thread in others:
        thread.start()
    try:
        work(*arguments)
    finally:
        for thread in others:
            thread.join()
