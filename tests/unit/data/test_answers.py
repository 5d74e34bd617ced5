"""What annotators said, as a value."""

import numpy as np
import pytest

from labelworth.data.answers import Answers
from labelworth.data.evidence import encode_labels, from_weights
from labelworth.errors import InvalidInputError


def three() -> Answers:
    said = encode_labels(["a", ["a", "b"], "c"], classes=("a", "b", "c"))
    return Answers(
        np.array([0, 0, 4]), np.array([0, 2, 2]), ("ann", "bob", "eve"), said, np.array([1.0, np.nan, 2.0])
    )


def test_taking_answers_keeps_only_the_annotators_who_gave_them() -> None:
    kept = three().take(np.array([2, 1]))
    assert kept.names == ("eve",)
    assert kept.rows.tolist() == [4, 0]
    assert kept.annotators.tolist() == [0, 0]
    assert kept.evidence.dense().tolist() == [[0, 0, 1], [1, 1, 0]]
    assert kept.seconds is not None
    assert kept.seconds[0] == 2


def test_an_answer_needs_a_row_and_an_annotator_there_is() -> None:
    said = encode_labels(["a", "b"])
    with pytest.raises(InvalidInputError, match="annotator of an answer"):
        Answers(np.array([0, 1]), np.array([0, 1]), ("ann",), said)
    with pytest.raises(InvalidInputError, match="row of an answer"):
        Answers(np.array([0, -1]), np.array([0, 0]), ("ann",), said)
    with pytest.raises(InvalidInputError, match="one whole number per answer"):
        Answers(np.array([0]), np.array([0, 0]), ("ann",), said)
    with pytest.raises(InvalidInputError, match="prices"):
        Answers(np.array([0, 1]), np.array([0, 0]), ("ann",), said, prices=np.array([1.0, -1.0]))


def test_what_one_annotator_says_again_is_one_answer() -> None:
    """Sets are narrowed, the last of what contradicts itself or is a probability counts; others are left alone."""
    classes = ("a", "b", "c")
    weights = np.array(
        [
            [1, 1, 0],  # ann, row 0: a or b ..
            [0, 1, 1],  # .. and b or c: b
            [1, 0, 0],  # bob, row 0
            [1, 0, 0],  # ann, row 1: a ..
            [0, 0, 1],  # .. and then c: c
            [0.2, 0.3, 0.5],  # eve, row 1 ..
            [0.2, 0.3, 0.5],  # .. the same again
        ]
    )
    said = Answers(
        np.array([0, 0, 0, 1, 1, 1, 1]),
        np.array([0, 0, 1, 0, 0, 2, 2]),
        ("ann", "bob", "eve"),
        from_weights(weights, classes),
    )
    once = said.one_vote_each()
    assert once.rows.tolist() == [0, 0, 1, 1]
    assert once.annotators.tolist() == [0, 1, 0, 2]
    assert once.evidence.dense().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0.2, 0.3, 0.5]]
    assert once.one_vote_each() is once
    assert said.one_vote_each(independent=["eve"]).n_answers == 5


def test_answers_about_other_rows_or_classes_are_refused() -> None:
    answers = three()
    with pytest.raises(InvalidInputError, match="There are 4 rows, counted from 0, and an answer about row 4"):
        answers.require_about("row", 4, ("a", "b", "c"))
    with pytest.raises(InvalidInputError, match="Both must name the same"):
        answers.require_about("row", 5, ("a", "c", "b"))


def test_answers_are_told_in_another_order_of_classes() -> None:
    assert three().recoded(("d", "c", "b", "a")).evidence.dense().tolist() == [
        [0, 0, 0, 1],
        [0, 0, 1, 1],
        [0, 1, 0, 0],
    ]
    with pytest.raises(InvalidInputError, match="class 'c'"):
        three().recoded(("a", "b"))
