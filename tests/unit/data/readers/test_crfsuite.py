from pathlib import Path

import pytest

from labelworth.data.readers.crfsuite import read_crfsuite
from labelworth.errors import InvalidInputError


def written(folder: Path, content: str) -> Path:
    path = folder / "a.crfsuite"
    path.write_bytes(content.encode())
    return path


def test_attributes_weights_and_labels(tmp_path: Path) -> None:
    raw = read_crfsuite(written(tmp_path, "B-NP\tw=the\tp=DT:0.5\nI-NP\tw=cat\tw=cat:2\n\n?\tw=the\nO\n"))
    assert raw.names == ("w=the", "p=DT", "w=cat")
    assert raw.attributes.toarray().tolist() == [[1, 0.5, 0], [0, 0, 3], [1, 0, 0], [0, 0, 0]]
    assert raw.labels == ("B-NP", "I-NP", None, "O")
    assert raw.offsets.tolist() == [0, 2, 4]
    assert raw.weights is None
    assert raw.notes == ("The tags follow IOB2.", "1 of 4 tokens have no label.")
    sequences = raw.sequences()
    assert sequences.feature_names == raw.names
    assert sequences.evidence.codes.tolist() == [0, 1, -1, 2]


def test_escapes(tmp_path: Path) -> None:
    raw = read_crfsuite(written(tmp_path, "a\\:b\tw=10\\:30:2\tc\\\\d\te\\\\:3\n"))
    assert raw.labels == ("a:b",)
    assert dict(zip(raw.names, raw.attributes.toarray()[0], strict=True)) == {"w=10:30": 2.0, "c\\d": 1.0, "e\\": 3.0}


def test_sequences_may_have_weights(tmp_path: Path) -> None:
    raw = read_crfsuite(written(tmp_path, "@weight:2.5\nX\ta\n\nY\tb\n"))
    assert raw.weights is not None
    assert raw.weights.tolist() == [2.5, 1.0]
    assert raw.sequences().sequence_weights.tolist() == [2.5, 1.0]


def test_empty_fields_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    raw = read_crfsuite(written(tmp_path, "X\ta\t\tb\t\r\n\r\n\r\nY\tc\r\n"))
    assert raw.names == ("a", "b", "c")
    assert raw.offsets.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("X\ta\nY\tw=10:30pm\n", r"line 2: 'w=10:30pm' has no number behind its colon. Write \\:"),
        ("X\ta:nan\n", "no number"),
        ("X\ta:\n", "no number"),
        ("\ta\n", "line 1: there is no label before the first tab"),
        ("a:b\tc\n", "bare colon"),
        ("@weight:-1\nX\ta\n", "is not @weight with a non-negative number"),
        ("@speed:1\nX\ta\n", "is not @weight"),
        ("X\ta\n\n@weight:2\n", "line 3: @weight has no sequence behind it"),
        ("\n", "holds no tokens"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_crfsuite(written(tmp_path, content))
