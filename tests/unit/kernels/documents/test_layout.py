import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.kernels.documents import layout as layouts
from labelworth.kernels.documents.layout import Documents, block_documents


def matrix_of_postings(layout: Documents) -> np.ndarray:
    """Read the postings back into a dense matrix, a row per document of the layout."""
    matrix = np.zeros((len(layout.rows), layout.n_words))
    for block, ranges in enumerate(layout.entry_ranges):
        for entry in range(ranges[0], ranges[-1]):
            for place in range(layout.entry_starts[entry], layout.entry_starts[entry + 1]):
                document = block * layout.block_size + layout.posting_documents[place]
                matrix[document, layout.entry_words[entry]] += layout.posting_counts[place]
    return matrix


@pytest.mark.parametrize("block_bytes", [1, layouts.BLOCK_BYTES])
@pytest.mark.parametrize("n_words", [1, 40, 200])
def test_postings_hold_every_count_of_the_chosen_rows(
    monkeypatch: pytest.MonkeyPatch, n_words: int, block_bytes: int
) -> None:
    monkeypatch.setattr(layouts, "BLOCK_BYTES", block_bytes)
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, size=(700, n_words)).astype(float)
    rows = rng.permutation(700)[:400]
    matrix = sp.csr_array(counts)
    layout = block_documents(matrix.indptr, matrix.indices, matrix.data, n_words, 5, rows)
    np.testing.assert_array_equal(matrix_of_postings(layout), counts[rows])


def test_words_ascend_within_a_block_and_keep_to_their_range() -> None:
    counts = np.random.default_rng(0).poisson(0.5, size=(300, 90)).astype(float)
    matrix = sp.csr_array(counts)
    layout = block_documents(matrix.indptr, matrix.indices, matrix.data, 90, 5)
    for ranges in layout.entry_ranges:
        words = layout.entry_words[ranges[0] : ranges[-1]]
        assert (np.diff(words) > 0).all()
        assert (np.diff(ranges) >= 0).all()
    postings = np.diff(layout.entry_starts[layout.entry_ranges])
    assert postings.max() < 3 * postings.mean()


@pytest.mark.parametrize(
    ("counts", "kind"),
    [
        ([1.0, 2.0, 16777216.0], np.float32),
        ([1.0, 0.5], np.float32),
        ([0.1], np.float64),
        ([1e300, 1.0], np.float64),
        ([16777217.0], np.float64),
    ],
)
def test_counts_are_stored_in_the_smallest_exact_kind(counts: list[float], kind: type) -> None:
    matrix = sp.csr_array(np.array([counts]))
    layout = block_documents(matrix.indptr, matrix.indices, matrix.data, len(counts), 2)
    assert layout.posting_counts.dtype == kind
    np.testing.assert_array_equal(np.sort(layout.posting_counts.astype(float)), np.sort(counts))


def test_stored_zeros_are_dropped() -> None:
    layout = block_documents(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([0.0, 2.0, 0.0]), 2, 3)
    assert layout.starts.tolist() == [0, 1, 1]
    assert layout.words.tolist() == [1]
    np.testing.assert_array_equal(matrix_of_postings(layout), [[0, 2], [0, 0]])


def test_rows_are_not_copied() -> None:
    matrix = sp.csr_array(np.eye(3))
    layout = block_documents(matrix.indptr, matrix.indices.astype(np.int32), matrix.data, 3, 2)
    assert np.shares_memory(layout.counts, matrix.data)


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (3, 4)])
def test_nothing_to_lay_out_is_no_difficulty(shape: tuple[int, int]) -> None:
    matrix = sp.csr_array(np.zeros(shape))
    layout = block_documents(matrix.indptr, matrix.indices, matrix.data, shape[1], 2)
    assert len(layout.posting_counts) == 0
