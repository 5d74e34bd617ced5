import numpy as np
import pytest

from labelworth.kernels.chains import layout as chain_layout
from labelworth.kernels.chains.layout import N_PIECES, N_RANGES, bounds_by_tokens, lay_out, owners
from labelworth.kernels.chains.potentials import make_tokens


@pytest.mark.parametrize("block_tokens", [1, 7, 40, 10**6])
def test_every_token_has_its_place_once(monkeypatch: pytest.MonkeyPatch, block_tokens: int) -> None:
    monkeypatch.setattr(chain_layout, "BLOCK_BYTES", 8 * 4 * block_tokens)
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 12, size=30)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = rng.integers(9, size=offsets[-1])
    layout = lay_out(make_tokens(rows, offsets, np.full(len(rows), -1), np.empty((0, 2))), 9)
    assert layout.pieces[0, 0] == 0
    assert layout.pieces[-1, -1] == 30
    assert (layout.pieces[1:, 0] == layout.pieces[:-1, -1]).all()
    assert (np.diff(layout.pieces, axis=1) >= 0).all()
    assert layout.pieces.shape[1] == N_PIECES + 1
    assert layout.longest == lengths.max()
    found = []
    for block, first in enumerate(layout.block_starts[:-1]):
        for number in range(N_RANGES):
            low, high = layout.range_rows[number], layout.range_rows[number + 1]
            for entry in range(layout.entry_ranges[block, number], layout.entry_ranges[block, number + 1]):
                tokens = first + layout.postings[layout.entry_starts[entry] : layout.entry_starts[entry + 1]]
                assert low <= layout.entry_rows[entry] < high
                assert (rows[tokens] == layout.entry_rows[entry]).all()
                assert (np.diff(tokens) > 0).all()
                found += tokens.tolist()
    assert sorted(found) == list(range(len(rows)))


def test_bounds_cover_all_sequences() -> None:
    offsets = np.array([0, 3, 4, 9, 10])
    assert bounds_by_tokens(offsets, 5).tolist() == [0, 3, 4]
    assert bounds_by_tokens(offsets, 100).tolist() == [0, 4]


def test_owners_are_the_sequences_of_tokens() -> None:
    tokens = make_tokens(np.zeros(4), np.array([0, 1, 4]), np.full(4, -1), np.empty((0, 2)))
    assert owners(tokens).tolist() == [0, 1, 1, 1]
