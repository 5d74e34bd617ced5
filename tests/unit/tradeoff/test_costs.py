"""What samples cost."""

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.policies.function_rule import FunctionRule
from labelworth.policies.spec import parse_rule
from labelworth.tradeoff.cost_functions import PolicyCost
from labelworth.tradeoff.costs import ArmPrices, Prices
from labelworth.tradeoff.problem import Question

LENGTHS = LengthDistribution.from_mapping({1: 0.25, 4: 0.5, 9: 0.25})
PRICES = Prices(per_label=0.5, per_token=0.02, per_sequence=0.3, per_unlabeled=0.07, fixed=11.0)


def drawn_price(rule: str, n_sequences: int = 200_000) -> tuple[float, float]:
    """The mean price of sequences whose positions are drawn, and its standard error."""
    rng = np.random.default_rng(1)
    lengths = LENGTHS.sample(n_sequences, rng)
    labeled = np.add.reduceat(parse_rule(rule).draw(lengths, rng), np.concatenate([[0], np.cumsum(lengths)[:-1]]))
    prices = np.where(labeled > 0, 0.5 * labeled + 0.02 * lengths + 0.3, 0.07)
    return float(prices.mean()), float(prices.std() / np.sqrt(n_sequences))


@pytest.mark.statistical
@pytest.mark.parametrize("rule", ["everything", "nothing", "prefix:0.5", "window:2", "every-other", "random:0.3"])
def test_the_price_of_an_arm_is_the_mean_over_what_is_drawn(rule: str) -> None:
    expected, error = drawn_price(rule)
    price = PRICES.of_rules([rule], LENGTHS).per_sample[0]
    # 4.9 standard errors: a false alarm in a million.
    assert abs(price - expected) <= 4.9 * error + 1e-12


def test_a_window_by_hand() -> None:
    arms = PRICES.of_rules(["window:2", "nothing"], LENGTHS)
    labels, tokens = 0.25 * 1 + 0.75 * 2, 0.25 * 1 + 0.5 * 4 + 0.25 * 9
    np.testing.assert_allclose(arms.per_sample, [0.5 * labels + 0.02 * tokens + 0.3, 0.07])
    assert arms.cost(np.array([10.0, 100.0])) == pytest.approx(11.0 + 10 * arms.per_sample[0] + 7.0)


def test_a_rule_that_leaves_short_sequences_alone_does_not_open_them() -> None:
    # Half of one token is none.
    arms = Prices(per_label=0.0, per_sequence=1.0, per_unlabeled=0.0).of_rules(["prefix:0.5"], LENGTHS)
    assert arms.per_sample[0] == pytest.approx(0.75)


def test_own_rules_have_prices_too() -> None:
    ends = FunctionRule("ends", lambda length: [0, length - 1] if length > 1 else [])
    arms = Prices(per_label=2.0, per_sequence=1.0).of_rules([ends], LENGTHS)
    assert arms.per_sample[0] == pytest.approx(0.75 * 5.0)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "dear", None, True])
def test_what_is_no_price_is_refused(value) -> None:
    with pytest.raises(InvalidInputError, match="per_token must be a"):
        Prices(per_token=value)


def test_all_free_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="All prices are zero"):
        Prices(per_label=0.0, fixed=5.0)
    with pytest.raises(InvalidInputError, match="is free, so costs decide nothing"):
        ArmPrices(("everything", "nothing"), np.zeros(2))
    with pytest.raises(InvalidInputError, match="is free"):
        Prices(per_label=1.0).of_rules(["nothing"], LENGTHS)


def test_bad_prices_of_arms_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="must be finite"):
        ArmPrices(("everything",), np.array([np.nan]))
    with pytest.raises(InvalidInputError, match="non-negative"):
        ArmPrices(("everything",), np.array([-1.0]))
    with pytest.raises(InvalidInputError, match="shape"):
        ArmPrices(("everything",), np.ones(2))
    with pytest.raises(InvalidInputError, match="fixed must be a non-negative number"):
        ArmPrices(("everything",), np.ones(1), -1.0)


def test_a_function_of_policy_and_number() -> None:
    costs = PolicyCost(("everything", "nothing"), lambda policy, n: 3.0 + policy["everything"] * n**0.9)
    assert costs.cost(np.array([25.0, 75.0])) == pytest.approx(3.0 + 0.25 * 100**0.9)
    assert costs.cost(np.zeros(2)) == 3.0
    for answer in (np.nan, -1.0, np.inf):
        with pytest.raises(InvalidInputError, match="A cost must be a non-negative number"):
            PolicyCost(("everything",), lambda policy, n, answer=answer: answer).cost(np.ones(1))


@pytest.mark.parametrize("make", [lambda price: Prices(per_label=price), lambda price: Question.of(budget=price)])
def test_integers_beyond_every_float_are_refused_in_words(make) -> None:
    with pytest.raises(InvalidInputError, match="Got an integer beyond 1e308 instead"):
        make(10**5000)
