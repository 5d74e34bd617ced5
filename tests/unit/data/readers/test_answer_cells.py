"""What cells of answers mean."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from labelworth.data.readers.answer_cells import CANNOT_SAY, AnswerCells
from labelworth.errors import InvalidInputError

CLASSES = ("ham", "news", "spam")
CODES = {name: code for code, name in enumerate(CLASSES)}


def weights(cell: Any, question: Any = None, classes: Any = CLASSES) -> list[float] | None:
    cells = AnswerCells(classes, CANNOT_SAY)
    said = cells.read(cell, question, "here")
    cells.require_known()
    return None if said is None else said.evidence({name: code for code, name in enumerate(classes)}).tolist()


@pytest.mark.parametrize("cell", [None, "", "  ", float("nan"), np.nan, pd.NA, pd.NaT])
def test_what_is_empty_is_no_answer(cell: Any) -> None:
    assert weights(cell) is None
    assert weights(cell, "ham") is None


@pytest.mark.parametrize("cell", ["cannot say", " Don't know ", "?", "SKIP"])
def test_cannot_say_is_an_answer_that_says_nothing(cell: str) -> None:
    assert weights(cell) == [1, 1, 1]
    assert weights(cell, "ham") == [1, 1, 1]


def test_a_class_may_be_called_as_a_marker_or_hold_a_bar() -> None:
    assert weights("?", classes=("?", "!")) == [1, 0]
    assert weights("a|b", classes=("a|b", "a", "b")) == [1, 0, 0]
    assert weights("[1]", classes=("[1]", "1")) == [1, 0]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (" ham ", [1, 0, 0]),
        ("ham|spam", [1, 0, 1]),
        (" spam | ham ", [1, 0, 1]),
        ('["ham", "spam"]', [1, 0, 1]),
        (["ham"], [1, 0, 0]),
        ({"ham", "spam"}, [1, 0, 1]),
        (np.array(["ham", "spam"]), [1, 0, 1]),
        ('{"ham": 0.25, "spam": 0.75}', [0.25, 0, 0.75]),
        ({"spam": 1}, [0, 0, 1]),
        ([0.5, 0.25, 0.25], [0.5, 0.25, 0.25]),
        ("[0.5, 0.25, 0.25]", [0.5, 0.25, 0.25]),
        (np.array([0.5, 0.5, 0.0]), [0.5, 0.5, 0]),
    ],
)
def test_classes_sets_and_probabilities(cell: Any, expected: list[float]) -> None:
    assert weights(cell) == expected


@pytest.mark.parametrize(
    ("question", "cell", "expected"),
    [
        ("ham", "yes", [1, 0, 0]),
        ("ham", "No", [0, 1, 1]),
        ("ham|news", True, [1, 1, 0]),
        (["ham", "news"], 0, [0, 0, 1]),
        ("is it spam?", "n", [1, 1, 0]),
        ("Is it one of ham|news ?", 1.0, [1, 1, 0]),
        ("which class?", "ham", [1, 0, 0]),
    ],
)
def test_yes_and_no_to_a_question(question: Any, cell: Any, expected: list[float]) -> None:
    assert weights(cell, question) == expected


def test_numbers_are_classes_whatever_their_type() -> None:
    assert weights(1.0, classes=(0, 1)) == [0, 1]
    assert weights("1", classes=(0, 1)) == [0, 1]
    assert weights([0, 2], classes=(0, 1, 2)) == [1, 0, 1]
    assert weights([0.5, 0.5], classes=(0, 1)) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("cell", "question", "classes", "message"),
    [
        ([0, 1], None, (0, 1), "may be a set of classes or their probabilities"),
        ("ham", "spam", CLASSES, "is yes, no or 'cannot say'. Got 'ham'"),
        ("no", "ham|news|spam", CLASSES, "leaves none"),
        ("yes", '{"ham": 1.0}', CLASSES, "a question is about a class"),
        ([], None, CLASSES, "the set is empty"),
        ("ham||spam", None, CLASSES, "names an empty class"),
        (["ham", None], None, CLASSES, "members of a set are classes"),
        ([0.5, 0.5], None, CLASSES, "there are 3 classes"),
        ([0.5, 0.5, 0.5], None, CLASSES, "sum to 1"),
        ({"ham": -0.5, "spam": 1.5}, None, CLASSES, "from 0 to 1"),
        ({"ham": "much"}, None, CLASSES, "from 0 to 1"),
        ({}, None, CLASSES, "sum to 1"),
        (float("inf"), None, CLASSES, "An answer is a class"),
        ("\ud800", None, CLASSES, "surrogate"),
        (
            "hamm",
            None,
            CLASSES,
            r"1 answer names 'hamm', first at here. Is 'ham' meant\?.*classes=ham,news,spam,hamm",
        ),
        ("HAM", None, CLASSES, "Is 'ham' meant"),
        (-1, None, CLASSES, "'-1'"),
    ],
)
def test_what_makes_no_sense_is_refused(cell: Any, question: Any, classes: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        weights(cell, question, classes)


def test_without_classes_minus_one_has_to_be_explained() -> None:
    with pytest.raises(InvalidInputError, match="Name it with cannot_say="):
        AnswerCells(None, CANNOT_SAY).read(-1, None, "here")
    said = AnswerCells(None, [-1]).read(-1.0, None, "here")
    assert said is not None
    assert said.evidence(CODES).tolist() == [1, 1, 1]


def test_classes_are_renamed_wherever_they_are_named() -> None:
    cells = AnswerCells(CLASSES, CANNOT_SAY, {"Ham": "ham", "a|b": "spam"})
    for cell, question, expected in (
        ("Ham", None, [1, 0, 0]),
        ("Ham|news", None, [1, 1, 0]),
        ("a|b", None, [0, 0, 1]),
        ({"Ham": 0.5, "news": 0.5}, None, [0.5, 0.5, 0]),
        ("no", "is it Ham?", [0, 1, 1]),
    ):
        said = cells.read(cell, question, "here")
        assert said is not None
        assert said.evidence(CODES).tolist() == expected
    cells.require_known()
    with pytest.raises(InvalidInputError, match="No answer names 'x', which was to be renamed"):
        AnswerCells(CLASSES, CANNOT_SAY, {"x": "ham"}).require_known()


def test_probabilities_may_be_rounded() -> None:
    assert weights({"ham": 0.33, "news": 0.33, "spam": 0.33}) == pytest.approx([1 / 3] * 3)
