"""Costs that are any function of (policy, n): designs against all whole designs there are."""

import math
from collections.abc import Mapping
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest

from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.fisher.documents.population import enumerated_information
from labelworth.planning.answer import Held
from labelworth.planning.grids import grid_solutions
from labelworth.planning.outcome import cloud, worth
from labelworth.planning.situation import Situation
from labelworth.planning.solving import continuous, solved
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.problem import Problem
from support.pilots import true_model

N_HELD, POOL = 30, 120


def discount(policy: Mapping[str, float], n: float) -> float:
    """The first 60 labels at 2, further ones at 1."""
    labels = round(policy["everything"] * n)
    return 2.0 * min(labels, 60) + max(labels - 60, 0)


def batches(policy: Mapping[str, float], n: float) -> float:
    """Labels are sold by 50, and a sample without one costs 0.1."""
    return 50.0 * math.ceil(policy["everything"] * n / 50) + 0.1 * policy["nothing"] * n


def annotators(policy: Mapping[str, float], n: float) -> float:
    """A label costs 1, and every 40 of them one more annotator to hire."""
    labels = round(policy["everything"] * n)
    return labels + 25.0 * math.ceil(labels / 40)


FUNCTIONS = (discount, batches, annotators)


@cache
def situation(function) -> Situation:
    accuracy = AsymptoticAccuracy.of(
        enumerated_information(true_model()), "excess_log_loss", held={"everything": float(N_HELD)}
    )
    held = Held("documents", N_HELD + POOL, N_HELD, N_HELD, POOL, 9, ("a", "b"), 0.0, None)
    plain = Situation(held, accuracy, ArmPrices(("everything", "nothing"), np.array([1.0, 0.0])), POOL)
    return plain.priced_by(function, {"everything": N_HELD, "nothing": 0.0})


