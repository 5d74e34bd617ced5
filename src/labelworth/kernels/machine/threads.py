"""Threads that run compiled kernels together. Kernels let go of the interpreter, so plain threads are enough.

Nobody waits for a thread, only for pieces of work: a helper that comes late finds nothing left to do, and if none
comes at all (as after a fork) the caller does everything.

A pass goes over blocks of documents. In every block the *rows* (E-step) are cut into pieces by document, the
*postings* (M-step) into pieces by range of words; an *opening* prepares what all rows read. Threads draw tickets;
the pieces behind the tickets are, in this order,

    opening | rows of block 0 | rows of block 1, postings of block 0 | rows of block 2, postings of block 1 | ...

A piece only waits for pieces with smaller tickets, so one thread alone never waits and many never lock each other up.
Postings of one block come after those of the block before: every sum is taken in the same order whoever takes it.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numba import config

from labelworth.arrays import IntArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import fetch_and_add, let_others_run

_WORTH_A_THREAD = 1 << 19
BUFFERS = 3
"""How many blocks may be under way at once."""

OPENING, ROWS, POSTINGS, FINISHED = 0, 1, 2, 3


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


def new_counters(n_blocks: int) -> IntArray:
    """What threads share: the next ticket, and how many pieces of the opening and of every block are done."""
    return np.zeros(2 + 2 * n_blocks, dtype=np.int64)


def run_schedule(work: Callable[..., None], arguments: tuple[Any, ...], n_ranges: int, n_threads: int) -> None:
    """Let threads work through all blocks; the counters are the last argument of `work`."""
    run_together(work, arguments, n_threads, arguments[-1][-1:], n_ranges)


@compiled()
def draw(counters: IntArray, n_blocks: int, n_opening: int, n_row_pieces: int, n_ranges: int) -> tuple[int, int, int]:
    """Draw the next piece and wait until it can be done: (kind, block, number within the block)."""
    while True:
        ticket = fetch_and_add(counters, 0, 1)
        if ticket < n_opening:
            return OPENING, 0, ticket
        # A step has the rows of a block and the postings of the one before; half of the first and the last is empty.
        step, number = divmod(ticket - n_opening, n_row_pieces + n_ranges)
        if step > n_blocks:
            return FINISHED, 0, 0
        if number < n_row_pieces and step < n_blocks:
            _wait_for_buffer(counters, step, n_opening, n_ranges)
            return ROWS, step, number
        if number >= n_row_pieces and step > 0:
            _wait_for_rows(counters, step - 1, n_row_pieces, n_ranges)
            return POSTINGS, step - 1, number - n_row_pieces


@compiled()
def _wait_for_buffer(counters: IntArray, block: int, n_opening: int, n_ranges: int) -> None:
    """Rows need the opening, and a buffer that the postings of an earlier block no longer read."""
    wait_until(counters, 1, n_opening)
    if block >= BUFFERS:
        wait_until(counters, 3 + 2 * (block - BUFFERS), n_ranges)


@compiled()
def _wait_for_rows(counters: IntArray, block: int, n_row_pieces: int, n_ranges: int) -> None:
    """Postings need the rows of their block, and sums that the postings of the block before no longer change."""
    wait_until(counters, 2 + 2 * block, n_row_pieces)
    if block > 0:
        wait_until(counters, 1 + 2 * block, n_ranges)


@compiled()
def finish(counters: IntArray, kind: int, block: int) -> None:
    """Tell the others that a piece is done."""
    fetch_and_add(counters, 1 + 2 * block + kind, 1)
