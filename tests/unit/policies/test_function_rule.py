from typing import Any

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.policies.function_rule import FunctionRule


def test_the_function_is_asked_once_per_length() -> None:
    asked = []

    def first(length: int) -> list[int]:
        asked.append(length)
        return [0]

    rule = FunctionRule("first", first)
    drawn = rule.draw(np.array([2, 3, 2]), np.random.default_rng(0))
    assert drawn.tolist() == [True, False, True, False, False, True, False]
    rule.draw(np.array([3, 2]), np.random.default_rng(0))
    assert asked == [2, 3]


@pytest.mark.parametrize(
    "answer", [[0, 2], (0, 2), {0, 2}, range(0, 3, 2), np.array([2, 0]), [True, False, True], np.array([1, 0, 1]) > 0]
)
def test_positions_come_in_many_ways(answer: Any) -> None:
    (outcome,) = FunctionRule("rule", lambda length: answer).outcomes(3)
    assert outcome[0] == 1.0
    assert outcome[1].tolist() == [True, False, True]


def test_no_position_is_an_answer() -> None:
    assert FunctionRule("none", lambda length: []).expected_labels(3) == 0


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([3], "positions from 0 to 2"),
        ([-1], "positions from 0 to 2"),
        ([0.5], "positions from 0 to 2"),
        ([True, False], "positions from 0 to 2"),
        (None, "positions from 0 to 2"),
        (7, "positions from 0 to 2"),
        ([(0.5, [0]), (0.4, [1])], "must sum to 1"),
        ([(1.5, [0]), (-0.5, [1])], "non-negative"),
        ([(0.5, [0]), (0.5, [9])], "positions from 0 to 2"),
    ],
)
def test_other_answers_are_refused(answer: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        FunctionRule("rule", lambda length: answer).n_outcomes(3)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a*b", "a:b"])
def test_names_that_specs_cannot_hold_are_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="name of a rule"):
        FunctionRule(name, lambda length: [0])
