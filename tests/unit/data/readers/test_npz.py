from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.counts import as_counts, as_vectors
from labelworth.data.readers.npz import read_npz
from labelworth.errors import InvalidInputError

MATRIX = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 0.0]])


def archive(tmp_path: Path, **arrays: np.ndarray) -> Path:
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    "container", [sp.csr_array, sp.csc_array, sp.coo_array, sp.bsr_array, sp.dia_array, sp.csr_matrix, sp.coo_matrix]
)
def test_matrices_saved_by_scipy_are_read(tmp_path: Path, container: type) -> None:
    sp.save_npz(tmp_path / "a.npz", container(MATRIX))
    raw = read_npz(tmp_path / "a.npz")
    np.testing.assert_array_equal(as_counts(raw.features).toarray(), MATRIX)
    assert raw.labels == (None, None, None)


@pytest.mark.parametrize(("features", "labels"), [("X", "y"), ("features", "labels")])
def test_arrays_are_read_with_labels_from_the_archive(tmp_path: Path, features: str, labels: str) -> None:
    raw = read_npz(archive(tmp_path, **{features: MATRIX, labels: np.array(["a", "", "b"])}))
    np.testing.assert_array_equal(as_vectors(raw.features), MATRIX)
    assert raw.labels == ("a", None, "b")


def test_minus_one_is_unlabeled_in_arrays_unless_it_may_be_one_of_two_classes(tmp_path: Path) -> None:
    assert read_npz(archive(tmp_path, X=MATRIX, y=np.array([0, -1, 1]))).labels == (0, None, 1)
    assert read_npz(archive(tmp_path, X=MATRIX, y=np.array([0.0, np.nan, 1.0]))).labels == (0, None, 1)
    path = archive(tmp_path, X=MATRIX, y=np.array([1, -1, 1]))
    with pytest.raises(InvalidInputError, match="the label is -1"):
        read_npz(path)
    assert read_npz(path, unlabeled=None).labels == (1, -1, 1)
    assert read_npz(path, unlabeled="-1").labels == (1, None, 1)


def test_labels_of_a_file_of_their_own_win(tmp_path: Path) -> None:
    path = archive(tmp_path, X=MATRIX, y=np.array([0, 1, 2]))
    (tmp_path / "y.txt").write_bytes(b'ham\r\n\n["ham", "spam"]\n')
    np.save(tmp_path / "y.npy", np.array(["x", "y", "x"]))
    assert read_npz(path, labels=tmp_path / "y.txt").labels == ("ham", None, ["ham", "spam"])
    assert read_npz(path, labels=tmp_path / "y.npy").labels == ("x", "y", "x")


def test_a_label_file_of_another_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "y.txt").write_text("a\nb\n")
    with pytest.raises(InvalidInputError, match=r"3 rows and 2 label entries.*empty line"):
        read_npz(archive(tmp_path, X=MATRIX), labels=tmp_path / "y.txt")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (str(tmp_path / "sprung"),))

    for arrays in (
        {"X": np.array([[Trap()]], dtype=object)},
        {"X": MATRIX, "y": np.array([Trap()] * 3, dtype=object)},
    ):
        with pytest.raises(InvalidInputError, match=r"more than plain arrays.*without arrays of objects"):
            read_npz(archive(tmp_path, **arrays))
    np.save(tmp_path / "y.npy", np.array([Trap()] * 3, dtype=object), allow_pickle=True)
    with pytest.raises(InvalidInputError, match="more than plain arrays"):
        read_npz(archive(tmp_path, X=MATRIX), labels=tmp_path / "y.npy")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"words": MATRIX}, r"holds words, but no array X.*numpy\.savez"),
        ({"X": MATRIX[0]}, r"X must have 2 dimensions"),
        ({"X": MATRIX, "y": MATRIX}, r"labels must be numbers or text in one dimension"),
        ({"X": MATRIX, "y": np.array([1j, 2, 3])}, r"labels must be numbers or text"),
        ({"X": MATRIX, "y": np.array([1, 2])}, r"3 rows and 2 label entries"),
        ({"format": np.array(b"csr"), "data": np.ones(1)}, r"damaged"),
        ({"format": np.array(b"xyz"), "data": np.ones(1)}, r"damaged"),
    ],
)
def test_archives_that_hold_something_else_are_refused(
    tmp_path: Path, arrays: dict[str, np.ndarray], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_npz(archive(tmp_path, **arrays))


def test_indices_that_point_outside_are_refused_before_anybody_follows_them(tmp_path: Path) -> None:
    broken = {"indices": np.array([0, 99]), "indptr": np.array([0, 1, 2, 2]), "shape": np.array([3, 3])}
    for kind in (b"csr", b"csc"):
        with pytest.raises(InvalidInputError, match="broken sparse matrix"):
            read_npz(archive(tmp_path, format=np.array(kind), data=np.ones(2), **broken))


def test_truncated_and_foreign_files_are_refused(tmp_path: Path) -> None:
    whole = archive(tmp_path, X=MATRIX).read_bytes()
    for content in (whole[:-30], whole[:100], b"PK\x03\x04", b"not an archive", whole.replace(b"<f8", b"<g9")):
        (tmp_path / "b.npz").write_bytes(content)
        with pytest.raises(InvalidInputError, match=r"b\.npz"):
            read_npz(tmp_path / "b.npz")
    np.save(tmp_path / "c.npy", MATRIX)
    (tmp_path / "c.npy").rename(tmp_path / "c.npz")
    with pytest.raises(InvalidInputError, match=r"c\.npz"):
        read_npz(tmp_path / "c.npz")