@cache
def everything(function) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All whole designs, what they cost in all and their errors; the costs are written out again."""
    designs = np.array([pair for pair in product(range(POOL + 1), repeat=2) if sum(pair) <= POOL], dtype=np.float64)
    labels = designs[:, 0] + N_HELD
    if function is discount:
        costs = np.where(labels <= 60, 2 * labels, 60 + labels)
    elif function is batches:
        costs = 50 * np.ceil(labels / 50) + 0.1 * designs[:, 1]
    else:
        costs = labels + 25 * np.ceil(labels / 40)
    errors = np.array([situation(function).accuracy.error(design) for design in designs])
    return designs, costs, errors


def brute(function, problem: Problem, value: float) -> tuple[float, float]:
    """Cost and error of the best design."""
    _, costs, errors = everything(function)
    if problem == "budget":
        ranks = np.where(costs <= value + 1e-9, errors, np.inf)
    elif problem == "target":
        ranks = np.where(errors <= value, costs, np.inf)
    else:
        ranks = costs + value * errors
    best = np.flatnonzero(ranks <= ranks.min() + 1e-9)
    best = best[np.argmin(errors[best] if problem == "target" else costs[best])]
    return float(costs[best]), float(errors[best])


QUESTIONS: tuple[tuple[Problem, float], ...] = (
    ("budget", 91.0), ("budget", 120.0), ("budget", 160.5), ("budget", 1000.0),
    ("target", 0.06), ("target", 0.041), ("target", 0.0352), ("alpha", 300.0), ("alpha", 3000.0), ("alpha", 3e5),
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("problem", "value"), QUESTIONS)
def test_designs_are_the_best_of_all_whole_ones(function, problem: Problem, value: float) -> None:
    if problem == "budget" and situation(function).held.cost > value:
        with pytest.raises(InfeasiblePlanError, match="have cost"):
            solved(situation(function), problem, value)
        return
    found = solved(situation(function), problem, value)
    design = situation(function).design(found.counts)
    cost, error = brute(function, problem, value)
    assert found.certificate is None
    assert np.array_equal(found.counts, np.rint(found.counts))
    assert design.cost_in_all == pytest.approx(cost, abs=1e-9)
    assert design.error == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_quick_answers_are_nearly_as_good(function) -> None:
    own = situation(function)
    for problem, value in QUESTIONS:
        left = value - own.held.cost if problem == "budget" else value
        if left < 0:
            continue
        counts = continuous(own.accuracy, own.prices, own.pool, problem, left)
        cost, error = brute(function, problem, value)
        found = own.design(counts)
        assert found.cost_in_all + 3e3 * found.error <= 1.02 * (cost + 3e3 * error)
        assert problem != "target" or found.error <= value
        assert problem != "budget" or found.cost_in_all <= value + 1e-9


def test_what_is_held_counts_into_steps_and_discounts() -> None:
    assert [situation(function).held.cost for function in FUNCTIONS] == [60.0, 50.0, 55.0]
    # 30 labels are held: 20 more are in the batch that was paid, 30 more at the full price of 2.
    assert situation(batches).prices.cost(np.array([20.0, 0.0])) == 0.0
    assert situation(batches).prices.cost(np.array([21.0, 0.0])) == 50.0
    assert situation(discount).prices.cost(np.array([40.0, 0.0])) == 70.0


def test_a_target_that_nothing_meets_names_one_that_is_met() -> None:
    least = brute(annotators, "budget", 1e9)[1]
    with pytest.raises(InfeasiblePlanError, match="the nearest that this pool allows") as caught:
        solved(situation(annotators), "target", 0.5 * least)
    assert caught.value.nearest == pytest.approx(least)
    named = float(str(caught.value).split("allows is ")[1].split(",")[0])
    design = situation(annotators).design(solved(situation(annotators), "target", named).counts)
    assert design.error <= named


def test_steps_decide_what_the_next_label_costs() -> None:
    own = situation(annotators)
    full = {one.arm: one for one in worth(own, np.array([10.0, POOL - 10.0]))}
    assert full["everything"].price == 26.0
    assert full["nothing"].price == 0.0
    inside = {one.arm: one for one in worth(own, np.array([5.0, POOL - 5.0]))}
    assert inside["everything"].price == 1.0
    assert inside["everything"].gain_per_money == inside["everything"].gain


@pytest.mark.parametrize("function", FUNCTIONS)
def test_grids_and_clouds_are_at_the_function_s_costs(function) -> None:
    own = situation(function)
    found = grid_solutions(own)
    for one in (*found.budgets, *found.targets, *found.alphas):
        assert one.counts is None or one.cost_in_all == pytest.approx(
            function(_shares(np.array(one.counts)), N_HELD + sum(one.counts))
        )
    assert all(one.cost_in_all <= one.value + 1e-9 for one in found.budgets)
    errors = [one.error for one in found.budgets]
    assert all(later <= earlier * (1 + 1e-3) for earlier, later in pairwise(errors))
    assert all(one.error <= one.value for one in found.targets if one.error is not None)
    assert found.alphas
    for point in cloud(own):
        counts = np.array(point.counts)
        in_all = function(_shares(counts), N_HELD + counts.sum())
        assert point.cost + own.held.cost == pytest.approx(in_all)


def _shares(counts: np.ndarray) -> dict[str, float]:
    in_all = counts + np.array([N_HELD, 0.0])
    return dict(zip(("everything", "nothing"), in_all / in_all.sum(), strict=True))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda policy, n: float("nan"), "A cost must be a non-negative number"),
        (lambda policy, n: -1.0, "gave -1.0"),
        (lambda policy, n: "much", "gave 'much'"),
        (lambda policy, n: policy["windows"] * n, "failed for 30 samples .*KeyError"),
        (lambda policy, n: n * (1.0 if n < 100 else 0.5), "falls: beside what is held, 69 samples of 'everything'"),
        (lambda policy, n: 200.0 - n, "falls"),
        (lambda policy, n: 7.0, "more labels cost nothing"),
    ],
)
def test_functions_that_are_no_costs_are_refused(function, words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        situation(function)


def test_functions_are_known_by_what_they_answer() -> None:
    own, other = situation(discount), situation(annotators)
    assert own.price_list["function"] == "discount"
    assert own.price_list != other.price_list

    def renamed(policy: Mapping[str, float], n: float) -> float:
        return discount(policy, n) + (0.01 if n > 100 else 0.0)

    renamed.__name__ = "discount"
    assert situation(renamed).price_list["digest"] != own.price_list["digest"]
