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
    chosen = Answers.of({"text": ["p", "q", "r"], **table}, annotators=["ann", "bob"], classes=CLASSES)
    assert told(chosen) == told(answers)
    with pytest.raises(InvalidInputError, match=r"must be the 4 samples in their order. It has 3 rows"):
        Answers.of(table, classes=CLASSES, n_samples=4)


def test_probabilities_in_columns_of_their_own() -> None:
    table = {"row": [0, 1], "annotator": ["m", "m"], "p_ham": [0.25, None], "p_spam": [0.75, None]}
    answers = Answers.of(table)
    assert answers.classes == ("ham", "spam")
    assert told(answers) == [(0, "m", [0.25, 0.75])]
    plain = {"row": [0], "annotator": ["m"], "spam": [0.5], "news": [0.0], "ham": [0.5]}
    assert told(Answers.of(plain, classes=CLASSES)) == [(0, "m", [0.5, 0, 0.5])]


def test_times_and_prices_are_kept_where_they_are_known() -> None:
    table = {
        "row": [0, 1],
        "annotator": ["a", "a"],
        "answer": ["x", "y"],
        "seconds": ["3.5", ""],
        "cost": [0.02, 0.02],
    }
    answers = Answers.of(table)
    assert answers.seconds is not None
    assert answers.prices is not None
    assert answers.seconds[0] == 3.5
    assert np.isnan(answers.seconds[1])
    assert answers.prices.tolist() == [0.02, 0.02]
    assert Answers.of({**table, "seconds": [None, None]}).seconds is None


@pytest.mark.parametrize(
    ("items", "options", "rows"),
    [
        ([0, 2], {}, [0, 2]),
        (["0", "1.0"], {"count_from": 0}, None),
        ([1, 3], {"n_samples": 3}, [0, 2]),
        ([1.0, 2.0], {"count_from": 1}, [0, 1]),
        ([1, 2], {"count_from": 0}, [1, 2]),
    ],
)
def test_items_are_numbers_of_samples(items: list[Any], options: dict[str, Any], rows: list[int] | None) -> None:
    table = {"item": items, "annotator": ["a", "a"], "answer": ["x", "y"]}
    if rows is None:
        with pytest.raises(
            InvalidInputError, match=r"row 1: the item is '1.0', which is no number of a sample.*ids="
        ):
            Answers.of(table, **options)
    else:
        assert Answers.of(table, **options).rows.tolist() == rows


def test_numbers_that_may_be_counted_in_two_ways_are_refused() -> None:
    table = {"item": [1, 2], "annotator": ["a", "a"], "answer": ["x", "y"]}
    for options in ({}, {"n_samples": 5}):
        with pytest.raises(InvalidInputError, match=r"counted from 0 or from 1. Say which with count_from="):
            Answers.of(table, **options)
    # As `next` writes them.
    assert Answers.of({"row": [1, 2], "annotator": ["a", "a"], "answer": ["x", "y"]}).rows.tolist() == [1, 2]


def test_items_that_are_no_samples_are_refused_or_left_out_and_told() -> None:
    table = {"item": ["d0", "d9"], "annotator": ["a", "a"], "answer": ["x", "y"]}
    with pytest.raises(
        InvalidInputError, match=r"1 of 2 answers .* not in the data \(3 samples\): 'd9'.*outside='drop'"
    ):
        Answers.of(table, ids=IDS)
    answers = Answers.of(table, ids=IDS, outside="drop")
    assert answers.rows.tolist() == [0]
    assert "left out" in answers.notes[-1]
    with pytest.raises(InvalidInputError, match="2 of 2 answers"):
        Answers.of(table, ids=["p"], outside="drop")
    with pytest.raises(InvalidInputError, match="samples 0 and 1 have the same id, 'd0'"):
        Answers.of(table, ids=["d0", "d0"], outside="drop")
    assert Answers.of(table, ids=["d0", "", "", "d9"]).rows.tolist() == [0, 3]


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


def test_whoever_answers_anew_keeps_all_answers() -> None:
    table = {"row": [0, 0, 0], "annotator": ["m", "m", "a"], "answer": ["x", "y", "x"]}
    answers = Answers.of(table, independent=["m"], repeated="refuse")
    assert told(answers) == [(0, "a", [1, 0]), (0, "m", [1, 0]), (0, "m", [0, 1])]


