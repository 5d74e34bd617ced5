"""Bias and noise from batches left out in turn."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.fisher.jackknife import Jackknife, leave_one_out, require_batches


def test_every_batch_is_left_out_once() -> None:
    batches = np.random.default_rng(0).standard_normal((4, 2, 3))
    for place, mean in enumerate(leave_one_out(batches)):
        np.testing.assert_allclose(mean, np.delete(batches, place, axis=0).mean(axis=0))


def test_the_mean_has_no_bias_and_its_own_variance() -> None:
    batches = np.random.default_rng(1).standard_normal((9, 5))
    noise = Jackknife.of(batches.mean(axis=0), leave_one_out(batches))
    np.testing.assert_allclose(noise.correction, 0.0, atol=1e-14)
    np.testing.assert_allclose(noise.variance, batches.var(axis=0, ddof=1) / 9)


def test_the_bias_of_a_square_is_taken_off() -> None:
    batches = np.random.default_rng(2).standard_normal(7) + 3.0
    square = batches.mean() ** 2
    noise = Jackknife.of(square, leave_one_out(batches) ** 2)
    # E[mean^2] - (E mean)^2 = variance / B; its unbiased estimate is what the jackknife takes off, exactly.
    assert noise.correction == pytest.approx(-batches.var(ddof=1) / 7, rel=1e-9)


def test_batches_of_another_shape_and_a_single_one_are_refused() -> None:
    require_batches(None, (2, 2))
    require_batches(np.zeros((3, 2, 2)), (2, 2))
    with pytest.raises(InvalidInputError, match="batches"):
        require_batches(np.zeros((3, 2, 1)), (2, 2))
    with pytest.raises(InvalidInputError, match="at least two batches"):
        require_batches(np.zeros((1, 2, 2)), (2, 2))
