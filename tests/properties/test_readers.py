"""What is written in a real format comes back as it was; whatever else is in a file, only our own errors come out."""

import gzip
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.data.counts import as_counts
from labelworth.data.readers import RawFeatures, read
from labelworth.errors import LabelworthError
from support.files import write_csv, write_jsonl, write_parquet, write_svmlight

FAST = settings(max_examples=50, deadline=None)

# Half of all characters are those that formats trip over.
characters = st.sampled_from("\r\n\t\"',;\\[]{}: \0\x1c\x85\u2028\ufeff") | st.characters(codec="utf-8")
texts = st.text(characters, max_size=30)
# Blanks around a label do not count, and -1 has to be explained.
classes = st.text(characters, min_size=1, max_size=8).map(str.strip).filter(lambda name: name not in ("", "-1"))
numbers = st.integers(min_value=0) | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != -1)
sets_of = st.lists(classes, min_size=1, max_size=3)


def rows(labels: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tuple[str, Any]]]:
    return st.lists(st.tuples(texts, st.none() | labels), min_size=1, max_size=6)


def in_folder(name: str, write: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return read(path)


@FAST
@given(rows(classes | numbers | sets_of | st.booleans()), st.booleans())
def test_json_lines_come_back(table: list[tuple[str, Any]], packed: bool) -> None:
    written, labels = zip(*table, strict=True)
    raw = in_folder("a.jsonl.gz" if packed else "a.jsonl", lambda path: write_jsonl(path, written, labels))
    assert raw.texts == written
    assert raw.labels == labels


@FAST
@given(rows(classes.filter(lambda name: not name.startswith("["))), st.sampled_from([",", "\t"]))
def test_tables_come_back(table: list[tuple[str, str | None]], delimiter: str) -> None:
    written, labels = zip(*table, strict=True)
    name = "a.csv" if delimiter == "," else "a.tsv"
    raw = in_folder(name, lambda path: write_csv(path, written, labels, delimiter=delimiter))
    assert raw.texts == written
    assert raw.labels == labels


@FAST
@given(
    rows(classes)
    | rows(sets_of)
    | rows(st.integers(min_value=0, max_value=2**53))
    | rows(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != -1))
)
def test_parquet_comes_back(table: list[tuple[str, Any]]) -> None:
    written, labels = zip(*table, strict=True)
    raw = in_folder("a.parquet", lambda path: write_parquet(path, written, labels))
    assert raw.texts == written
    assert raw.labels == labels


matrices = (
    st.integers(1, 5)
    .flatmap(
        lambda n_columns: st.lists(
            st.lists(st.just(0.0) | st.floats(1e-3, 1e12), min_size=n_columns, max_size=n_columns),
            min_size=1,
            max_size=5,
        )
    )
    .map(np.array)
)


@FAST
@given(matrices, st.booleans(), st.integers(0, 9))
def test_svmlight_comes_back(matrix: np.ndarray, zero_based: bool, shift: int) -> None:
    labels = [row % 3 + shift for row in range(len(matrix))]
    with tempfile.TemporaryDirectory() as folder:
        path = write_svmlight(Path(folder) / "a.svm", matrix, labels, zero_based=zero_based)
        raw = read(path, zero_based=zero_based, n_features=matrix.shape[1])
    assert isinstance(raw, RawFeatures)
    np.testing.assert_allclose(as_counts(raw.features).toarray(), matrix, rtol=1e-15)  # written with 16 digits
    assert raw.labels == tuple(labels)


@FAST
@given(matrices, st.sampled_from([None, sp.csr_array, sp.csc_array, sp.coo_array]), st.data())
def test_archives_come_back(matrix: np.ndarray, container: Any, data: st.DataObject) -> None:
    # An array of text cannot hold a trailing NUL; nor can a line of text hold its own end.
    plain = classes.filter(lambda name: not name.startswith("[") and not set(name) & set("\0\n\r"))
    labels = data.draw(st.lists(plain, min_size=len(matrix), max_size=len(matrix)))
    with tempfile.TemporaryDirectory() as folder:
        path, beside = Path(folder) / "a.npz", Path(folder) / "y.txt"
        beside.write_bytes("".join(label + "\n" for label in labels).encode())
        if container is None:
            np.savez(path, X=matrix, y=np.array(labels))
            assert read(path).labels == tuple(labels)
        else:
            sp.save_npz(path, container(matrix))
        raw = read(path, labels=beside)
    assert isinstance(raw, RawFeatures)
    np.testing.assert_array_equal(as_counts(raw.features).toarray(), matrix)
    assert raw.labels == tuple(labels)


def whole_files() -> dict[str, bytes]:
    """One good file of each format, to be damaged."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_jsonl(folder / "a.jsonl", ["to be", "or", "not"], ["x", ["x", "y"], None])
        write_csv(folder / "a.csv", ["a, b", "c\nd"], ["x", None])
        write_csv(folder / "a.tsv", ["a", "b"], ["x", "y"], delimiter="\t")
        pq.write_table(pa.table({"text": ["a", "b"], "label": ["x", None]}), folder / "a.parquet")
        (folder / "a.svm").write_bytes(b"1 1:2 5:3.5\n2 2:1 # note\n0 qid:3 1:4\n")
        np.savez(folder / "a.npz", X=np.eye(2), y=np.array(["x", ""]))
        sp.save_npz(folder / "b.npz", sp.csc_array(np.eye(3)), compressed=False)
        (folder / "a.jsonl.gz").write_bytes(gzip.compress((folder / "a.jsonl").read_bytes()))
        return {path.name: path.read_bytes() for path in folder.iterdir()}


WHOLE = whole_files()


def refusal(name: str, content: bytes) -> str | None:
    """Read, and go on to evidence and counts: what our error says, None if all went well; others pass through."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            raw = read(path)
            raw.evidence()
            if isinstance(raw, RawFeatures):
                as_counts(raw.features)
        except LabelworthError as error:
            return str(error)
    return None


@pytest.mark.parametrize("name", sorted(WHOLE))
@FAST
@given(content=st.binary(max_size=200))
def test_garbage_raises_only_our_errors(name: str, content: bytes) -> None:
    assert refusal(name, content) != ""


@pytest.mark.parametrize("name", sorted(WHOLE))
@FAST
@given(data=st.data())
def test_damaged_files_raise_only_our_errors(name: str, data: st.DataObject) -> None:
    content = bytearray(WHOLE[name])
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    assert refusal(name, bytes(content[: data.draw(st.integers(0, len(content)))])) != ""
