import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.counts import as_counts
from labelworth.data.evidence import encode_labels
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError

DENSE = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])


def documents(**options: object) -> Samples:
    return Samples(as_counts(DENSE), encode_labels(["a", -1, "b"]), **options)


def vectors(**options: object) -> Samples:
    return Samples(DENSE, encode_labels(["a", -1, "b"]), **options)


def test_counts_and_vectors_know_what_they_are() -> None:
    assert documents().is_sparse
    assert not vectors().is_sparse
    np.testing.assert_array_equal(documents().counts.toarray(), DENSE)
    np.testing.assert_array_equal(vectors().vectors, DENSE)
    with pytest.raises(InvalidInputError, match="needs dense vectors"):
        _ = documents().vectors
    with pytest.raises(InvalidInputError, match="needs sparse counts"):
        _ = vectors().counts


@pytest.mark.parametrize("given", [sp.csr_matrix(DENSE), sp.coo_array(DENSE), sp.csr_array(DENSE.astype(int))])
def test_other_sparse_matrices_go_through_the_door(given: object) -> None:
    samples = Samples(given, encode_labels([0, 1, 0]))
    assert isinstance(samples.features, sp.csr_array)
    assert samples.counts.dtype == np.float64


def test_other_dense_arrays_go_through_the_door() -> None:
    samples = Samples(np.asfortranarray(DENSE.astype(np.float32)), encode_labels([0, 1, 0]))
    assert samples.vectors.flags.c_contiguous
    with pytest.raises(InvalidInputError, match="2 dimensions"):
        Samples(np.ones(3), encode_labels([0, 1, 0]))


@pytest.mark.parametrize("make", [documents, vectors])
def test_taking_and_hiding_keep_rows_together(make: object) -> None:
    samples: Samples = make(weights=np.array([1.0, 2.0, 0.5]), feature_names=("x", "y"))
    rows = np.array([2, 0])
    taken = samples.take(rows)
    np.testing.assert_array_equal(sp.csr_array(taken.features).toarray(), DENSE[rows])
    assert taken.evidence.codes.tolist() == [1, 0]
    assert taken.sample_weights.tolist() == [0.5, 1.0]
    assert samples.hide().evidence.is_unlabeled.all()
    assert samples.hide(np.array([0])).evidence.codes.tolist() == [-1, -1, 1]
    assert samples.labeled_only().evidence.codes.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": np.ones(2)}, "one weight per sample"),
        ({"weights": np.array([1.0, -1.0, 0.0])}, "non-negative"),
        ({"weights": np.array([1.0, np.nan, 0.0])}, "finite"),
        ({"feature_names": ("x",)}, "one name per column"),
    ],
)
def test_parts_that_do_not_fit_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        documents(**options)


def test_one_label_entry_belongs_to_each_row() -> None:
    with pytest.raises(InvalidInputError, match="3 samples and 2 label entries"):
        Samples(DENSE, encode_labels([0, 1]))
