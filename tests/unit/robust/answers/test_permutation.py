"""Permutation tests against all permutations of few answers."""

from itertools import permutations, product

import numpy as np
import pytest

from labelworth.robust.answers.permutation import (
    LinearSums,
    centered,
    holm,
    log_arrangements,
    permutation_p,
    strata_of,
    within_strata,
)

STRATA = np.array([0, 1, 0, 0, 1, 1, 0, 2])


def all_orders(strata: np.ndarray) -> list[np.ndarray]:
    """Every permutation of the entries within their strata."""
    groups = [np.flatnonzero(strata == code) for code in np.unique(strata)]
    orders = []
    for choice in product(*(permutations(group) for group in groups)):
        order = np.empty(len(strata), dtype=int)
        for group, moved in zip(groups, choice, strict=True):
            order[group] = moved
        orders.append(order)
    return orders


def test_the_spread_of_the_sums_is_that_of_all_permutations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers, directions = rng.dirichlet(np.ones(3), size=8), rng.normal(size=(8, 3, 2))
    sums = LinearSums.of(answers, directions, STRATA)
    by_hand = np.array([np.einsum("mk,mkd->d", sums.answers[order], directions) for order in all_orders(STRATA)])
    np.testing.assert_allclose(by_hand.mean(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(by_hand.std(axis=0), sums.scales, rtol=1e-12)
    without_strata = LinearSums.of(answers, directions, np.zeros(8, dtype=int))
    assert not np.allclose(by_hand.std(axis=0), without_strata.scales, rtol=1e-2)


@pytest.mark.statistical
def test_p_values_are_those_of_all_permutations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers, directions = np.eye(2)[rng.integers(2, size=8)], rng.normal(size=(8, 2, 2))
    for one_sided in (False, True):
        sums = LinearSums.of(answers, directions, STRATA, one_sided=one_sided)
        scores = np.array(
            [np.einsum("mk,mkd->d", sums.answers[order], directions) / sums.scales for order in all_orders(STRATA)]
        )
        exact = ((scores if one_sided else np.abs(scores)).max(axis=1) >= sums.observed - 1e-9).mean()
        found = permutation_p(sums, rng, n_tests=250)
        # 999 permutations, or 9999 where the first of them give less than 0.01.
        assert abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / 999) + 2e-3


def test_permutations_stay_within_their_strata_and_reach_all_of_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    orders = np.concatenate(list(within_strata(STRATA, 3000, 2_000_000, rng)))
    assert orders.shape == (3000, 8)
    assert (np.sort(orders, axis=1) == np.arange(8)).all()
    assert (STRATA[orders] == STRATA).all()
    assert {tuple(order) for order in orders} == {tuple(order) for order in all_orders(STRATA)}


def test_arrangements_are_counted() -> None:
    answers = np.eye(2)[[0, 0, 1, 1, 0, 1, 1, 0]]
    distinct = {tuple(answers[order].argmax(axis=1)) for order in all_orders(STRATA)}
    assert log_arrangements(answers, STRATA) == pytest.approx(np.log(len(distinct)))


def test_what_permutations_do_not_move_is_left_aside() -> None:
    directions = np.stack([np.zeros((8, 2)), np.tile(np.arange(8.0)[:, None], (1, 2))], axis=2)
    sums = LinearSums.of(np.eye(2)[[0, 0, 1, 1, 0, 1, 1, 0]], directions, STRATA)
    assert sums.scores[0] == 0
    assert not LinearSums.of(np.tile([1.0, 0.0], (8, 1)), directions, STRATA).is_open


def test_helpers() -> None:
    assert strata_of(np.array([3, 3, 5]), np.array([0, 1, 0])).tolist() == [0, 1, 2]
    np.testing.assert_allclose(centered(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0])), [-1, 0, 1])
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])
    assert holm([]) == []
