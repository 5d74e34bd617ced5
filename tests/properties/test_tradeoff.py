"""What holds for every menu, price and budget."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labelworth.fisher.criteria import CRITERIA
from labelworth.tradeoff.certificate import Minorant, cost_bound, most_gain
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.problem import LOGARITHMIC, dominators
from support.menus import accuracy_of, random_menu, rounded, solved

SMOOTH = sorted(set(CRITERIA) - {"worst_direction"})


@st.composite
def settings_of(draw, criteria=SMOOTH):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_arms, n_free = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    menu = random_menu(rng, n_arms, n_free, n_blind=draw(st.integers(0, min(2, n_free - 1))))
    criterion = draw(st.sampled_from(list(criteria)))
    # The log-loss of p(x) may be best where labels go to zero and other directions open up: no optimum is attained.
    least_held = 1.0 if criterion == "excess_marginal_log_loss" else 0.0
    held = max(draw(st.sampled_from([0.0, 1.0, 50.0])), least_held) * menu.matrices[0]
    prices = ArmPrices(menu.rules, menu.expected_labels * rng.uniform(0.1, 1.0, n_arms) + rng.uniform(0, 0.3), 2.0)
    accuracy = accuracy_of(menu, criterion, held=held)
    return accuracy, prices, float(np.exp(rng.uniform(1, 6))), float(np.exp(rng.uniform(1, 6))), rng


def random_design(prices: ArmPrices, money: float, pool: float, rng) -> np.ndarray:
    shares = rng.dirichlet(np.full(len(prices.arms), 0.5))
    return shares * min(pool, money / max(prices.per_sample @ shares, 1e-300))


@settings(max_examples=30, deadline=None)
@given(settings_of())
def test_nothing_that_fits_beats_a_certified_optimum(case) -> None:
    accuracy, prices, money, pool, rng = case
    solution = solved(accuracy, prices, budget=money + 2.0, pool=pool)
    assert solution.is_certified, solution.gap
    assert solution.cost <= (money + 2.0) * (1 + 1e-12)
    assert solution.counts.sum() <= pool * (1 + 1e-12)
    for _ in range(20):
        other = random_design(prices, money, pool, rng)
        assert accuracy.error(other) >= solution.error - solution.gap - 1e-12 * abs(solution.error)


@settings(max_examples=20, deadline=None)
@given(settings_of(), st.floats(1.001, 10.0))
def test_more_money_is_worth_something_and_less_and_less(case, factor: float) -> None:
    accuracy, prices, money, pool, _ = case
    least, some, more = (
        solved(accuracy, prices, budget=2.0 + money * scale, pool=pool) for scale in (1.0, (1 + factor) / 2, factor)
    )
    rounding = 1e-9 * max(abs(least.error), abs(more.error), 1.0)
    assert more.error <= some.error + rounding <= least.error + 2 * rounding
    # The least error is convex in the money: the middle lies below the chord, the tangent below the curve.
    assert some.error <= (least.error + more.error) / 2 + rounding
    assert more.error >= least.error - least.shadow_price_of_money * money * (factor - 1) - rounding


@settings(max_examples=20, deadline=None)
@given(settings_of())
def test_a_budget_a_target_and_a_weight_lead_to_the_same_design(case) -> None:
    accuracy, prices, money, pool, _ = case
    solution = solved(accuracy, prices, budget=money + 2.0, pool=pool)
    # Where money is worth next to nothing the cost of an error is not determined.
    assume(solution.shadow_price_of_money * money > 1e-4 * abs(solution.error))
    back = solved(accuracy, prices, target=solution.error, pool=pool)
    slack = 1e-7 * (abs(solution.error) if accuracy.criterion not in LOGARITHMIC else 1.0)
    assert back.error <= solution.error
    assert back.cost <= solution.cost * (1 + 1e-9) + slack / solution.shadow_price_of_money
    assert back.cost >= solution.cost - back.gap - slack / solution.shadow_price_of_money
    assert back.is_certified, back.gap


@settings(max_examples=30, deadline=None)
@given(settings_of(["worst_direction"]))
def test_kinks_are_certified_too(case) -> None:
    accuracy, prices, money, pool, rng = case
    solution = solved(accuracy, prices, budget=money + 2.0, pool=pool)
    assert solution.is_certified, solution.gap
    for _ in range(20):
        other = random_design(prices, money, pool, rng)
        assert accuracy.error(other) >= solution.error - solution.gap - 1e-12 * solution.error


@settings(max_examples=50, deadline=None)
@given(settings_of(CRITERIA))
def test_tangents_lie_below(case) -> None:
    accuracy, prices, money, pool, rng = case
    counts = 0.1 + random_design(prices, money, pool, rng)
    error, slope = accuracy.error(counts), accuracy.slope(counts)
    plane = Minorant.tangent(counts, error, slope)
    for scale in (0.01, 0.3, 2.0):
        other = counts * np.exp(scale * rng.standard_normal(len(counts)))
        assert accuracy.error(other) >= plane.intercept - plane.worth @ other - 1e-9 * abs(error)
    # A wrong slope does not: towards fewer samples it promises too much.
    wrong = Minorant.tangent(counts, error, 1.05 * slope)
    nearby = counts * 0.999
    assert accuracy.error(nearby) < wrong.intercept - wrong.worth @ nearby


@settings(max_examples=15, deadline=None)
@given(settings_of(["total_variance", "log_volume"]), st.sampled_from(["budget", "target", "alpha"]))
def test_whole_counts_fit_and_their_gap_is_true(case, kind: str) -> None:
    accuracy, prices, money, pool, _ = case
    pool = float(np.ceil(pool)) + 3
    reference = solved(accuracy, prices, budget=money + 2.0, pool=pool)
    assume(reference.shadow_price_of_money > 0)
    asked = {
        "budget": money + 2.0,
        # Not the very least error, which whole samples may miss.
        "target": reference.error + 0.05 * (abs(reference.error) if accuracy.criterion == "total_variance" else 1.0),
        "alpha": 1 / reference.shadow_price_of_money,
    }[kind]
    best = solved(accuracy, prices, **{kind: asked}, pool=pool)
    whole = rounded(accuracy, prices, best)
    assert (whole.counts == np.rint(whole.counts)).all()
    assert whole.counts.min() >= 0
    assert whole.counts.sum() <= pool
    if kind == "budget":
        assert whole.cost <= asked * (1 + 1e-12)
        assert whole.error >= best.error - best.gap - 1e-12 * abs(best.error)
    if kind == "target":
        assert whole.error <= asked
        assert whole.cost >= best.cost - best.gap - 1e-9


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=30))
def test_what_nobody_dominates_in_any_cloud(pairs) -> None:
    dominated_by = dominators(*zip(*pairs, strict=True))
    kept = {pair for pair, by in zip(pairs, dominated_by, strict=True) if by is None}
    beaten = {
        pair
        for pair in pairs
        if any(other[0] <= pair[0] and other[1] <= pair[1] and other != pair for other in pairs)
    }
    assert kept == set(pairs) - beaten
    assert dominators(*zip(*kept, strict=True)) == [None] * len(kept)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 100), st.just(0.0) | st.floats(1e-9, 10)), min_size=1, max_size=6),
    st.floats(0, 100),
    st.floats(0, 100),
    st.integers(0, 2**32 - 1),
)
def test_no_design_gains_more_than_the_bound(arms, money: float, samples: float, seed: int) -> None:
    worth, prices = (np.array(column) for column in zip(*arms, strict=True))
    bound = most_gain(worth, prices, money, samples)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        shares = rng.dirichlet(np.full(len(worth), 0.4))
        spent = float(prices @ shares)
        design = shares * min(samples, money / spent if spent > 0 else np.inf)
        gain = float(worth @ design)
        assert gain <= bound.value * (1 + 1e-9) + 1e-9
        # And none that gains so much costs less than the least cost says.
        cheapest = cost_bound(Minorant(gain, worth), 0.0, prices, samples)
        assert prices @ design >= cheapest * (1 - 1e-9) - 1e-9
