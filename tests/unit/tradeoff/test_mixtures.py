"""Which mixtures are tried."""

import numpy as np
import pytest

from labelworth.tradeoff.search import mixtures, near_mixtures


@pytest.mark.parametrize("n_arms", [1, 2, 3, 5])
def test_shares_sum_to_one_and_every_arm_is_tried_alone(n_arms: int) -> None:
    tried = list(mixtures(n_arms))
    for shares in tried:
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1.0)
    for corner in np.eye(n_arms):
        assert any((shares == corner).all() for shares in tried)


def test_neighbors_are_mixtures_too_and_come_from_both_sides() -> None:
    direction, corner = np.array([0.7, 0.3, 0.0]), np.array([0.0, 5.0, 5.0])
    near = list(near_mixtures(direction, 10 * direction, 0.1, [corner], np.random.default_rng(0)))
    for shares in near:
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1.0)
    moves = np.array(near) - direction
    assert (moves.max(axis=0) > 0.01).all()
    assert (moves.min(axis=0)[:2] < -0.01).all()
    # Towards the corner all at once: a tenth of the way.
    towards = 0.9 * direction + 0.1 * corner / 10
    assert any(np.allclose(shares, towards / towards.sum()) for shares in near)
