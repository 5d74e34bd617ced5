from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelworth.data.counts import all_counts, as_counts, as_vectors, document_lengths, rescale_documents
from labelworth.errors import InvalidInputError

DENSE = [[0, 2, 0], [1, 0, 3]]


ARRAYS = [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array, sp.bsr_array, sp.dia_array]
MATRICES = [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix]


@pytest.mark.parametrize("container", [*ARRAYS, *MATRICES])
def test_every_sparse_format_gives_the_same_counts(container: type) -> None:
    counts = as_counts(container(np.array(DENSE)))
    assert isinstance(counts, sp.csr_array)
    assert counts.dtype == np.float64
    np.testing.assert_array_equal(counts.toarray(), DENSE)


@pytest.mark.parametrize(
    "given", [DENSE, np.array(DENSE), np.array(DENSE, dtype=np.int8), np.array(DENSE, order="F"), pd.DataFrame(DENSE)]
)
def test_anything_array_like_is_read(given: object) -> None:
    np.testing.assert_array_equal(as_counts(given).toarray(), DENSE)


def test_duplicates_are_added_and_zeros_dropped_without_touching_the_given_matrix() -> None:
    data, indices, indptr = np.array([1.0, 2.0, 0.0, 4.0]), np.array([2, 0, 1, 2]), np.array([0, 4])
    given = sp.csr_array((data, indices, indptr), shape=(1, 3))
    counts = as_counts(given)
    assert counts.indices.tolist() == [0, 2]
    assert counts.data.tolist() == [2.0, 5.0]
    assert data.tolist() == [1.0, 2.0, 0.0, 4.0]
    assert indices.tolist() == [2, 0, 1, 2]
    assert given.nnz == 4


def test_stale_flags_of_the_given_matrix_are_not_believed() -> None:
    given = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    given.has_canonical_format = True
    assert as_counts(given).indices.tolist() == [0, 1]


def test_clean_counts_are_not_copied() -> None:
    given = sp.csr_array(np.array(DENSE, dtype=np.float64))
    assert np.shares_memory(as_counts(given).data, given.data)


def test_indices_are_stored_in_32_bits() -> None:
    given = sp.csr_array(np.array(DENSE, dtype=np.float64))
    wide = sp.csr_array(
        (given.data, given.indices.astype(np.int64), given.indptr.astype(np.int64)), shape=given.shape
    )
    assert wide.indices.dtype == np.int64
    counts = as_counts(wide)
    assert counts.indices.dtype == counts.indptr.dtype == np.int32


def test_columns_beyond_32_bits_keep_wide_indices() -> None:
    column = 5_000_000_000
    given = sp.csr_array((np.ones(1), (np.zeros(1, dtype=np.int64), np.array([column]))), shape=(1, column + 1))
    assert as_counts(given).indices.tolist() == [column]


def test_a_million_columns_stay_sparse() -> None:
    rng = np.random.default_rng(0)
    rows, columns = np.repeat(np.arange(1000), 20), rng.integers(0, 10**6, 20_000)
    counts = as_counts(sp.coo_array((np.ones(20_000), (rows, columns)), shape=(1000, 10**6)))
    assert counts.shape == (1000, 10**6)
    assert counts.sum() == 20_000
    assert rescale_documents(counts, 9).nnz == counts.nnz


def test_huge_counts_keep_their_value() -> None:
    counts = as_counts([[1e12, 3], [2**53, 0]])
    assert document_lengths(counts).tolist() == [1e12 + 3, 2.0**53]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[1, -2]], r"Negative values in X.*-2 at row 0, column 1.*Gaussian"),
        ([[1, 2], [np.nan, 0]], r"X must be finite.*nan at row 1, column 0"),
        ([[np.inf, 2]], r"X must be finite.*inf at row 0, column 0"),
        (sp.csr_array([[1.0, np.nan]]), r"nan at row 0, column 1"),
        ([1, 2], r"2 dimensions.*reshape"),
        (np.zeros((2, 2, 2)), r"2 dimensions.*\(2, 2, 2\)"),
        (np.zeros((2, 0)), r"at least one column"),
        ([["a", "b"]], r"must be numbers.*text into counts"),
        ([["a", 1.5, None]], r"must be numbers"),
        ([[1, 2], [3]], r"rows of equal length"),
        ([[1j, 2]], r"complex"),
        (sp.csr_array([[1j, 2]]), r"complex"),
        ([[10**400, 1]], r"must be numbers.*too large"),
        ([[1e308, 1e308, 1e308]], r"more than a double can hold"),
        (None, r"2 dimensions"),
    ],
)
def test_bad_counts_are_refused_with_the_place_and_the_cure(given: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        as_counts(given)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_a_sparse_matrix_that_points_outside_is_refused(kind: str) -> None:
    given = sp.csr_array(np.eye(3)).asformat(kind)
    given.indices[1] = 70
    with pytest.raises(InvalidInputError, match="broken sparse matrix"):
        as_counts(given)


def test_no_rows_are_allowed() -> None:
    assert as_counts(np.zeros((0, 4))).shape == (0, 4)


def test_vectors_are_contiguous_doubles() -> None:
    vectors = as_vectors(np.array(DENSE, dtype=np.float32, order="F"))
    assert vectors.dtype == np.float64
    assert vectors.flags.c_contiguous
    np.testing.assert_array_equal(vectors, DENSE)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (sp.csr_array(DENSE), r"dense vectors.*sparse.*toarray"),
        ([[np.nan, 1]], r"finite.*nan at \[0, 0\]"),
        ([1.0], r"2 dimensions"),
        ([["x"]], r"numbers"),
    ],
)
def test_bad_vectors_are_refused(given: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        as_vectors(given)


def test_rescaled_documents_have_the_asked_length_and_the_same_shares() -> None:
    counts = as_counts([[3, 1, 0], [0, 0, 0], [1e12, 0, 1e12]])
    rescaled = rescale_documents(counts, 20)
    np.testing.assert_allclose(rescaled.toarray(), [[15, 5, 0], [0, 0, 0], [10, 0, 10]], rtol=1e-15)
    np.testing.assert_array_equal(counts.toarray()[0], [3, 1, 0])


def test_rescaling_survives_counts_near_the_limits_of_doubles() -> None:
    rescaled = rescale_documents(as_counts([[1e307, 3e307], [1e-320, 3e-320]]), 8)
    np.testing.assert_allclose(rescaled.toarray(), [[2, 6], [2, 6]], rtol=1e-3)  # 1e-320 has four digits


@pytest.mark.parametrize("length", [0, -1, np.nan, np.inf])
def test_a_length_must_be_positive_and_finite(length: float) -> None:
    with pytest.raises(InvalidInputError, match="length must lie in"):
        rescale_documents(as_counts(DENSE), length)


def test_bags_are_all_different_and_complete() -> None:
    bags = all_counts(4, 3)
    assert sorted(map(tuple, bags.tolist())) == sorted(bag for bag in product(range(5), repeat=3) if sum(bag) == 4)


def test_one_word_makes_one_bag() -> None:
    assert all_counts(3, 1).tolist() == [[3]]
