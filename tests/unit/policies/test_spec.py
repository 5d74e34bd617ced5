from fractions import Fraction

import pytest

from labelworth.errors import InvalidInputError
from labelworth.policies.catalog import EveryOther, Everything, Nothing, Prefix, PrefixShare, RandomTokens, Window
from labelworth.policies.function_rule import FunctionRule
from labelworth.policies.policy import Policy
from labelworth.policies.spec import parse_policy, parse_rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("everything", Everything()),
        (" nothing ", Nothing()),
        ("every-other", EveryOther()),
        ("prefix:3", Prefix(3)),
        ("prefix:0.5", PrefixShare(0.5)),
        ("prefix:1", Prefix(1)),
        ("prefix:1.0", PrefixShare(1.0)),
        ("prefix:1/3", PrefixShare(Fraction(1, 3))),
        ("window: 5", Window(5)),
        ("random:0.3", RandomTokens(0.3)),
        ("random:1", RandomTokens(1.0)),
    ],
)
def test_rules_are_read_and_written_back(text: str, rule: object) -> None:
    parsed = parse_rule(text)
    assert parsed == rule
    assert parse_rule(parsed.spec) == rule


def test_one_position_and_the_whole_are_told_apart() -> None:
    assert parse_rule("prefix:1").expected_labels(5) == 1
    assert parse_rule("prefix:1.0").expected_labels(5) == 5
    assert len(parse_policy("0.5*prefix:1 + 0.5*prefix:1.0").rules) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("every-thing", r"no rule 'every-thing'. Did you mean 'everything'"),
        ("every_other", "Did you mean 'every-other'"),
        ("window", "window needs a number"),
        ("window:", "window needs a number"),
        ("everything:3", "takes no number"),
        ("window:2.5", "whole number of positions"),
        ("window:1_0", "whole number of positions"),
        ("prefix:1_0", "a number of positions or a share"),
        ("random:0.0_1", "must be a number"),
        ("window:-2", "at least 1"),
        ("prefix:half", "prefix:3 or prefix:0.5"),
        ("prefix:1/0", "prefix:3 or prefix:0.5"),
        ("prefix:1.5", r"\[0, 1\]"),
        ("random:often", "must be a number such as"),
        ("random:2", r"\[0, 1\]"),
        (3, "written as text"),
    ],
)
def test_what_is_no_rule_is_named(text: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        parse_rule(text)


def test_policies_have_one_canonical_form() -> None:
    assert parse_policy("0.25*everything+0.75*window:5").spec == "0.25*everything + 0.75*window:5"
    assert parse_policy("window:5").spec == "window:5"
    assert parse_policy("1*window:5").spec == "window:5"
    assert parse_policy("0.5*nothing + 0*window:2 + 0.5*everything").spec == "0.5*nothing + 0.5*everything"
    assert parse_policy("0.5*nothing + 0.25*everything + 0.25*nothing").spec == "0.75*nothing + 0.25*everything"
    assert parse_policy("2.5e-1*everything + 7.5e-1*nothing").weights == (0.25, 0.75)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("everything + nothing", "needs its weight"),
        ("0.5*everything + nothing", "needs its weight"),
        ("0.5*everything", "sum to 1"),
        ("0.5*everything + 0.6*nothing", "sum to 1"),
        ("1.5*everything + -0.5*nothing", "non-negative"),
        ("much*everything + 0.5*nothing", "must be a number"),
        ("0.5*everything + ", "needs its weight"),
        ("", "A policy is written as"),
        (None, "A policy is written as"),
    ],
)
def test_what_is_no_policy_is_named(text: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        parse_policy(text)


def test_rules_of_ones_own_have_names() -> None:
    own = {"last": lambda length: [length - 1]}
    policy = parse_policy("0.5*last + 0.5*nothing", own=own)
    assert policy.rules == (FunctionRule("last", own["last"]), Nothing())
    assert parse_policy(policy.spec, own=own) == policy
    with pytest.raises(InvalidInputError, match="yours: last"):
        parse_rule("lost-and-found", own=own)
    with pytest.raises(InvalidInputError, match="rule of the house"):
        parse_rule("everything", own={"everything": own["last"]})


def test_weights_over_a_list_of_rules() -> None:
    policy = parse_policy("0.25*everything + 0.75*window:5")
    rules = [Nothing(), Window(5), Everything()]
    assert policy.weights_over(rules).tolist() == [0.0, 0.75, 0.25]
    with pytest.raises(InvalidInputError, match="uses the rule window:5"):
        policy.weights_over([Everything()])
    with pytest.raises(InvalidInputError, match="one weight per rule"):
        Policy((Everything(),), (0.5, 0.5))


@pytest.mark.parametrize(
    "text",
    [
        "prefix:1e999999999",
        "random:1e-999999999",
        "1e999999999*everything + 0.5*nothing",
        f"prefix:{'9' * 5000}",
        f"window:{'9' * 5000}",
        f"random:0.{'3' * 5000}",
    ],
)
def test_numbers_of_any_length_are_refused_at_once(text: str) -> None:
    with pytest.raises(InvalidInputError, match="number") as caught:
        parse_policy(text)
    assert len(str(caught.value)) < 300
