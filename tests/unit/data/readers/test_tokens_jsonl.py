import json
from pathlib import Path
from typing import Any

import pytest

from labelworth.data.readers.tokens_jsonl import read_tokens_jsonl
from labelworth.errors import InvalidInputError, LabelworthWarning


def written(folder: Path, *records: Any) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_tokens_and_tags(tmp_path: Path) -> None:
    raw = read_tokens_jsonl(
        written(
            tmp_path,
            {"tokens": ["the", "cat"], "tags": ["D", ["N", "V"]], "pos": ["DT", "NN"], "id": 3},
            {"tokens": ["go"], "tags": [None], "pos": ["VB"]},
            {"tokens": ["on", "it"], "pos": [1, 2]},
        )
    )
    assert raw.words == ("the", "cat", "go", "on", "it")
    assert raw.labels == ("D", ["N", "V"], None, None, None)
    assert raw.column_names == ("tokens", "pos")
    assert raw.columns[1] == ("DT", "NN", "VB", "1", "2")
    assert raw.offsets.tolist() == [0, 2, 3, 5]


@pytest.mark.parametrize("column", ["tags", "ner_tags", "chunk_tags", "pos_tags", "labels"])
def test_columns_of_tags_are_found(tmp_path: Path, column: str) -> None:
    raw = read_tokens_jsonl(written(tmp_path, {"tokens": ["a"], column: ["X"]}))
    assert raw.labels == ("X",)


def test_several_columns_of_tags_have_to_be_chosen_from(tmp_path: Path) -> None:
    path = written(tmp_path, {"tokens": ["a"], "pos_tags": [4], "ner_tags": [0]})
    with pytest.raises(InvalidInputError, match=r"line 1 has several columns of tags: ner_tags, pos_tags. Name"):
        read_tokens_jsonl(path)
    raw = read_tokens_jsonl(path, tags_column="ner_tags", tag_names=["O", "B-X"])
    assert (raw.labels, raw.column_names) == (("O",), ("tokens", "pos_tags"))


def test_numbers_have_names_or_a_word_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, {"tokens": ["a", "b", "c", "d"], "tags": [1, -1, -100, [0, 1]]})
    plain = read_tokens_jsonl(path)
    assert plain.labels == (1, None, None, [0, 1])
    assert plain.notes[:2] == (
        "1 tag(s) were -100: read as not seen, so all labels are possible there.",
        "The tags are numbers; name them with tag_names= to see what they stand for.",
    )
    assert read_tokens_jsonl(path, tag_names=["O", "B"]).labels == ("B", None, None, ["O", "B"])
    with pytest.raises(InvalidInputError, match="the tag 1 is not one of the 1 of tag_names"):
        read_tokens_jsonl(path, tag_names=["O"])


def test_sequences_without_tokens_are_left_out_with_a_word(tmp_path: Path) -> None:
    raw = read_tokens_jsonl(written(tmp_path, {"tokens": [], "tags": []}, {"tokens": ["a"], "tags": ["X"]}))
    assert raw.offsets.tolist() == [0, 1]
    assert raw.notes[0] == "1 sequence(s) without tokens were left out."


def test_contradictions_are_told_with_their_line(tmp_path: Path) -> None:
    path = written(tmp_path, {"tokens": ["a"], "tags": ["B-X"]}, {"tokens": ["a", "b"], "tags": ["O", "I-X"]})
    with pytest.warns(LabelworthWarning, match="The first is at .*line 2"):
        read_tokens_jsonl(path)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"words": ["a"], "tags": ["X"]}, "no column 'tokens'. It has: 'words', 'tags'"),
        ({"tokens": "a b", "tags": ["X"]}, "must be a list of texts"),
        ({"tokens": ["a", 3], "tags": ["X", "Y"]}, "must be a list of texts"),
        ({"tokens": ["a", "b"], "tags": ["X"]}, r"2 token\(s\) and 1 tag\(s\)"),
        ({"tokens": ["a"], "tags": "X"}, "must be a list of tags"),
        ({"tokens": ["a"], "tags": [1.5]}, "the tag 1.5 must be text"),
        ({"tokens": ["a"], "tags": [True]}, "the tag True must be text"),
        ({"tokens": ["a"], "tags": [[]]}, "at least one"),
        ({"tokens": ["a"], "tags": [["X", None]]}, "candidate tags"),
        ({"tokens": ["\ud800"], "tags": ["X"]}, "surrogate"),
        ({"tokens": []}, "holds no tokens"),
    ],
)
def test_broken_records_are_named(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_tokens_jsonl(written(tmp_path, record))


def test_a_named_column_that_is_nowhere_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no column 'ner'"):
        read_tokens_jsonl(written(tmp_path, {"tokens": ["a"], "tags": ["X"]}), tags_column="ner")
    mixed = written(tmp_path, {"tokens": ["a"], "tags": ["X"]}, {"tokens": ["a"], "ner_tags": ["X"]})
    with pytest.raises(InvalidInputError, match="line 2 has tags in 'ner_tags', earlier lines in 'tags'"):
        read_tokens_jsonl(mixed)
