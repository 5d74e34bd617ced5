"""Exactly one question."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.tradeoff.problem import Question


def test_one_of_three() -> None:
    assert Question.of(budget=5.0, pool=10.0) == Question("budget", 5.0, 10.0)
    assert Question.of(target=0.1).pool == np.inf
    assert Question.of(alpha=3).kind == "alpha"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "Got none of them"),
        ({"budget": 5.0, "target": 0.1}, "Got budget=5.0, target=0.1"),
        ({"budget": 1, "target": 1, "alpha": 1}, "exactly one of"),
        ({"budget": np.nan}, "budget must be a finite number"),
        ({"budget": -1.0}, "budget must be non-negative"),
        ({"alpha": 0.0}, "alpha, the price of a unit of error, must be positive"),
        ({"target": "low"}, "target must be a finite number"),
        ({"budget": 1.0, "pool": -2}, "pool must be non-negative"),
        ({"budget": 1.0, "pool": np.nan}, "pool must be a finite number"),
    ],
)
def test_what_is_no_question_is_refused(given: dict, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Question.of(**given)
