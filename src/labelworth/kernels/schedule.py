"""In which order the pieces of a pass are done, so that no thread waits for another without need.

A pass goes over blocks of documents. In every block the *rows* (E-step) are cut into pieces by document, the
*postings* (M-step) into pieces by range of words. Threads draw tickets; the pieces behind
the tickets are, in this order,

    rows of block 0 | rows of block 1, postings of block 0 | rows of block 2, postings of block 1 | ...

A piece only waits for pieces with smaller tickets, so one thread alone never waits and many never lock each other up.
Postings of one block come after those of the block before: every sum is taken in the same order whoever takes it.
"""

from labelworth.arrays import IntArray
from labelworth.kernels.compilation import compiled
from labelworth.kernels.machine import fetch_and_add

BUFFERS = 3
"""How many blocks may be under way at once."""

ROWS, POSTINGS, FINISHED = 0, 1, 2


def n_counters(n_blocks: int) -> int:
    """How many counters the schedule of so many blocks needs, zero at the start."""
    return 1 + 2 * n_blocks


@compiled()
def draw(counters: IntArray, n_blocks: int, n_row_pieces: int, n_ranges: int) -> tuple[int, int, int]:
    """Draw the next piece and wait until it can be done: (kind, block, number within the block)."""
    while n_blocks > 0:
        ticket = fetch_and_add(counters, 0, 1)
        if ticket < n_row_pieces:
            return _rows_piece(counters, 0, ticket, n_ranges)
        step, number = divmod(ticket - n_row_pieces, n_row_pieces + n_ranges)
        if step >= n_blocks:
            break
        if number >= n_row_pieces:
            return _postings_piece(counters, step, number - n_row_pieces, n_row_pieces, n_ranges)
        if step + 1 < n_blocks:
            return _rows_piece(counters, step + 1, number, n_ranges)
    return FINISHED, 0, 0


@compiled()
def _rows_piece(counters: IntArray, block: int, number: int, n_ranges: int) -> tuple[int, int, int]:
    """Rows write into a buffer: wait until the postings of the block that had it are done."""
    if block >= BUFFERS:
        _wait(counters, 2 + 2 * (block - BUFFERS), n_ranges)
    return ROWS, block, number


@compiled()
def _postings_piece(
    counters: IntArray, block: int, number: int, n_row_pieces: int, n_ranges: int
) -> tuple[int, int, int]:
    """Postings read the buffer and add to sums: wait for the rows, and for the postings of the block before."""
    _wait(counters, 1 + 2 * block, n_row_pieces)
    if block > 0:
        _wait(counters, 2 * block, n_ranges)
    return POSTINGS, block, number


@compiled()
def _wait(counters: IntArray, place: int, value: int) -> None:
    while fetch_and_add(counters, place, 0) < value:
        pass


@compiled()
def finish(counters: IntArray, kind: int, block: int) -> None:
    """Tell the others that a piece is done."""
    fetch_and_add(counters, 1 + 2 * block + kind, 1)
