import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.guard import guarded, most_unpacked, read_archive, read_array, read_sparse, require_filled
from labelworth.data.readers import read
from labelworth.errors import InvalidInputError, NotIdentifiableError


def stored(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def with_header(text: str, values: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + values


@pytest.mark.parametrize(
    "error", [KeyError("a"), OverflowError("days"), MemoryError(), RecursionError(), IndexError()]
)
def test_whatever_is_raised_inside_is_said_with_the_cure(error: Exception) -> None:
    with (
        pytest.raises(InvalidInputError, match=r"a\.bin is broken \(.+\)\. Write it again\."),
        guarded("a.bin", "is broken", "Write it again."),
    ):
        raise error


def test_errors_raised_on_purpose_and_interrupts_pass() -> None:
    for error in (NotIdentifiableError("open"), KeyboardInterrupt()):
        with pytest.raises(type(error)), guarded("a", "b", "c"):
            raise error


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(["a", "bcd"]),
        np.array(b"csr"),
        np.empty((0, 4)),
        np.array([True, False]),
        np.arange(3, dtype=">i2"),
    ],
)
def test_arrays_come_back(array: np.ndarray) -> None:
    back = read_array(stored(array))
    np.testing.assert_array_equal(back, array)
    assert back.dtype == array.dtype


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000000000000), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': ('a',), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (True,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|S0', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<q9', 'fortran_order': False, 'shape': (1,), }",
        "{'shape': (1,)}",
        "{'descr': '<f8', 'shape': (",
        "(" * 5000,
        "[1, 2]",
    ],
)
def test_headers_that_promise_what_is_not_there_are_refused(header: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^a\.npy is damaged"), guarded("a.npy", "is damaged", "Write it."):
        read_array(with_header(header, b"\0" * 8))
    with pytest.raises(InvalidInputError), guarded("a.npy", "is damaged", "Write it."):
        read_array(with_header(header)[:20])


def test_what_unpacks_to_far_more_than_it_is_is_refused(tmp_path: Path) -> None:
    n_bytes = most_unpacked(0) + 1
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as member:
        for _ in range(n_bytes // (1 << 22) + 1):
            member.write(b"\0" * (1 << 22))
    with pytest.raises(InvalidInputError, match=r"unpacks to more than 268,435,456.*Unpack it first"):
        read_archive(stream.getvalue(), "a.npz")
    with gzip.open(tmp_path / "a.jsonl.gz", "wb", compresslevel=1) as packed:
        for _ in range(n_bytes // (1 << 22) + 1):
            packed.write(b" " * (1 << 22))
    for name in ("a.jsonl.gz", "a.parquet.gz"):
        (tmp_path / "a.jsonl.gz").rename(tmp_path / name)
        with pytest.raises(InvalidInputError, match="unpacks to more than"):
            read(tmp_path / name)
        (tmp_path / name).rename(tmp_path / "a.jsonl.gz")


def test_sizes_are_held_against_what_is_stored(tmp_path: Path) -> None:
    require_filled((1 << 20, 1 << 20), 0, "a")
    require_filled((3, 2_000_000), 10_000, "a")
    with pytest.raises(
        InvalidInputError, match=r"claims 1,000,000,000 columns and stores 2 values.*without such gaps"
    ):
        require_filled((3, 1_000_000_000), 2, "a")
    (tmp_path / "a.svm").write_text("1 1:2 1000000000:3\n2 1:1\n")
    with pytest.raises(InvalidInputError, match=r"claims 1,000,000,000 columns and stores 3 values"):
        read(tmp_path / "a.svm")
    sp.save_npz(tmp_path / "a.npz", sp.coo_array(([1.0], ([0], [0])), shape=(10**12, 3)))
    with pytest.raises(InvalidInputError, match=r"claims 1,000,000,000,000 rows"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize(
    "changed",
    [
        {"shape": np.array([3])},
        {"shape": np.array([[3, 3]])},
        {"shape": np.array([-3, 3])},
        {"shape": np.array(["a", "b"])},
        {"format": np.array(3)},
        {"format": np.array([b"csr", b"csr"])},
        {"indptr": np.array([0, 1, 2, 9])},
        {"indices": np.array([0, 1, 9])},
        {"indices": np.array([0.5, 1, 2])},
        {"data": np.array(1.0)},
        {"data": np.array(["a", "b", "c"])},
    ],
)
def test_sparse_parts_that_do_not_fit_are_refused(changed: dict[str, np.ndarray]) -> None:
    parts = {
        "format": np.array(b"csr"),
        "shape": np.array([3, 3]),
        "data": np.ones(3),
        "indices": np.arange(3),
        "indptr": np.arange(4),
    }
    assert read_sparse(parts, "a").nnz == 3
    with pytest.raises(InvalidInputError), guarded("a", "is damaged", "Write it again."):
        read_sparse({**parts, **changed}, "a")
