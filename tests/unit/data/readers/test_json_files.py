import json
from pathlib import Path

import pytest

from labelworth.data.readers.json_files import read_jsonl
from labelworth.errors import InvalidInputError
from support.files import write_jsonl


def written(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text(content, encoding="utf-8")
    return path


def test_labels_are_classes_candidate_sets_or_absent(tmp_path: Path) -> None:
    lines = ['{"text": "a", "label": "x"}', "", '{"text": "b", "label": ["x", "y"]}\r', '{"label": null, "text": ""}']
    path = written(tmp_path, "\n".join([*lines, '{"text": "d"}']))
    raw = read_jsonl(path)
    assert raw.texts == ("a", "b", "", "d")
    assert raw.labels == ("x", ["x", "y"], None, None)


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_of_objects_is_read(tmp_path: Path, indent: int | None) -> None:
    rows = [{"text": "a [b]", "label": "x"}, {"text": "c\n{d}", "label": None}]
    raw = read_jsonl(written(tmp_path, json.dumps(rows, indent=indent)))
    assert raw.texts == ("a [b]", "c\n{d}")
    assert raw.labels == ("x", None)


def test_objects_over_several_lines_are_read(tmp_path: Path) -> None:
    rows = [{"text": "a", "label": "x"}, {"text": "b", "label": ["x", "y"]}]
    raw = read_jsonl(written(tmp_path, "\n".join(json.dumps(row, indent=2) for row in rows)))
    assert raw.texts == ("a", "b")
    assert raw.labels == ("x", ["x", "y"])


def test_a_text_may_be_a_list_of_words(tmp_path: Path) -> None:
    raw = read_jsonl(written(tmp_path, '{"tokens": ["to", "be"], "label": 1}'), text_column="tokens")
    assert raw.texts == ("to be",)


def test_a_file_without_labels_is_read_when_told_so(tmp_path: Path) -> None:
    path = written(tmp_path, '{"text": "a"}\n{"text": "b"}\n')
    assert read_jsonl(path, label_column=None).labels == (None, None)
    with pytest.raises(InvalidInputError, match=r"no column 'label'.*It has: 'text'.*label_column=None"):
        read_jsonl(path)


def test_a_marker_is_read_as_unlabeled(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", ["a", "b"], [0, -1])
    assert read_jsonl(path, unlabeled=-1).labels == (0, None)
    assert read_jsonl(path, unlabeled=None).labels == (0, -1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"text": "a", "label": 1}\n{"text": "b" "label": 1}',
            r"line 2 is not JSON.*at character 14.*such as {.name of a column",
        ),
        ("[1]", r"entry 1 of the array is a JSON int, not an object"),
        ('[{"text": "a", "label": 1}, null]', r"entry 2 of the array is a JSON NoneType"),
        ('{"text": "a"}\n[{"text": "b"}]', r"line 2 is a JSON list, not an object"),
        ('[\n{"text": "a"},\n{"text": b}\n]', r"line 3 is not JSON.*at character 10"),
        ('{\n "text": "a"\n}\n{\n "text": 3\n}\n', r"line 4: the text is 3"),
        ("[" * 100_000, r"line 1 is not JSON"),
        ('{"label": ' + "1" * 5000 + "}", r"line 1 is not JSON"),
        ('{"text": 3, "label": 1}', r"line 1: the text is 3"),
        ('{"text": null, "label": 1}', r"line 1: the text is None.*empty document"),
        (
            '{"text": "a"}\n{"Txt": "a", "label": 1}',
            r"line 2 has no column 'text'.*'Txt', 'label'.*text_column='Txt'",
        ),
        ('{"text": "a", "labels": 1}', r"no column 'label'.*label_column='labels'"),
        ('{"text": "\\ud800", "label": 1}', r"line 1: .*surrogate"),
        ("\n \n", r"holds no rows"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_jsonl(written(tmp_path, content))
