"""Columns of tables of answers, found by the names that people give them."""

import pytest

from labelworth.data.answers import Answers
from labelworth.data.readers.answer_columns import may_be_items
from labelworth.errors import InvalidInputError

CLASSES = ["ham", "news", "spam"]


def told(answers: Answers) -> list[tuple[int, str, list[float]]]:
    names = [answers.names[code] for code in answers.annotators]
    return list(zip(answers.rows.tolist(), names, answers.evidence.dense().tolist(), strict=True))


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


def test_probabilities_in_columns_of_their_own() -> None:
    table = {"row": [0, 1], "annotator": ["m", "m"], "p_ham": [0.25, None], "p_spam": [0.75, None]}
    answers = Answers.of(table)
    assert answers.classes == ("ham", "spam")
    assert told(answers) == [(0, "m", [0.25, 0.75])]
    plain = {"row": [0], "annotator": ["m"], "spam": [0.5], "news": [0.0], "ham": [0.5]}
    assert told(Answers.of(plain, classes=CLASSES)) == [(0, "m", [0.5, 0, 0.5])]


def test_a_file_of_answers_calls_samples_as_data_do() -> None:
    assert all(may_be_items(name) for name in ("id", "Task ID", "doc_id", "row"))
    assert not any(may_be_items(name) for name in ("text", "label", "worker_task", "document"))
