"""Targets: what can be one; the nearest that a refusal names is met when it is typed back as printed."""

import re

import numpy as np
import pytest

import labelworth as lw
from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.tradeoff.problem import infeasible_target, require_target, rounded_up
from support.pilots import drawn_documents, drawn_sequences

DOCUMENTS, SEQUENCES = drawn_documents(127, 40, seed=1), drawn_sequences(60, 25, seed=1)


def in_tens(policy, n):
    """Labels by ten, and unlabeled documents at 0.1."""
    return 10 * np.ceil(policy["everything"] * n / 10) + 0.1 * policy["nothing"] * n


EXCESS = {"criterion": "excess_log_loss", "use_unlabeled": "yes"}
WAYS = {
    "certified": EXCESS,
    "labels only": {**EXCESS, "use_unlabeled": "no"},
    "error": {"criterion": "error", "source": "asymptotic", "use_unlabeled": "yes"},
    "simulated": {"source": "simulated"},
    "priced pool": {**EXCESS, "prices": {"per_label": 1.0, "per_unlabeled": 0.1}},
    "function": {**EXCESS, "prices": in_tens},
    "negative figures": {"criterion": "log_volume", "use_unlabeled": "yes"},
}


def named(refusal: InfeasiblePlanError) -> tuple[float, float]:
    """The target and the labels in the words of a refusal, as they are printed."""
    found = re.search(r"allows is (?:\S+ % \(target=)?([^\s,)]+)\)?, at ([\d,]+) more label", str(refusal))
    assert found is not None, str(refusal)
    return float(found[1]), float(found[2].replace(",", ""))


def assert_the_named_target_is_met(data, impossible: float, *, is_forecast: bool = False, **asked) -> None:
    """Ask for what cannot be, then for what is named."""
    with pytest.raises(InfeasiblePlanError) as caught:
        lw.plan(data, target=impossible, n_draws=0, **asked)
    target, labels = named(caught.value)
    plan = lw.plan(data, target=target, n_draws=0, **asked)
    assert plan.recommended.error <= target + 1e-8 * abs(target)
    assert plan.recommended.labels == pytest.approx(labels, abs=0.5)
    # Negative control: a hundredth below it is out of reach; of a forecast, whose interval holds it, it is open.
    below = target - 0.01 * abs(target)
    if is_forecast:
        assert lw.plan(data, target=below, n_draws=0, **asked).recommended.error > below
        return
    with pytest.raises(InfeasiblePlanError):
        lw.plan(data, target=below, n_draws=0, **asked)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("pool", [None, 2])
def test_documents_meet_the_target_that_is_named(way: str, pool: float | None) -> None:
    impossible = -1e3 if way == "negative figures" else 1e-6
    assert_the_named_target_is_met(DOCUMENTS, impossible, is_forecast=way == "simulated", pool=pool, **WAYS[way])


@pytest.mark.parametrize("criterion", ["excess_log_loss", "error"])
def test_sequences_meet_the_target_that_is_named(criterion: str) -> None:
    rules = "everything,nothing,window:2"
    asked = {"model": "hidden-markov", "rules": rules, "criterion": criterion, "pool": 20}
    assert_the_named_target_is_met(SEQUENCES, 1e-6, is_forecast=criterion == "error", **asked)


@pytest.mark.parametrize("digits", [3, 6])
def test_figures_are_rounded_up(digits: int) -> None:
    rng = np.random.default_rng(0)
    for value in rng.standard_normal(500) * 10.0 ** rng.integers(-8, 8, size=500):
        text = rounded_up(float(value), digits)
        assert float(text) >= value
        assert float(text) <= value + 10.0 ** (1 - digits) * abs(value)
        assert len(re.sub(r"e.*|[-.]", "", text).strip("0")) <= digits


def test_no_error_is_zero_or_less() -> None:
    for criterion in (None, "error", "excess_log_loss"):
        for target in (0.0, -1.0):
            with pytest.raises(InvalidInputError, match="must be positive"):
                require_target(target, criterion)
    require_target(-40.0, "log_volume")


def test_a_share_in_percent_is_refused_in_words() -> None:
    for criterion, is_share in (("error", False), ("excess_error", False), (None, True)):
        with pytest.raises(InvalidInputError, match=r"a target of 2 % is 0\.02"):
            require_target(2.0, criterion, is_share=is_share)
    require_target(2.0, None)
    require_target(2.0, "log_loss")
    with pytest.raises(InvalidInputError, match="below 1"):
        lw.plan(np.eye(4), [0, 1, -1, -1], target=2.0)


def test_shares_out_of_reach_are_said_in_percent_and_as_they_are_typed() -> None:
    words = str(infeasible_target("error", 0.01, 0.02504, 1000.0))
    assert "reaches error 1 %: the nearest that this pool allows is 2.504 % (target=0.02504), at 1,000 more" in words
    assert "is 0.02504, at 1 more label." in str(infeasible_target("log_loss", 0.01, 0.02504, 1.0))
