"""Policies as text, as draws and as enumerations are the same policies."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.policies.catalog import EveryOther, Everything, Nothing, Prefix, PrefixShare, RandomTokens, Window
from labelworth.policies.policy import Policy
from labelworth.policies.spec import parse_policy, parse_rule

FAST = settings(max_examples=60, deadline=None)

shares = st.floats(0, 1) | st.fractions(0, 1, max_denominator=50)
rules = st.one_of(
    st.sampled_from([Everything(), Nothing(), EveryOther()]),
    st.builds(Prefix, st.integers(0, 9)),
    st.builds(PrefixShare, shares),
    st.builds(Window, st.integers(1, 9)),
    st.builds(RandomTokens, st.floats(0, 1)),
)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    chosen = draw(st.lists(rules, min_size=1, max_size=4))
    parts = np.array(draw(st.lists(st.integers(0, 9), min_size=len(chosen), max_size=len(chosen))), dtype=float)
    parts[0] += 1
    return Policy(tuple(chosen), tuple(parts / parts.sum()))


def sequences(lengths: list[int]) -> Sequences:
    n_tokens = sum(lengths)
    codes = np.arange(n_tokens) % 2
    return Sequences(codes, np.concatenate([[0], np.cumsum(lengths)]), Evidence(codes, ("x", "y")), ("a", "b"))


@FAST
@given(rules)
def test_rules_are_read_as_they_are_written(rule: object) -> None:
    assert parse_rule(str(rule)) == rule


@FAST
@given(policies())
def test_policies_are_read_as_they_are_written(policy: Policy) -> None:
    assert parse_policy(policy.spec) == policy
    assert parse_policy(policy.spec).spec == policy.spec


def test_the_only_rule_has_probability_one_however_its_shares_add_up() -> None:
    assert sum([0.1] * 10) != 1
    assert Policy((Everything(),) * 10, (0.1,) * 10) == Policy.of(Everything())


@FAST
@given(shares, st.integers(1, 10**6))
def test_a_share_is_rounded_down_exactly(share: float | Fraction, length: int) -> None:
    exact = share if isinstance(share, Fraction) else Fraction(repr(share))
    labels = PrefixShare(share).expected_labels(length)
    assert labels <= exact * length < labels + 1


@FAST
@given(policies(), st.integers(1, 8))
def test_expected_labels_are_those_of_the_enumeration(policy: Policy, length: int) -> None:
    mean = sum(
        weight * probability * mask.sum()
        for rule, weight in policy.items()
        for probability, mask in rule.outcomes(length)
    )
    assert policy.expected_labels(length) == pytest.approx(mean)


@FAST
@given(policies(), st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(0, 2**31))
def test_a_draw_is_one_of_the_outcomes_and_comes_back(policy: Policy, lengths: list[int], seed: int) -> None:
    data = sequences(lengths)
    hidden, draw = policy.apply(data, seed)
    for row, length in enumerate(lengths):
        rule = policy.rules[draw.rule_of_sequence[row]]
        mask = np.zeros(length, dtype=bool)
        mask[draw.positions(row)] = True
        assert mask.tobytes() in {outcome.tobytes() for _, outcome in rule.outcomes(length)}
    assert (hidden.evidence.is_gold == draw.labeled).all()
    assert (hidden.evidence.codes[draw.labeled] == data.evidence.codes[draw.labeled]).all()
    assert (draw.hide(data).evidence.codes == hidden.evidence.codes).all()
