import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.data.writers import write_conll, write_crfsuite, write_tokens_jsonl
from labelworth.errors import InvalidInputError, OutputError


def tokens(words: list[str], labels: list[Any], ends: list[int]) -> RawTokens:
    tags = tuple("T" for _ in words)
    return RawTokens((tuple(words), tags), ("0", "1"), 0, np.array([0, *ends]), tuple(labels), "here")


def attributes(names: list[str], labels: list[Any]) -> RawAttributes:
    rows = sp.csr_array(np.arange(1.0, 1 + len(names) * len(labels)).reshape(len(labels), len(names)))
    return RawAttributes(rows, tuple(names), np.array([0, len(labels)]), tuple(labels), "here")


def test_columns_are_plain_text(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    write_conll(path, tokens(["the", "cat", "go"], ["D", None, "V"], [2, 3]))
    assert path.read_text() == "the T D\ncat T _\n\ngo T V\n\n"


def test_packed_files_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    raw = tokens(["the"], ["D"], [1])
    for name in ("a.conll.gz", "b.conll.gz"):
        write_conll(tmp_path / name, raw)
    assert (tmp_path / "a.conll.gz").read_bytes() == (tmp_path / "b.conll.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.conll.gz").read_bytes()) == b"the T D\n\n"


def test_attribute_files_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "a.crfsuite"
    write_crfsuite(path, attributes(["w=10:30", "b\\c"], ["X", None]))
    assert path.read_text() == "X\tw=10\\:30\tb\\\\c:2.0\n?\tw=10\\:30:3.0\tb\\\\c:4.0\n\n"


def test_json_lines_hold_everything(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_tokens_jsonl(path, tokens(["the", " "], [None, ["N", "V"]], [2]))
    assert path.read_text() == '{"tokens": ["the", " "], "1": ["T", "T"], "tags": [null, ["N", "V"]]}\n'


@pytest.mark.parametrize(
    ("words", "labels", "message"),
    [
        (["a b"], ["X"], "cannot hold the cell 'a b'"),
        ([""], ["X"], "cannot hold the cell ''"),
        (["a"], ["X\n"], "line end"),
        (["a"], ["?"], "would be read as not seen"),
        (["a"], [["X", "Y"]], "candidate set"),
        (["-DOCSTART-"], ["X"], "beginning of a document"),
    ],
)
def test_what_columns_cannot_hold_is_refused_and_nothing_is_written(
    tmp_path: Path, words: list[str], labels: list[Any], message: str
) -> None:
    path = tmp_path / "a.conll"
    path.write_text("before")
    with pytest.raises(InvalidInputError, match=message):
        write_conll(path, tokens(words, labels, [1]))
    assert path.read_text() == "before"


def test_a_file_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("before")
    with pytest.raises(InvalidInputError, match="Line 2 holds half of a surrogate pair"):
        write_tokens_jsonl(path, tokens(["fine", "\ud800"], ["X", "Y"], [1, 2]))
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OutputError, match="no folder"):
        write_conll(tmp_path / "missing" / "a.conll", tokens(["a"], ["X"], [1]))


def test_other_things_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(InvalidInputError, match="delimiter must be a blank or a tab"):
        write_conll(path, tokens(["a"], ["X"], [1]), delimiter=",")
    with pytest.raises(InvalidInputError, match="must have different names"):
        write_tokens_jsonl(path, tokens(["a"], ["X"], [1]), tags_column="1")
    with pytest.raises(InvalidInputError, match="text or numbers from 0"):
        write_tokens_jsonl(path, tokens(["a"], [-1], [1]))
    for label in ("?", "@x", " ", "", "a\tb", ["X", "Y"]):
        with pytest.raises(InvalidInputError, match=r"label|candidate set"):
            write_crfsuite(path, attributes(["a"], [label]))
    with pytest.raises(InvalidInputError, match=r"attribute 'a\\tb'"):
        write_crfsuite(path, attributes(["a\tb"], ["X"]))


def test_predicted_labels_are_written_beside_the_same_tokens(tmp_path: Path) -> None:
    raw = tokens(["the", "cat"], [None, None], [2]).with_labels(["D", "N"])
    write_conll(tmp_path / "a.conll", raw)
    assert (tmp_path / "a.conll").read_text() == "the T D\ncat T N\n\n"
    with pytest.raises(InvalidInputError, match="a label per token"):
        raw.with_labels(["D"])
