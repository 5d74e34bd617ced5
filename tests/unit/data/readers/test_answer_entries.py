"""Rows of tables of answers, each on the sample or token that it is about."""

from typing import Any

import numpy as np
import pytest

from labelworth.data.answers import Answers
from labelworth.errors import InvalidInputError

IDS = ["d0", "d1", "d2"]


def told(answers: Answers) -> list[tuple[int, str, list[float]]]:
    names = [answers.names[code] for code in answers.annotators]
    return list(zip(answers.rows.tolist(), names, answers.evidence.dense().tolist(), strict=True))


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
