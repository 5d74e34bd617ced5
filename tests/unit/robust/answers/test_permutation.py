"""Permutation tests against all permutations of few answers."""

from itertools import permutations, product

import numpy as np
import pytest

from labelworth.robust.answers.permutation import (
    LeastP,
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
    answers, directions = FEW, rng.normal(size=(8, 2, 2))
    for one_sided in (False, True):
        sums = LinearSums.of(answers, directions, STRATA, one_sided=one_sided)
        scores = np.array(
            [np.einsum("mk,mkd->d", sums.answers[order], directions) / sums.scales for order in all_orders(STRATA)]
        )
        every, own = (scores, sums.scores) if one_sided else (np.abs(scores), np.abs(sums.scores))
        exact = (every.max(axis=1) >= own.max() - 1e-9).mean()
        found = permutation_p(LeastP(sums, (np.arange(2),)), rng, n_tests=250)
        # 999 permutations, or 9999 where the first of them give less than 0.01.
        assert abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / 999) + 2e-3


class EveryOrder(LinearSums):
    """All permutations in place of drawn ones."""

    def drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        orders = [np.arange(8), *all_orders(STRATA)]
        rows = [np.einsum("mk,mkd->d", self.answers[order], self.directions) for order in orders]
        return np.round(self._sided(self._scores_of(np.array(rows))), 9)


N_ORDERS = len(all_orders(STRATA))
FEW = np.eye(2)[[0, 1, 1, 0, 0, 1, 0, 1]]


def p_by_hand(columns: np.ndarray) -> float:
    """The share of rows that do not come before the first one, in the order of words in a dictionary."""
    rows = [tuple(row) for row in columns.tolist()]
    return sum(row >= rows[0] for row in rows) / len(rows)


def test_the_least_p_is_held_against_that_of_all_permutations(seed: int) -> None:
    """Westfall and Young by hand; groups that tell the same cost nothing, where Bonferroni takes twice as much."""
    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=(2, 8, 2, 1))
    sums = EveryOrder.of(FEW, np.concatenate([one, one, other], axis=2), STRATA)
    scores = sums.drawn(N_ORDERS, rng)
    both = (np.array([0]), np.array([1, 2]))
    least = [
        min(np.mean([max(row[g] for g in group) >= max(mine[g] for g in group) for row in scores]) for group in both)
        for mine in scores
    ]
    by_hand = p_by_hand(np.stack([-np.array(least), np.square(scores).sum(axis=1)], axis=1))
    assert permutation_p(LeastP(sums, both), rng) == pytest.approx(by_hand)
    same = EveryOrder.of(FEW, np.concatenate([one, one], axis=2), STRATA)
    twice = permutation_p(LeastP(same, (np.array([0]), np.array([1]))), rng)
    alone = permutation_p(EveryOrder.of(FEW, one, STRATA), rng)
    assert twice == pytest.approx(alone)


def test_where_the_first_direction_is_equal_the_second_decides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    coarse = np.eye(2)[[0, 0, 1, 1, 0, 1, 1, 1]][:, :, None]
    fine = coarse + 1e-3 * rng.random((8, 2, 1))
    sums = EveryOrder.of(FEW, np.concatenate([coarse, fine], axis=2), STRATA, one_sided=True)
    found = permutation_p(sums, rng)
    assert found == pytest.approx(p_by_hand(sums.drawn(N_ORDERS, rng)))
    # So it is what the fine direction alone says, which never contradicts the coarse one but where that is equal.
    assert found == pytest.approx(permutation_p(EveryOrder.of(FEW, fine, STRATA, one_sided=True), rng))
    first_alone = permutation_p(EveryOrder.of(FEW, coarse, STRATA, one_sided=True), rng)
    # Equal ones count as large, so more care is taken than needed.
    assert first_alone >= found
    least = min(_p_of_rows(sums.drawn(N_ORDERS, rng)))
    least_alone = min(_p_of_rows(sums.drawn(N_ORDERS, rng)[:, :1]))
    assert least < least_alone


def _p_of_rows(columns: np.ndarray) -> list[float]:
    """What the p-value would be if a row were the one observed."""
    return [p_by_hand(np.concatenate([columns[[row]], columns])) for row in range(len(columns))]


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
