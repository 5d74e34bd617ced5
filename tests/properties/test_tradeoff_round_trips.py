"""A budget buys an error; that error, to the last digit, asks for that budget again: at every scale and limit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labelworth.errors import InfeasiblePlanError, NotIdentifiableError
from labelworth.fisher.criteria import CRITERIA
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.problem import LOGARITHMIC
from support.menus import accuracy_of, random_menu, rounded, solved

SCALES = st.sampled_from([1e-12, 1.0, 1e12])


@st.composite
def cases(draw, criteria=tuple(CRITERIA), scales=SCALES):
    """A menu with its prices, some money and a pool, in units of any size."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_arms, n_free = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    menu = random_menu(rng, n_arms, n_free, n_blind=draw(st.integers(0, min(2, n_free - 1))))
    matrices = menu.matrices * draw(scales)
    if n_arms > 2 and draw(st.booleans()):
        # An arm that tells nothing, or as much as a dearer one.
        matrices[1] = draw(st.sampled_from([0.0, 1.0])) * matrices[0]
    samples, money = draw(scales), draw(scales)
    criterion = draw(st.sampled_from(list(criteria)))
    # The log-loss of p(x) may be best where labels go to zero and other directions open up: no optimum is attained.
    least_held = 1.0 if criterion == "excess_marginal_log_loss" else 0.0
    held = max(draw(st.sampled_from([0.0, 1.0, 50.0])), least_held) * samples * matrices[0]
    names = ["everything"] if draw(st.integers(0, 5)) == 0 else list(menu.rules)
    accuracy = accuracy_of(replace(menu, matrices=matrices), criterion, arms=names, held=held)
    prices = menu.expected_labels * rng.uniform(0.1, 1.0, n_arms) + draw(st.sampled_from([0.0, 0.2]))
    costs = ArmPrices(
        accuracy.arms, money * prices[: len(names)], draw(st.sampled_from([0.0, 2.0])) * money * samples
    )
    pool = samples * float(np.exp(rng.uniform(1, 6)))
    all_of_the_pool = pool * float(costs.per_sample.max())
    # Some money; as much as the pool can use at most, to the last digit; more; and none.
    some = money * samples * float(np.exp(rng.uniform(1, 6)))
    return accuracy, costs, draw(st.sampled_from([some, all_of_the_pool, 3 * all_of_the_pool, 0.0])), pool


def size(solution) -> float:
    return 1.0 if solution.criterion in LOGARITHMIC else abs(solution.error)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_the_error_of_a_budget_is_a_target_within_it(case) -> None:
    accuracy, costs, money, pool = case
    try:
        there = solved(accuracy, costs, budget=costs.fixed + money, pool=pool)
    except NotIdentifiableError:
        return
    back = solved(accuracy, costs, target=there.error, pool=pool)
    assert there.is_certified, there.gap
    assert back.is_certified, back.gap
    assert back.error <= there.error + 1e-8 * size(there)
    assert back.cost - costs.fixed <= (there.cost - costs.fixed) * (1 + 1e-7)
    # And nobody gets the same error for less: what is saved is worth no more than the errors' last digits.
    saved = there.cost - back.cost
    assert saved * there.shadow_price_of_money <= 1e-7 * size(there)
    again = solved(accuracy, costs, budget=back.cost + 1e-15 * money, pool=pool)
    assert again.error <= there.error + 1e-7 * size(there)


@settings(max_examples=80, deadline=None)
@given(cases())
def test_the_worth_of_money_as_a_weight_leads_to_the_same_value(case) -> None:
    accuracy, costs, money, pool = case
    try:
        there = solved(accuracy, costs, budget=costs.fixed + money, pool=pool)
    except NotIdentifiableError:
        return
    # Where money is worth next to nothing no weight tells what it buys.
    assume(there.shadow_price_of_money * money > 1e-4 * size(there))
    alpha = 1 / there.shadow_price_of_money
    weighted = solved(accuracy, costs, alpha=alpha, pool=pool)
    assert weighted.is_certified, weighted.gap
    ranks = [solution.cost - costs.fixed + alpha * solution.error for solution in (weighted, there)]
    assert ranks[0] - ranks[1] <= weighted.gap + 1e-12 * (money + alpha * size(there))
    assert ranks[1] - ranks[0] <= 1e-7 * (money + alpha * size(there))