def test_tokens_of_sequences() -> None:
    table = {"sequence": [0, 1, 1], "token": [1, 0, 2], "annotator": ["a"] * 3, "answer": ["N", "V", "N"]}
    answers = Answers.of(table, offsets=[0, 2, 5])
    assert answers.rows.tolist() == [1, 2, 4]
    named = Answers.of({**table, "sequence": ["p", "q", "q"]}, offsets=[0, 2, 5], ids=["p", "q"])
    assert named.rows.tolist() == [1, 2, 4]
    from_one = {"item": [1, 2, 2], "position": [2, 1, 3], "annotator": ["a"] * 3, "answer": ["N", "V", "N"]}
    assert Answers.of(from_one, offsets=[0, 2, 5]).rows.tolist() == [1, 2, 4]
    with pytest.raises(InvalidInputError, match="sequence 1 has 3 tokens, and none of position 3"):
        Answers.of({**table, "token": [1, 0, 3]}, offsets=[0, 2, 5])
    with pytest.raises(InvalidInputError, match=r"tokens by numbers from 1 to 1.*count_from="):
        Answers.of({**from_one, "position": [1, 1, 1]}, offsets=[0, 2, 5])
    with pytest.raises(InvalidInputError, match="which token of a sequence"):
        Answers.of({"sequence": [0], "annotator": ["a"], "answer": ["N"]}, offsets=[0, 2])
    with pytest.raises(InvalidInputError, match=r"whole number. Got 'the'"):
        Answers.of({**table, "token": ["the", 0, 1]}, offsets=[0, 2, 5])
    # Documents have no positions: a column called so is another thing.
    assert "token" not in Answers.of(table | {"sequence": [0, 1, 2]}).notes[0]


def test_rows_without_an_answer_are_left_out() -> None:
    sheet = {"row": [0, 1], "annotator": ["a", ""], "question": ["", ""], "answer": ["x", ""]}
    answers = Answers.of(sheet)
    assert answers.n_answers == 1
    assert answers.notes[-1] == "1 of 2 rows have no answer yet, and were left out."
    with pytest.raises(InvalidInputError, match="row 1: the answer is filled in, and nothing says who gave it"):
        Answers.of({**sheet, "answer": ["x", "x"]})
    with pytest.raises(InvalidInputError, match="No answer of the table is filled in"):
        Answers.of({**sheet, "answer": ["", ""]})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": None}, "no column of answers.*p_CLASS"),
        ({"annotator": None}, "none that says who answered"),
        ({"item": None}, "which sample an answer is about"),
        ({"task": [0]}, r"several columns that may be the item: 'item', 'task'.*\(item=item\)"),
        ({"item": [None]}, "nothing says which sample"),
        ({"seconds": ["soon"]}, "row 0: seconds must be a number of at least 0. Got 'soon'"),
        ({"price": [-1]}, "price must be a number"),
        ({"when": ["yesterday"]}, "when says when an answer was given"),
        ({"item": [1 << 63]}, "no number of a sample"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], message: str) -> None:
    table: dict[str, Any] = {"item": [0], "annotator": ["a"], "answer": ["x"], **changes}
    with pytest.raises(InvalidInputError, match=message):
        Answers.of({name: column for name, column in table.items() if column is not None})


def test_columns_may_be_named() -> None:
    table = {"item": ["no"], "post": [0], "who": ["a"], "said": ["x"]}
    named = {"item": "post", "annotator": "who", "answer": "said"}
    assert told(Answers.of(table, columns=named)) == [(0, "a", [1])]
    with pytest.raises(InvalidInputError, match=r"has no column 'pots'.* Is 'post' meant"):
        Answers.of(table, columns={**named, "item": "pots"})
    with pytest.raises(InvalidInputError, match="columns= with 'worker'"):
        Answers.of(table, columns={"worker": "who"})


def test_answers_stand_beside_gold_labels_and_ids_of_their_own() -> None:
    table = {"id": [7, 8], "item": [0, 1], "label": ["gold", "gold"], "answer": ["x", "y"], "worker_id": [1, 2]}
    answers = Answers.of(table)
    assert answers.classes == ("x", "y")
    assert answers.names == ("1", "2")


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
