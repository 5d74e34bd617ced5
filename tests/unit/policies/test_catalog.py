from fractions import Fraction

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.policies.catalog import EveryOther, Everything, Nothing, Prefix, PrefixShare, RandomTokens, Window
from labelworth.policies.function_rule import FunctionRule
from labelworth.policies.rule import Rule, as_lengths

RULES: list[Rule] = [
    Everything(),
    Nothing(),
    EveryOther(),
    Prefix(3),
    PrefixShare(0.5),
    Window(2),
    RandomTokens(0.3),
    FunctionRule("ends", lambda length: [0, length - 1]),
    FunctionRule("either", lambda length: [(0.25, [0]), (0.75, np.arange(length) == length - 1), (0, [])]),
]


def positions(rule: Rule, length: int) -> list[list[int]]:
    return [np.flatnonzero(mask).tolist() for _, mask in rule.outcomes(length)]


def test_fixed_rules_label_what_they_say() -> None:
    assert positions(Everything(), 3) == [[0, 1, 2]]
    assert positions(Nothing(), 3) == [[]]
    assert positions(EveryOther(), 5) == [[0, 2, 4]]
    assert positions(EveryOther(), 1) == [[0]]
    assert positions(Prefix(3), 2) == [[0, 1]]
    assert positions(Prefix(3), 5) == [[0, 1, 2]]
    assert positions(PrefixShare(0.5), 5) == [[0, 1]]
    assert positions(PrefixShare(0.5), 1) == [[]]
    assert positions(Prefix(1), 4) == [[0]]
    assert positions(PrefixShare(1.0), 4) == [[0, 1, 2, 3]]


def test_a_share_is_taken_as_written() -> None:
    assert int(0.29 * 100) == 28  # what floating point would say
    assert PrefixShare(0.29).expected_labels(100) == 29
    assert PrefixShare(Fraction(1, 3)).expected_labels(3) == 1


def test_a_window_starts_anywhere() -> None:
    assert positions(Window(2), 4) == [[0, 1], [1, 2], [2, 3]]
    assert positions(Window(5), 3) == [[0, 1, 2]]
    assert [probability for probability, _ in Window(2).outcomes(4)] == [1 / 3] * 3


def test_random_tokens_are_coins() -> None:
    outcomes = {tuple(np.flatnonzero(mask)): probability for probability, mask in RandomTokens(0.3).outcomes(2)}
    assert outcomes == pytest.approx({(): 0.49, (0,): 0.21, (1,): 0.21, (0, 1): 0.09})
    assert positions(RandomTokens(0.0), 3) == [[]]
    assert positions(RandomTokens(1.0), 2) == [[0, 1]]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_outcomes_are_a_distribution_with_the_expected_number_of_labels(rule: Rule, length: int) -> None:
    outcomes = list(rule.outcomes(length))
    assert len(outcomes) == rule.n_outcomes(length)
    assert all(mask.shape == (length,) and mask.dtype == np.bool_ for _, mask in outcomes)
    assert all(probability > 0 for probability, _ in outcomes)
    assert sum(probability for probability, _ in outcomes) == pytest.approx(1)
    assert len({mask.tobytes() for _, mask in outcomes}) == len(outcomes)
    mean = sum(probability * mask.sum() for probability, mask in outcomes)
    assert rule.expected_labels(length) == pytest.approx(mean)


@pytest.mark.statistical
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_draws_follow_the_outcomes(rule: Rule) -> None:
    """Counts are binomial: six standard deviations, a false-alarm rate below 1e-6 for all outcomes together."""
    lengths, n_draws = np.array([1, 4, 2, 5]), 3000
    drawn = rule.draw(np.tile(lengths, n_draws), np.random.default_rng(1)).reshape(n_draws, -1)
    starts = np.cumsum(lengths) - lengths
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        counts: dict[bytes, int] = {}
        for mask in drawn[:, start : start + length]:
            counts[mask.tobytes()] = counts.get(mask.tobytes(), 0) + 1
        for probability, mask in rule.outcomes(length):
            deviation = np.sqrt(n_draws * probability * (1 - probability))
            assert abs(counts.pop(mask.tobytes(), 0) - n_draws * probability) <= 6 * deviation
        assert counts == {}


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_what_is_shown_follows_the_outcomes(rule: Rule, length: int) -> None:
    """How probable it is that a position is labeled, and that it and the next are."""
    single, double = np.zeros(length), np.zeros(length - 1)
    for probability, mask in rule.outcomes(length):
        for place in range(length):
            single[place] += probability * mask[place]
            if place + 1 < length:
                double[place] += probability * (mask[place] and mask[place + 1])
    found = rule.shown(length)
    np.testing.assert_allclose(found[0], single, atol=1e-12)
    np.testing.assert_allclose(found[1], double, atol=1e-12)
    assert found[0].sum() == pytest.approx(rule.expected_labels(length))


def test_positions_are_one_draw() -> None:
    assert Prefix(2).positions(5, np.random.default_rng(0)).tolist() == [0, 1]
    run = Window(3).positions(10, np.random.default_rng(0))
    assert np.diff(run).tolist() == [1, 1]


def test_outcomes_too_many_to_list_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"2\^40 outcomes at length 40.*Draw them"):
        next(RandomTokens(0.5).outcomes(40))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Prefix(-1), "at least 0"),
        (lambda: PrefixShare(1.5), r"\[0, 1\]"),
        (lambda: PrefixShare(float("nan")), r"\[0, 1\]"),
        (lambda: Prefix(True), "whole number"),
        (lambda: Prefix(0.5), "whole number"),
        (lambda: Window(0), "at least 1"),
        (lambda: Window(2.5), "whole number"),
        (lambda: RandomTokens(-0.1), r"\[0, 1\]"),
        (lambda: Everything().expected_labels(0), "length of a sequence"),
        (lambda: Everything().positions(True, np.random.default_rng(0)), "length of a sequence"),
        (lambda: as_lengths(np.array([0.5])), "whole numbers"),
    ],
)
def test_bad_numbers_are_named(make: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make()
