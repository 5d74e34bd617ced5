from threading import Thread

import pytest

from labelworth.kernels.machine.threads import BUFFERS, FINISHED, OPENING, POSTINGS, ROWS, draw, finish, new_counters

N_OPENING = 2


def drawn_alone(n_blocks: int, n_row_pieces: int, n_ranges: int) -> list[tuple[int, int, int]]:
    counters = new_counters(n_blocks)
    pieces = []
    while True:
        kind, block, number = draw(counters, n_blocks, N_OPENING, n_row_pieces, n_ranges)
        if kind == FINISHED:
            return pieces
        pieces.append((kind, block, number))
        finish(counters, kind, block)


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 7])
@pytest.mark.parametrize(("n_row_pieces", "n_ranges"), [(1, 1), (3, 2), (2, 5)])
def test_one_thread_draws_every_piece_once_and_in_an_order_it_can_do(
    n_blocks: int, n_row_pieces: int, n_ranges: int
) -> None:
    pieces = drawn_alone(n_blocks, n_row_pieces, n_ranges)
    assert pieces[:N_OPENING] == [(OPENING, 0, number) for number in range(N_OPENING)]
    del pieces[:N_OPENING]
    expected = [(ROWS, block, number) for block in range(n_blocks) for number in range(n_row_pieces)]
    expected += [(POSTINGS, block, number) for block in range(n_blocks) for number in range(n_ranges)]
    assert sorted(pieces) == sorted(expected)
    place = {piece: position for position, piece in enumerate(pieces)}
    for block in range(n_blocks):
        last_rows = max(place[ROWS, block, number] for number in range(n_row_pieces))
        first_postings = min(place[POSTINGS, block, number] for number in range(n_ranges))
        assert last_rows < first_postings
        if block >= BUFFERS:
            freed = max(place[POSTINGS, block - BUFFERS, number] for number in range(n_ranges))
            assert freed < min(place[ROWS, block, number] for number in range(n_row_pieces))


def test_postings_wait_for_the_rows_of_their_block() -> None:
    counters = new_counters(1)
    assert draw(counters, 1, 0, 1, 1) == (ROWS, 0, 0)
    drawn: list[tuple[int, int, int]] = []
    other = Thread(target=lambda: drawn.append(draw(counters, 1, 0, 1, 1)))
    other.start()
    other.join(timeout=0.2)
    assert other.is_alive()
    assert not drawn
    finish(counters, ROWS, 0)
    other.join(timeout=10)
    assert drawn == [(POSTINGS, 0, 0)]
