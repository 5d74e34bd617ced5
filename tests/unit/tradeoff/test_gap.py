"""What a gap is small against, and how it is told."""

import pytest

from labelworth.tradeoff.problem import Question, at_most_less, gap_in_words, gap_scale, is_small

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


def test_words() -> None:
    assert gap_in_words(BUDGET, 1e-12, 0.5, is_convex=True) == (
        "Any other design has at most 1e-12 less error (2e-12 of it)."
    )
    assert gap_in_words(TARGET, 0.1, 8.0, is_convex=True) == (
        "no certificate below 1e-08: any other design has at most 0.1 less cost (0.01 of it)."
    )
    assert gap_in_words(ALPHA, 0.0, 8.0, is_convex=False).startswith("no certificate: sampling may have bent")
    assert at_most_less(ALPHA, 2.0, of="It") == "It has at most 2 less cost plus weighted error"