@settings(max_examples=60, deadline=None)
@given(cases(scales=st.just(1.0)), st.sampled_from([1e-12, 1e-3, 1e12]))
def test_prices_in_another_currency_buy_the_same(case, rate: float) -> None:
    accuracy, costs, money, pool = case
    other = ArmPrices(costs.arms, rate * costs.per_sample, rate * costs.fixed)
    try:
        one = solved(accuracy, costs, budget=costs.fixed + money, pool=pool)
    except NotIdentifiableError:
        with pytest.raises(NotIdentifiableError):
            solved(accuracy, other, budget=rate * (costs.fixed + money), pool=pool)
        return
    same = solved(accuracy, other, budget=rate * (costs.fixed + money), pool=pool)
    assert same.error == pytest.approx(one.error, abs=1e-8 * size(one))
    assert rate * same.shadow_price_of_money == pytest.approx(
        one.shadow_price_of_money, rel=1e-4, abs=1e-7 * size(one) / max(money, 1.0)
    )


@settings(max_examples=60, deadline=None)
@given(cases(scales=st.just(1.0)), st.randoms(use_true_random=False))
def test_arms_in_another_order_get_the_same(case, random) -> None:
    accuracy, costs, money, pool = case
    order = list(range(len(costs.arms)))
    random.shuffle(order)
    shuffled = replace(accuracy, arms=tuple(accuracy.arms[place] for place in order), steps=accuracy.steps[order])
    prices = ArmPrices(shuffled.arms, costs.per_sample[order], costs.fixed)
    try:
        one = solved(accuracy, costs, budget=costs.fixed + money, pool=pool)
    except NotIdentifiableError:
        return
    same = solved(shuffled, prices, budget=costs.fixed + money, pool=pool)
    assert same.error == pytest.approx(one.error, abs=1e-8 * size(one))
    # Of the same design, where it is the only one: the error rises with the distance from it.
    middle = np.zeros(len(order))
    middle[order] = same.counts
    assert accuracy.error((middle + one.counts) / 2) <= one.error + 1e-8 * size(one)


@settings(max_examples=60, deadline=None)
@given(cases(["total_variance", "excess_log_loss", "log_volume"], st.just(1.0)))
def test_whole_counts_make_the_round_trip(case) -> None:
    accuracy, costs, money, pool = case
    pool = float(np.floor(pool))
    try:
        there = solved(accuracy, costs, budget=costs.fixed + money, pool=pool)
    except NotIdentifiableError:
        return
    whole = rounded(accuracy, costs, there)
    down = np.floor(there.counts)
    assert whole.error <= accuracy.error(down)
    assert whole.cost <= (costs.fixed + money) * (1 + 1e-12)
    if not np.isfinite(whole.error):
        return
    back = rounded(accuracy, costs, solved(accuracy, costs, target=whole.error, pool=pool))
    assert back.error <= whole.error + 1e-8 * size(whole)
    # A local search on either side: they may end one sample apart.
    assert back.cost <= whole.cost + 2 * float(costs.per_sample.max())


@settings(max_examples=60, deadline=None)
@given(cases(scales=st.just(1.0)))
def test_a_little_less_than_the_least_error_is_out_of_reach(case) -> None:
    accuracy, costs, _, pool = case
    best = solved(accuracy, costs, budget=costs.fixed + 3 * pool * float(costs.per_sample.max()), pool=pool)
    with pytest.raises(InfeasiblePlanError) as caught:
        solved(accuracy, costs, target=best.error - 1e-6 * size(best), pool=pool)
    assert caught.value.nearest == pytest.approx(best.error, abs=1e-8 * size(best))
    assert solved(accuracy, costs, target=caught.value.nearest, pool=pool).error <= best.error + 1e-8 * size(best)
