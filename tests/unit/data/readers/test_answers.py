"""Tables of answers, long and wide, and the rules for what does not fit."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import labelworth as lw
from labelworth.data.answers import Answers
from labelworth.data.readers.answers import read_answers
from labelworth.errors import DataUnavailableError, InvalidInputError

LONG = {
    "task": ["d1", "d1", "d0", "d2"],
    "worker": ["w2", "w1", "w1", "w2"],
    "label": ["spam", "ham", "ham|spam", "cannot say"],
}
CLASSES = ["ham", "news", "spam"]
IDS = ["d0", "d1", "d2"]


def told(answers: Answers) -> list[tuple[int, str, list[float]]]:
    names = [answers.names[code] for code in answers.annotators]
    return list(zip(answers.rows.tolist(), names, answers.evidence.dense().tolist(), strict=True))


EXPECTED = [
    (0, "w1", [1, 0, 1]),
    (1, "w1", [1, 0, 0]),
    (1, "w2", [0, 0, 1]),
    (2, "w2", [1, 1, 1]),
]


def write_csv(path: Path, delimiter: str = ",") -> None:
    path.write_text(pd.DataFrame(LONG).to_csv(index=False, sep=delimiter))


def test_every_format_says_the_same(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv")
    write_csv(tmp_path / "a.tsv", "\t")
    records = pd.DataFrame(LONG).to_dict("records")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    pq.write_table(pa.table(LONG), tmp_path / "a.parquet")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz"):
        answers = lw.read_answers(tmp_path / name, classes=CLASSES, ids=IDS)
        assert told(answers) == EXPECTED, name
        assert "item is 'task', annotator is 'worker', answer is 'label'" in answers.notes[0]
        assert answers.notes[1] == "1 of 4 answers are 'cannot say'."
    (tmp_path / "answers").write_bytes((tmp_path / "a.csv").read_bytes())
    assert told(read_answers(tmp_path / "answers", format="csv", classes=CLASSES, ids=IDS)) == EXPECTED


def test_frames_and_mappings_are_tables() -> None:
    assert told(lw.Answers.of(pd.DataFrame(LONG), classes=CLASSES, ids=IDS)) == EXPECTED
    assert told(lw.Answers.of(pd.DataFrame(LONG).set_index("task"), classes=CLASSES, ids=IDS)) == EXPECTED
    assert told(lw.Answers.of(LONG, classes=CLASSES, ids=IDS)) == EXPECTED


def test_classes_are_found_in_the_answers() -> None:
    assert Answers.of(LONG, ids=IDS).classes == ("ham", "spam")
    probabilities = {"item": [0, 1], "annotator": ["m", "m"], "answer": [{"b": 0.5, "a": 0.5}, {"c": 1.0}]}
    assert Answers.of(probabilities).classes == ("a", "b", "c")
    with pytest.raises(InvalidInputError, match="names a class"):
        Answers.of({"item": [0], "annotator": ["m"], "answer": ["cannot say"]})


def test_a_column_per_annotator() -> None:
    table = {"ann": ["ham", None, "spam"], "bob": [np.nan, "news", "spam"]}
    answers = Answers.of(table, classes=CLASSES, n_samples=3)
    assert [(row, name) for row, name, _ in told(answers)] == [(0, "ann"), (1, "bob"), (2, "ann"), (2, "bob")]
    named = Answers.of({"id": ["y", "z", "x"], **table}, classes=CLASSES, ids=["x", "y", "z"])
    assert [(row, name) for row, name, _ in told(named)] == [(0, "ann"), (0, "bob"), (1, "ann"), (2, "bob")]
    array = np.array([[1, np.nan], [0, 1], [np.nan, np.nan]])
    assert [(row, name) for row, name, _ in told(Answers.of(array, classes=[0, 1]))] == [(0, "0"), (1, "0"), (1, "1")]
    chosen = Answers.of({"text": ["p", "q", "r"], **table}, annotator_columns=["ann", "bob"], classes=CLASSES)
    assert told(chosen) == told(answers)
    tokens = Answers.of(table, classes=CLASSES, offsets=[0, 1, 3])
    assert tokens.rows.tolist() == [0, 1, 2, 2]
    named = Answers.of({"item": [0, 1, 1], "token": [0, 0, 1], **table}, classes=CLASSES, offsets=[0, 1, 3])
    assert told(named) == told(tokens)
    with pytest.raises(InvalidInputError, match=r"must be the 4 tokens in their order. It has 3 rows"):
        Answers.of(table, classes=CLASSES, offsets=[0, 1, 4])
    with pytest.raises(InvalidInputError, match=r"must be the 4 samples in their order. It has 3 rows"):
        Answers.of(table, classes=CLASSES, n_samples=4)


def test_the_same_answer_twice_is_one_vote() -> None:
    table = {"row": [0, 0], "annotator": ["a", "a"], "answer": ["x|y", "y|x"], "price": [1.0, 1.0]}
    answers = Answers.of(table, classes=["x", "y", "z"], repeated="refuse")
    assert told(answers) == [(0, "a", [1, 1, 0])]
    assert answers.prices is not None
    assert answers.prices.tolist() == [1.0]
    assert "1 of 2 answers repeat" in answers.notes[-1]


@pytest.mark.parametrize(
    ("times", "stands", "words"),
    [
        ({}, "y", "the one last in the file stands"),
        ({"when": ["2026-01-02", "2026-01-01"]}, "x", "the one last given stands"),
        ({"timestamp": [1_700_000_001, 1_700_000_000]}, "x", "the one last given stands"),
        ({"time": ["2026-01-01T10:00:00Z", "2026-01-01T09:30:00-01:00"]}, "y", "the one last given stands"),
        ({"time": [20, 10]}, "y", "the one last in the file stands"),
    ],
)
def test_the_last_of_different_answers_stands(times: dict[str, list[Any]], stands: str, words: str) -> None:
    table = {"row": [0, 0, 1], "annotator": ["a", "a", "a"], "answer": ["x", "y", "x"]}
    table |= {name: [*cells, cells[0]] for name, cells in times.items()}
    answers = Answers.of(table)
    assert told(answers)[0] == (0, "a", [1, 0] if stands == "x" else [0, 1])
    assert words in answers.notes[-1]
    with pytest.raises(InvalidInputError, match=r"said of the same item: 1 of 3; the first is a on 0"):
        Answers.of(table, repeated="refuse")


def test_answers_to_several_questions_all_stand_and_are_one_vote() -> None:
    table = {"row": [0, 0], "annotator": ["a", "a"], "question": ["x", "y"], "answer": ["no", "no"], "when": [2, 1]}
    answers = Answers.of(table, classes=["x", "y", "z", "u"], repeated="refuse")
    assert told(answers) == [(0, "a", [1, 0, 1, 1]), (0, "a", [0, 1, 1, 1])]
    assert told(answers.one_vote_each()) == [(0, "a", [0, 0, 1, 1])]
    contradiction = Answers.of({**table, "answer": ["yes", "yes"]}, classes=["x", "y", "z", "u"])
    assert "leave no class, the last one stands: 1 times" in contradiction.notes[-1]
    assert told(contradiction.one_vote_each()) == [(0, "a", [1, 0, 0, 0])]


def test_a_question_about_no_class_is_counted_once() -> None:
    table = {"row": [0], "annotator": ["a"], "question": ["w"], "answer": ["no"]}
    with pytest.raises(InvalidInputError, match="1 answer names 'w', first at row 0"):
        Answers.of(table, classes=["x", "y"])


def test_whoever_answers_anew_keeps_all_answers() -> None:
    table = {"row": [0, 0, 0], "annotator": ["m", "m", "a"], "answer": ["x", "y", "x"]}
    answers = Answers.of(table, independent=["m"], repeated="refuse")
    assert told(answers) == [(0, "a", [1, 0]), (0, "m", [1, 0]), (0, "m", [0, 1])]


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError):
        read_answers(tmp_path / "none.csv")
    with pytest.raises(InvalidInputError, match="does not say how answers are written"):
        read_answers(tmp_path / "answers.npz")
    (tmp_path / "a.csv").write_text("item,annotator,answer\n0,a\n")
    with pytest.raises(InvalidInputError, match=r"line 2 has 2 cell\(s\) where the header has 3"):
        read_answers(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("item,annotator,answer\n")
    with pytest.raises(InvalidInputError, match="holds no answers"):
        read_answers(tmp_path / "b.csv")
    with pytest.raises(InvalidInputError, match="no format 'xlsx'"):
        read_answers(tmp_path / "a.csv", format="xlsx")
    with pytest.raises(InvalidInputError, match=r"data frame or a mapping of columns. Got list"):
        Answers.of([1, 2])
    with pytest.raises(InvalidInputError, match="of one length"):
        Answers.of({"item": [0], "annotator": []})
    with pytest.raises(InvalidInputError, match="repeated must be one of last, refuse"):
        read_answers(tmp_path / "a.csv", repeated="first")
