"""Whole numbers that fit, against all whole numbers that fit."""

from itertools import product

import numpy as np
import pytest

from labelworth.errors import InfeasiblePlanError
from labelworth.tradeoff.cost_functions import PolicyCost
from labelworth.tradeoff.costs import ArmPrices
from support.menus import accuracy_of, random_menu, rounded, solved

POOL = 24


def setting(seed: int, n_arms: int, *, is_held: bool = True):
    menu = random_menu(np.random.default_rng(seed), n_arms, 3, n_blind=1)
    held = 3 * menu.matrices[0] if is_held else None
    accuracy = accuracy_of(menu, "total_variance", held=held)
    prices = np.round(0.37 * menu.expected_labels + 0.11, 2)
    return accuracy, ArmPrices(menu.rules, prices)


def all_designs(n_arms: int, most: int = POOL):
    return [np.array(counts, float) for counts in product(range(most + 1), repeat=n_arms) if sum(counts) <= most]


def is_whole(counts) -> bool:
    return bool((counts == np.rint(counts)).all() and counts.min() >= 0)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_arms", [2, 3])
def test_a_budget_is_spent_as_well_as_by_brute_force(seed: int, n_arms: int) -> None:
    accuracy, prices = setting(seed, n_arms)
    budget = 19.17
    best = solved(accuracy, prices, budget=budget, pool=POOL)
    whole = rounded(accuracy, prices, best)
    assert is_whole(whole.counts)
    assert whole.cost <= budget
    assert whole.counts.sum() <= POOL
    errors = [accuracy.error(design) for design in all_designs(n_arms) if prices.cost(design) <= budget]
    # Optimal, or off by less than the worth of the money that one sample of the cheapest arm costs.
    worth = best.shadow_price_of_money * prices.per_sample.min()
    assert min(errors) <= whole.error <= min(errors) + worth


@pytest.mark.parametrize("seed", range(8))
def test_a_target_is_met_as_cheaply_as_by_brute_force(seed: int) -> None:
    accuracy, prices = setting(seed, 3)
    target = solved(accuracy, prices, budget=19.17, pool=POOL).error
    best = solved(accuracy, prices, target=target, pool=POOL)
    whole = rounded(accuracy, prices, best)
    assert is_whole(whole.counts)
    assert whole.error <= target
    costs = [prices.cost(design) for design in all_designs(3) if accuracy.error(design) <= target]
    assert min(costs) - 1e-9 <= whole.cost <= min(costs) + prices.per_sample.min() + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_a_weighted_sum_is_as_small_as_by_brute_force(seed: int) -> None:
    accuracy, prices = setting(seed, 3)
    alpha = 1 / solved(accuracy, prices, budget=19.17, pool=POOL).shadow_price_of_money
    whole = rounded(accuracy, prices, solved(accuracy, prices, alpha=alpha, pool=POOL))
    ranks = [prices.cost(design) + alpha * accuracy.error(design) for design in all_designs(3)]
    assert is_whole(whole.counts)
    assert min(ranks) - 1e-9 <= whole.cost + alpha * whole.error <= min(ranks) + prices.per_sample.min()


def test_rounding_alone_would_often_be_worse_or_would_not_fit() -> None:
    worse = []
    for seed in range(8):
        accuracy, prices = setting(seed, 3)
        best = solved(accuracy, prices, budget=19.17, pool=POOL)
        nearest = np.rint(best.counts)
        fits = prices.cost(nearest) <= 19.17 and nearest.sum() <= POOL
        worse.append(not fits or accuracy.error(nearest) > rounded(accuracy, prices, best).error)
    assert sum(worse) >= 3


def test_cheap_samples_fill_what_is_left() -> None:
    accuracy, _ = setting(1, 2)
    prices = ArmPrices(accuracy.arms, np.array([7.0, 0.001]))
    whole = rounded(accuracy, prices, solved(accuracy, prices, budget=20.9, pool=5000))
    assert whole.counts[0] == 2
    assert whole.counts[1] == 4998
    assert whole.cost <= 20.9


def test_any_cost_function_is_kept_within_the_budget() -> None:
    accuracy, _ = setting(2, 2)
    costs = PolicyCost(
        accuracy.arms, lambda policy, n: 0.5 * (policy["everything"] * n) ** 1.2 + 0.1 * policy["nothing"] * n
    )
    whole = rounded(accuracy, costs, solved(accuracy, costs, budget=11.3, pool=POOL))
    assert is_whole(whole.counts)
    assert whole.cost <= 11.3
    errors = [accuracy.error(design) for design in all_designs(2) if costs.cost(design) <= 11.3]
    assert whole.error <= min(errors) * (1 + 1e-2)


def test_a_target_that_only_parts_of_samples_reach_is_told() -> None:
    accuracy, prices = setting(3, 2)
    nearest = accuracy.error(np.array([float(POOL), 0.0]))
    fraction = accuracy.error(np.array([POOL + 0.5, 0.0]))
    solution = solved(accuracy, prices, target=(nearest + fraction) / 2, pool=POOL + 0.5)
    with pytest.raises(InfeasiblePlanError, match="Raise the target a little") as caught:
        rounded(accuracy, prices, solution)
    assert caught.value.nearest == pytest.approx(nearest)
