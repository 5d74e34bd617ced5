"""The bounds are the values of linear programs."""

import numpy as np
import pytest
import scipy.optimize

from labelworth.tradeoff.certificate import Minorant, cost_bound, most_gain


def drawn(seed: int):
    rng = np.random.default_rng(seed)
    n_arms = int(rng.integers(1, 7))
    worth = rng.exponential(size=n_arms) * 10 ** rng.uniform(-3, 3, n_arms)
    prices = rng.exponential(size=n_arms)
    if seed % 2:
        prices[rng.integers(n_arms)] = 0.0
    if seed % 3 == 0:
        worth[rng.integers(n_arms)] *= -1
    return worth, prices, 10 * rng.exponential(), 10 * rng.exponential()


@pytest.mark.parametrize("seed", range(60))
def test_the_most_gain_is_that_of_the_linear_program(seed: int) -> None:
    worth, prices, money, samples = drawn(seed)
    program = scipy.optimize.linprog(-worth, A_ub=np.stack([prices, np.ones_like(prices)]), b_ub=[money, samples])
    bound = most_gain(worth, prices, money, samples)
    assert bound.value == pytest.approx(-program.fun, rel=1e-8, abs=1e-12)
    assert bound.value == pytest.approx(bound.of_money * money + bound.of_samples * samples, rel=1e-12, abs=1e-15)
    more = most_gain(worth, prices, money * (1 + 1e-9), samples).value
    assert more - bound.value == pytest.approx(bound.of_money * money * 1e-9, rel=1e-3, abs=1e-14 * abs(bound.value))


@pytest.mark.parametrize("seed", range(60))
def test_the_least_cost_is_that_of_the_linear_program(seed: int) -> None:
    worth, prices, _, samples = drawn(seed)
    if worth.max() <= 0:
        worth = -worth
    intercept = np.random.default_rng(seed).uniform(0, 1) * samples * worth.max()
    program = scipy.optimize.linprog(
        prices, A_ub=np.stack([-worth, np.ones_like(prices)]), b_ub=[-intercept, samples]
    )
    assert cost_bound(Minorant(intercept, worth), 0.0, prices, samples) == pytest.approx(
        program.fun, rel=1e-7, abs=1e-10
    )


@pytest.mark.parametrize("is_limited", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_arms_with_samples_of_their_own_have_limits_of_their_own(seed: int, *, is_limited: bool) -> None:
    """Against the linear programs, with a pool and without; were their samples of the pool, bounds would differ."""
    worth, prices, money, samples = drawn(seed)
    rng = np.random.default_rng([seed, 1])
    apart = np.where(rng.random(len(worth)) < 0.5, samples * rng.exponential(size=len(worth)), np.inf)
    of_pool = np.isinf(apart).astype(float)
    prices = np.where(of_pool * (not is_limited) > 0, np.maximum(prices, 0.1), prices)
    pool = samples if is_limited else np.inf
    limits, sizes = ([of_pool], [samples]) if is_limited else ([], [])
    bounds = [(0.0, most) for most in apart]
    program = scipy.optimize.linprog(-worth, np.array([prices, *limits]), [money, *sizes], bounds=bounds)
    bound = most_gain(worth, prices, money, pool, apart)
    assert bound.value == pytest.approx(-program.fun, rel=1e-8, abs=1e-12)
    more = most_gain(worth, prices, money * (1 + 1e-9), pool, apart).value
    assert more - bound.value == pytest.approx(bound.of_money * money * 1e-9, rel=1e-3, abs=1e-14 * abs(bound.value))
    needed = 0.9 * bound.value
    cheapest = scipy.optimize.linprog(prices, np.array([-worth, *limits]), [-needed, *sizes], bounds=bounds)
    least = cost_bound(Minorant(needed, worth), 0.0, prices, pool, apart)
    assert least == pytest.approx(cheapest.fun, rel=1e-7, abs=1e-10)


def test_samples_apart_from_the_pool_add_to_it() -> None:
    worth, prices = np.array([3.0, 2.0]), np.array([1.0, 1.0])
    together = most_gain(worth, prices, 100.0, 10.0).value
    assert (together, most_gain(worth, prices, 100.0, 10.0, np.array([np.inf, 4.0])).value) == (30.0, 38.0)


@pytest.mark.parametrize("currency", [1e-20, 1e-12, 1.0, 1e12, 1e20])
@pytest.mark.parametrize("unit", [1e-20, 1e-12, 1.0, 1e12, 1e20])
def test_a_limit_that_is_not_there_does_not_count(currency: float, unit: float) -> None:
    worth, prices = unit * np.array([3.0, 1.0]), currency * np.array([2.0, 0.5])
    assert most_gain(worth, prices, 10.0 * currency, np.inf).value == pytest.approx(20.0 * unit)
    assert most_gain(worth, prices, np.inf, 10.0).value == pytest.approx(30.0 * unit)
    assert most_gain(-worth, prices, np.inf, np.inf).value == 0.0
    assert most_gain(worth, prices, np.inf, np.inf).value == np.inf
    assert cost_bound(Minorant(6.0 * unit, worth), 0.0, prices, np.inf) == pytest.approx(3.0 * currency)
    assert cost_bound(Minorant(6.0 * unit, -worth), 0.0, prices, np.inf) == np.inf
    # Something for nothing, without limit.
    assert most_gain(worth, 0 * prices, 10.0 * currency, np.inf).value == np.inf
    assert cost_bound(Minorant(6.0 * unit, worth), 0.0, 0 * prices, np.inf) == 0.0


def test_a_target_that_is_met_for_nothing_costs_nothing() -> None:
    assert cost_bound(Minorant(1.0, np.ones(2)), 2.0, np.ones(2), 10.0) == 0.0


def test_without_money_the_next_unit_is_worth_what_it_buys() -> None:
    bound = most_gain(np.array([3.0, 1.0]), np.array([1.0, 0.0]), 0.0, 10.0)
    assert (bound.value, bound.of_money, bound.of_samples) == (10.0, 2.0, 1.0)


def test_a_tangent_touches() -> None:
    counts, slope = np.array([2.0, 3.0]), np.array([-1.0, -0.5])
    plane = Minorant.tangent(counts, 7.0, slope)
    assert plane.intercept - plane.worth @ counts == pytest.approx(7.0)
