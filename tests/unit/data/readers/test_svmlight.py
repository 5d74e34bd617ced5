from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.counts import as_counts
from labelworth.data.readers.svmlight import read_svmlight
from labelworth.errors import InvalidInputError
from support.files import write_svmlight

COUNTS = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.5, 0.0]])


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "a.svm"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("zero_based", [True, False])
def test_columns_come_back_wherever_they_are_counted_from(tmp_path: Path, zero_based: bool) -> None:
    path = write_svmlight(tmp_path / "a.svm", COUNTS, [2, 0, 2.5], zero_based=zero_based)
    for asked in (None, zero_based):
        raw = read_svmlight(path, zero_based=asked)
        np.testing.assert_array_equal(as_counts(raw.features).toarray(), COUNTS)
        assert raw.labels == (2, 0, 2.5)
        assert raw.zero_based is zero_based


def test_a_part_of_a_file_is_read_like_the_whole_when_told_how(tmp_path: Path) -> None:
    path = write_svmlight(tmp_path / "a.svm", COUNTS[2:], [1])  # no column 0, no column 2
    raw = read_svmlight(path, zero_based=True, n_features=3)
    np.testing.assert_array_equal(as_counts(raw.features).toarray(), COUNTS[2:])


def test_minus_one_must_be_explained(tmp_path: Path) -> None:
    path = write_svmlight(tmp_path / "a.svm", COUNTS, [1, -1, -1])
    with pytest.raises(InvalidInputError, match=r"row 2: the label is -1.*unlabeled=-1.*unlabeled=None"):
        read_svmlight(path)
    assert read_svmlight(path, unlabeled=-1).labels == (1, None, None)
    assert read_svmlight(path, unlabeled=None).labels == (1, -1, -1)
    assert read_svmlight(path, unlabeled=0).labels == (1, -1, -1)


def test_comments_and_query_numbers_are_passed_over(tmp_path: Path) -> None:
    raw = read_svmlight(written(tmp_path, b"# head\n1 qid:7 1:2 3:4 # tail\n\n2 2:1\n"))
    np.testing.assert_array_equal(sp.csr_array(raw.features).toarray(), [[2, 0, 4], [0, 1, 0]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 1:1\nspam 1:1\n", r"line 2: the label 'spam' is not a number.*label index:value"),
        (b"1 1:1\n\n2 a:1\n", r"line 3: 'a:1' is not index:value"),
        (b"1 1\n", r"line 1: '1' is not index:value"),
        (b"1 3:1 2:1\n", r"line 1: index 2 comes after 3"),
        (b"1 -1:1\n", r"line 1: '-1:1' is not index:value"),
        (b"1 3000000000:1\n", r"line 1: index '3000000000' is too large"),
        (b"1 " + b"9" * 9000 + b":1\n", r"line 1: index '9+' is too large"),
        (b"\xff\xfe\n", r"line 1: the label"),
        (b"# nothing\n", r"holds no rows"),
        (b"inf 1:1\n", r"row 1: the label is inf"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_svmlight(written(tmp_path, content))


def test_columns_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"5 columns where 3 are expected"):
        read_svmlight(written(tmp_path, b"1 5:1\n"), n_features=3)
    with pytest.raises(InvalidInputError, match=r"counts from 0. Use zero_based=True"):
        read_svmlight(written(tmp_path, b"1 0:1\n"), zero_based=False)
