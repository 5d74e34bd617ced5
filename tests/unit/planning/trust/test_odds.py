"""The odds that a round of labels settles a question: against draws of what that round would say."""

import numpy as np
import pytest

from labelworth.planning.answer import NORMAL_95, Interval
from labelworth.planning.trust.odds import even_round, is_settled, odds_of_examples, odds_of_settling

N_DRAWS = 400_000
FALSE_ALARM = 4.9
"""Standard errors: a normal figure is farther off once in a million."""


def drawn_odds(
    error: float, interval: Interval, target: float, growth: float, *, known_too_well: float = 1.0
) -> float:
    """Draw the truth, then the mean of a larger sample: how often the interval around both misses the target.

    On the logarithmic scale the pilot's estimate has spread s. The round's own, of (growth - 1) times the labels, has
    s / sqrt(growth - 1), and the two are weighed by their precision.
    """
    rng = np.random.default_rng(3)
    end = interval.high if target > error else interval.low
    spread = abs(np.log(end / error)) / NORMAL_95
    truth = np.log(error) + spread * rng.standard_normal(N_DRAWS)
    own = truth + spread / np.sqrt(growth - 1) * rng.standard_normal(N_DRAWS)
    mean = (np.log(error) + (growth - 1) * own) / growth
    return float((np.abs(mean - np.log(target)) > known_too_well * NORMAL_95 * spread / np.sqrt(growth)).mean())


@pytest.mark.parametrize("growth", [1.2, 2.0, 7.0])
@pytest.mark.parametrize("target", [0.03, 0.04, 0.055, 0.07])
def test_odds_are_those_of_drawn_rounds(growth: float, target: float) -> None:
    interval = Interval(0.02, 0.09)
    odds = odds_of_settling("error", 0.04, interval, target, growth)
    assert odds is not None
    drawn = drawn_odds(0.04, interval, target, growth)
    assert abs(odds - drawn) < FALSE_ALARM * np.sqrt(max(odds * (1 - odds), 1e-4) / N_DRAWS)
    # The control: an interval that takes only half of its width into account settles more often.
    wrong = drawn_odds(0.04, interval, target, growth, known_too_well=0.5)
    assert abs(odds - wrong) > FALSE_ALARM * np.sqrt(max(odds * (1 - odds), 1e-4) / N_DRAWS)


@pytest.mark.parametrize(("n_examples", "wanted", "growth"), [(6, 10, 2.0), (11, 20, 1.8), (1, 3, 5.0)])
def test_odds_of_enough_examples_are_those_of_drawn_rounds(n_examples: int, wanted: int, growth: float) -> None:
    rng = np.random.default_rng(5)
    odds = odds_of_examples(n_examples, wanted, growth)
    rates = rng.gamma(n_examples, size=N_DRAWS)
    drawn = float((n_examples + rng.poisson((growth - 1) * rates) >= wanted).mean())
    assert abs(odds - drawn) < FALSE_ALARM * np.sqrt(odds * (1 - odds) / N_DRAWS)
    # The control: as if the rate were known.
    known = float((n_examples + rng.poisson((growth - 1) * n_examples, size=N_DRAWS) >= wanted).mean())
    assert abs(odds - known) > FALSE_ALARM * np.sqrt(odds * (1 - odds) / N_DRAWS)
    assert odds_of_examples(wanted, wanted, growth) == 1
    assert odds_of_examples(0, wanted, growth) == 0


def test_the_smallest_even_round_is_the_smallest() -> None:
    about = ("error", 0.04, Interval(0.02, 0.09), 0.055)

    def odds(more: int) -> float | None:
        return odds_of_settling(*about, 1 + more / 100)

    more = even_round(odds, 1000)
    assert more is not None
    # Sixty sizes from 1 to 1000 are an eighth apart.
    at, before = odds(more), odds(int(more / 1.13))
    assert at is not None
    assert before is not None
    assert before < 0.5 <= at
    assert even_round(odds, int(more / 1.13)) is None
    assert even_round(lambda more: None, 1000) is None
    assert even_round(odds, 0) is None


def test_where_an_interval_has_no_such_end_there_are_no_odds() -> None:
    assert odds_of_settling("error", 0.04, Interval(0.0, 0.09), 0.03, 2.0) is None
    assert odds_of_settling("error", 0.04, Interval(0.04, 0.04), 0.05, 2.0) is None
    assert odds_of_settling("error", 0.04, Interval(0.02, np.inf), 0.05, 2.0) is None
    # A log-volume is any number, on its own scale.
    assert odds_of_settling("log_volume", -4.0, Interval(-6.0, -2.0), -3.0, 2.0) is not None


def test_an_interval_settles_what_it_does_not_hold() -> None:
    assert is_settled(Interval(0.02, 0.09), 0.1)
    assert is_settled(Interval(0.02, 0.09), 0.01)
    assert not is_settled(Interval(0.02, 0.09), 0.05)
    assert not is_settled(None, 0.05)
