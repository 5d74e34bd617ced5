import numpy as np
import pytest

from labelworth.kernels.chains import layout as chain_layout
from labelworth.kernels.chains.layout import lay_out, owners
from labelworth.kernels.chains.potentials import make_chain, make_tokens, nodes_from_logs
from labelworth.kernels.chains.products import CountBlock, count_products, empty_block
from labelworth.kernels.chains.sums import sequence_sums
from support.plain_chains import draw_chain, open_counts

N_ROWS, N_LABELS, WIDTH, N_VECTORS = 5, 3, 4, 4


def inputs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chain_layout, "BLOCK_BYTES", 8 * WIDTH * 20)
    rng = np.random.default_rng(0)
    drawn = draw_chain(4, N_LABELS, rng.integers(1, 6, size=60).tolist(), spread=2.0)
    rows = rng.integers(N_ROWS, size=len(drawn.codes))
    tokens = make_tokens(rows, drawn.offsets, drawn.codes, drawn.candidate_weights, drawn.sequence_weights)
    chain, nodes = make_chain(drawn.log_start, drawn.log_transition), nodes_from_logs(drawn.log_nodes[:N_ROWS])
    vectors = empty_block(N_ROWS, WIDTH, N_VECTORS)
    vectors.start.reshape(WIDTH, -1)[:N_LABELS] = rng.standard_normal((N_LABELS, N_VECTORS))
    vectors.pairs.reshape(WIDTH, WIDTH, -1)[:N_LABELS, :N_LABELS] = rng.standard_normal((3, 3, N_VECTORS))
    vectors.rows.reshape(N_ROWS, WIDTH, -1)[:, :N_LABELS] = rng.standard_normal((N_ROWS, N_LABELS, N_VECTORS))
    return chain, nodes, tokens, vectors


def dense_counts(chain, nodes, tokens) -> np.ndarray:
    """Expected counts of every sequence in the order of `flat`, without padding and without what is known."""
    known = tokens.codes >= 0
    assert (known[:-1] & known[1:]).sum() > 3
    return open_counts(*sequence_sums(chain, nodes, tokens), tokens.rows, tokens.codes, tokens.offsets, N_ROWS)


def flat(block: CountBlock) -> np.ndarray:
    pairs = block.pairs.reshape(WIDTH, WIDTH, -1)[:N_LABELS, :N_LABELS].reshape(-1, N_VECTORS)
    rows = block.rows.reshape(N_ROWS, WIDTH, -1)[:, :N_LABELS].reshape(-1, N_VECTORS)
    return np.concatenate([block.start.reshape(WIDTH, -1)[:N_LABELS], pairs, rows])


def test_products_equal_those_with_the_counts_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, nodes, tokens, vectors = inputs(monkeypatch)
    counts = dense_counts(chain, nodes, tokens)
    layout = lay_out(tokens, N_ROWS)
    assert layout.n_blocks > 2
    inner, sums = count_products(layout, owners(tokens), chain, nodes, vectors, True, 1)
    expected = counts @ flat(vectors)
    np.testing.assert_allclose(inner, expected, atol=1e-12)
    np.testing.assert_allclose(flat(sums), counts.T @ (tokens.sequence_weights[:, None] * expected), atol=1e-12)
    for n_threads in (2, 4):
        again = count_products(layout, owners(tokens), chain, nodes, vectors, True, n_threads)
        np.testing.assert_array_equal(again[0], inner)
        np.testing.assert_array_equal(flat(again[1]), flat(sums))


def test_inner_products_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, nodes, tokens, vectors = inputs(monkeypatch)
    layout = lay_out(tokens, N_ROWS)
    inner, sums = count_products(layout, owners(tokens), chain, nodes, vectors, False)
    np.testing.assert_allclose(inner, dense_counts(chain, nodes, tokens) @ flat(vectors), atol=1e-12)
    assert not sums.rows.size
