"""What a gap is small against."""

import pytest

from labelworth.tradeoff.problem import Question, gap_scale, is_small

BUDGET, TARGET, ALPHA = Question.of(budget=9.0), Question.of(target=0.5), Question.of(alpha=10.0)


@pytest.mark.parametrize(
    ("question", "criterion", "scale"),
    [
        (BUDGET, "total_variance", 0.5),
        (BUDGET, "log_volume", 1.0),
        (TARGET, "total_variance", 8.0),
        (TARGET, "log_volume", 8.0),
        (ALPHA, "total_variance", 13.0),
        (ALPHA, "log_volume", 10.0),
    ],
)
def test_a_gap_is_measured_against_what_is_minimized(question: Question, criterion: str, scale: float) -> None:
    assert gap_scale(question, criterion, 8.0, 0.5) == scale
    assert is_small(0.99e-8 * scale, scale)
    assert not is_small(1.01e-8 * scale, scale)
