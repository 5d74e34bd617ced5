"""`lw.plan` and `lw.frontier` with a function of (policy, n) in the place of prices."""

import math
from collections.abc import Mapping
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import labelworth as lw
from labelworth.errors import InvalidInputError
from labelworth.planning.menu import held_by_rule
from labelworth.planning.plan import planner_of
from labelworth.planning.situation import Situation
from labelworth.planning.solving import solved
from labelworth.planning.source import PlanSettings
from labelworth.policies.spec import parse_rule
from labelworth.tradeoff.problem import Problem
from support.pilots import drawn_documents, drawn_sequences

DOCUMENTS = drawn_documents(400, 60, seed=0)
SEQUENCES = drawn_sequences(120, 40, seed=0)
FORMULA = {"criterion": "excess_log_loss", "use_unlabeled": "yes", "n_draws": 20}


def batches(policy: Mapping[str, float], n: float) -> float:
    """Labels are sold by 50."""
    return 50.0 * math.ceil(policy["everything"] * n / 50)


def by_the_rule(policy: Mapping[str, float], n: float, *, opening: float) -> float:
    """A sequence whole costs 4, a window 3, and every 30 of them an annotator."""
    labeled = round((policy["everything"] + policy["window:2"]) * n)
    return n * (4.0 * policy["everything"] + 3.0 * policy["window:2"]) + opening * math.ceil(labeled / 30)


def test_documents_in_batches(tmp_path: Path) -> None:
    plan = lw.plan(DOCUMENTS, prices=batches, budget=260, checkpoint=tmp_path, **FORMULA)
    # 60 labels are held, of two batches; three more make 250 labels for 250.
    assert (plan.held.cost, plan.recommended.labels, plan.recommended.cost_in_all) == (100.0, 190.0, 250.0)
    assert plan.certificate is None
    assert plan.certificate is None
    assert "better" not in plan.lines()[6]
    assert plan.prices["function"] == "batches"
    assert plan.labels_interval is not None
    assert (plan.labels_interval.low, plan.labels_interval.high) == (190.0, 190.0)
    assert plan.worth[0].price == 50.0
    assert {one.cost_in_all % 50 for one in plan.solutions.budgets} == {0.0}
    again = lw.plan(DOCUMENTS, prices=batches, budget=260, checkpoint=tmp_path, **FORMULA)
    assert again.to_dict() == plan.to_dict()


def test_other_costs_are_another_question_to_a_checkpoint(tmp_path: Path) -> None:
    asked = {**FORMULA, "target": 0.02, "checkpoint": tmp_path}
    for prices in (batches, {"per_label": 1.0}, {"per_label": 2.0, "per_unlabeled": 0.01}):
        fresh = lw.plan(DOCUMENTS, prices=prices, **{**asked, "checkpoint": None})
        assert lw.plan(DOCUMENTS, prices=prices, **asked).to_dict() == fresh.to_dict()


def test_a_function_that_is_a_price_answers_as_prices_do() -> None:
    for question in ({"budget": 200}, {"target": 0.015}, {"alpha": 1e4}):
        linear = lw.plan(DOCUMENTS, **question, **FORMULA)
        found = lw.plan(DOCUMENTS, prices=lambda policy, n: policy["everything"] * n, **question, **FORMULA)
        assert found.recommended.labels == linear.recommended.labels
        assert found.recommended.cost_in_all == pytest.approx(linear.recommended.cost_in_all)
        assert found.worth[0].price == linear.worth[0].price
        assert found.labels_interval.high == pytest.approx(linear.labels_interval.high, abs=1.0)


def test_simulated_documents_say_what_was_asked() -> None:
    plan = lw.plan(DOCUMENTS, prices=batches, budget=260, source="simulated")
    assert plan.recommended.cost_in_all <= 260
    assert any("asked about labeled documents alone" in note for note in plan.notes)


