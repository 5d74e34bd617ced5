"""Which targets are within reach."""

import pytest

from labelworth.errors import InfeasiblePlanError
from labelworth.tradeoff.problem import Question, error_ceiling


def ceiling(target: float, least: float, criterion: str = "total_variance") -> float:
    return error_ceiling(Question.of(target=target, pool=10.0), criterion, least, 1e-8, among="of ten")


def test_a_target_above_the_least_error_is_the_ceiling() -> None:
    assert ceiling(0.3, 0.2) == 0.3
    assert ceiling(0.2, 0.2) == 0.2


def test_a_target_that_cannot_be_told_from_the_least_error_is_that() -> None:
    assert ceiling(0.2 * (1 - 0.9e-8), 0.2) == 0.2
    assert ceiling(-30.0 - 0.9e-8, -30.0, "log_volume") == -30.0


@pytest.mark.parametrize(
    ("criterion", "target", "least"),
    [("total_variance", 0.2 * (1 - 1.1e-8), 0.2), ("log_volume", -30.0 - 1.1e-8, -30.0), ("error", 0.1, 0.2)],
)
def test_a_lower_one_is_refused_with_digits_that_tell_them_apart(criterion: str, target: float, least: float) -> None:
    with pytest.raises(InfeasiblePlanError, match=r"No design of ten reaches (error|a target of) ") as caught:
        ceiling(target, least, criterion)
    assert caught.value.nearest == least
    numbers = (
        str(caught.value)
        .partition(" reaches ")[2]
        .removeprefix("a target of ")
        .removeprefix("error ")
        .split(". The nearest is ")
    )
    assert numbers[0] != numbers[1].split(":")[0]
