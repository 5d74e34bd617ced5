import numpy as np
import pytest

from labelworth.kernels.chains import grams as chain_grams
from labelworth.kernels.chains.grams import GramSums
from labelworth.kernels.chains.potentials import make_chain, make_tokens, nodes_from_logs
from labelworth.kernels.chains.sums import sequence_sums
from labelworth.kernels.rows.tables import padded_width
from support.plain_chains import draw_chain, open_counts

N_WORDS = 5


def inputs(n_labels: int, n_sequences: int):
    rng = np.random.default_rng(n_labels)
    drawn = draw_chain(4, n_labels, rng.integers(1, 6, size=n_sequences).tolist(), spread=2.0)
    # The last row is of words that do not count.
    rows = rng.integers(N_WORDS + 1, size=len(drawn.codes))
    tokens = make_tokens(rows, drawn.offsets, drawn.codes, drawn.candidate_weights, None)
    return make_chain(drawn.log_start, drawn.log_transition), nodes_from_logs(drawn.log_nodes[: N_WORDS + 1]), tokens


def found(n_labels: int, times: int = 1) -> tuple[np.ndarray, np.ndarray]:
    chain, nodes, tokens = inputs(n_labels, 60)
    sums = GramSums.empty(N_WORDS, padded_width(n_labels))
    for _ in range(times):
        sums.add(chain, nodes, tokens)
    return sums.matrix(n_labels)


@pytest.mark.parametrize("n_labels", [2, 3, 4, 6])
def test_sums_equal_those_of_the_counts_spelled_out(n_labels: int) -> None:
    chain, nodes, tokens = inputs(n_labels, 60)
    known = tokens.codes >= 0
    assert (known[:-1] & known[1:]).sum() > 3
    counts = open_counts(*sequence_sums(chain, nodes, tokens), tokens.rows, tokens.codes, tokens.offsets, N_WORDS)
    front = n_labels + n_labels**2
    words = counts[:, front:].reshape(-1, N_WORDS, n_labels).transpose(0, 2, 1).reshape(len(counts), -1)
    counts = np.concatenate([counts[:, :front], words], axis=1)
    matrix, sums = found(n_labels)
    np.testing.assert_allclose(matrix, counts.T @ counts, atol=1e-11)
    np.testing.assert_allclose(sums, counts.sum(axis=0), atol=1e-11)


def test_sums_add_up() -> None:
    once, twice = found(3), found(3, times=2)
    for one, two in zip(once, twice, strict=True):
        np.testing.assert_allclose(two, 2 * one, rtol=1e-12, atol=1e-13)


def test_the_same_bits_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    first = found(3)
    monkeypatch.setattr(chain_grams, "n_threads_for", lambda size: 4)
    for one, other in zip(first, found(3), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_columns", [8, 52])
def test_an_outer_product_is_added_in_registers_or_beyond(n_columns: int) -> None:
    rng = np.random.default_rng(0)
    target, column, row = rng.random(3 * n_columns + 4), rng.random(8), rng.random(n_columns + 4)
    expected = target.copy()
    expected[4:].reshape(3, n_columns)[:] += np.outer(column[2:5], row[4:])
    chain_grams.add_outer(target, 4, column, 2, row, 4, 3, n_columns)
    np.testing.assert_allclose(target, expected, rtol=1e-14)