def test_sequences_by_the_rule() -> None:
    rules = "everything,window:2,nothing"
    prices = partial(by_the_rule, opening=20.0)
    held = 40 * 4.0 + 20.0 * 2
    plan = lw.plan(SEQUENCES, model="hidden-markov", rules=rules, prices=prices, budget=300, n_draws=0)
    counts = np.array([arm.count for arm in plan.recommended.arms])
    assert plan.arms == ("everything", "window:2", "nothing")
    assert plan.held.cost == held
    assert plan.prices["function"] == "by_the_rule"
    labeled = 40 + counts[0] + counts[1]
    spent = 4.0 * (40 + counts[0]) + 3.0 * counts[1] + 20.0 * math.ceil(labeled / 30)
    assert plan.recommended.cost_in_all == pytest.approx(spent)
    assert spent <= 300
    assert sum(arm.cost for arm in plan.recommended.arms) == pytest.approx(plan.recommended.cost)


def test_held_sequences_count_to_the_nearest_rule() -> None:
    codes = np.full(SEQUENCES.evidence.codes.shape, -1)
    first, second = (int(SEQUENCES.offsets[place]) for place in (0, 1))
    codes[first : int(SEQUENCES.offsets[1])] = 0
    codes[[second, second + 1]] = 1
    shown = SEQUENCES.with_evidence(type(SEQUENCES.evidence)(codes, ("A", "B")))
    menu = [parse_rule(spec) for spec in ("window:2", "everything", "nothing")]
    assert held_by_rule(shown, menu) == {"window:2": 1.0, "everything": 1.0, "nothing": 0.0}
    assert held_by_rule(shown, menu[:1]) == {"window:2": 2.0, "nothing": 0.0}


def test_a_frontier_at_the_costs_of_a_function() -> None:
    found = lw.frontier(DOCUMENTS, prices=batches, criterion="excess_log_loss", use_unlabeled="yes")
    assert {point.cost % 50 for point in found.points} == {0.0}
    assert found.held.cost == 100.0
    assert found.prices["function"] == "batches"


def test_rounding_makes_no_costs() -> None:
    # The labels are 60 of n, and share times n is not always 60.
    found = lw.frontier(DOCUMENTS, prices=lambda policy, n: 0.1 * policy["everything"] * n, use_unlabeled="yes")
    assert all(point.cost >= 0 for point in found.points)
    assert {point.cost for point in found.points if point.labels == 0} == {0.0}


def test_a_function_that_fails_is_told() -> None:
    with pytest.raises(InvalidInputError, match=r"by_the_rule failed for 60 samples .*KeyError: 'window:2'"):
        lw.plan(DOCUMENTS, prices=partial(by_the_rule, opening=1.0), budget=300, **FORMULA)
    with pytest.raises(InvalidInputError, match="or a function of"):
        lw.plan(DOCUMENTS, prices=3.0, budget=300, **FORMULA)


@pytest.mark.parametrize(
    ("problem", "value"), [("budget", 245.0), ("budget", 262.0), ("alpha", 4e3), ("target", 0.0425)]
)
def test_menus_of_rules_against_all_whole_designs(problem: Problem, value: float) -> None:
    own = sequences_by_the_rule(14)
    found = own.design(solved(own, problem, value).counts)
    designs = [np.array(one, float) for one in product(range(15), repeat=3) if sum(one) <= 14]
    costs = np.array([200.0 + 4 * w[0] + 3 * w[1] + 20 * (math.ceil((40 + w[0] + w[1]) / 30) - 2) for w in designs])
    errors = np.array([own.accuracy.error(one) for one in designs])
    if problem == "budget":
        assert found.cost_in_all <= value
        assert found.error == pytest.approx(errors[costs <= value].min(), rel=1e-9)
    elif problem == "target":
        assert found.error <= value
        assert found.cost_in_all == pytest.approx(costs[errors <= value].min())
    else:
        assert found.cost_in_all + value * found.error == pytest.approx((costs + value * errors).min())


@cache
def sequences_by_the_rule(pool: int) -> Situation:
    settings = PlanSettings(
        prices=partial(by_the_rule, opening=20.0),
        source="asymptotic",
        rules="everything,window:2,nothing",
        use_unlabeled="yes",
        criterion="excess_log_loss",
    )
    planner = planner_of(SEQUENCES, None, settings, model="hidden-markov")
    return planner.situation(float(pool))[0]
