"""The jackknife of sampled accuracies, by hand."""

from typing import Any

import numpy as np
import pytest

from labelworth.planning.sampled import SampledAccuracy, on_scale

COUNTS = np.array([3.0])


class Inverse:
    """error = 1 / (mean information x count): biased upwards where the mean is noisy."""

    def __init__(self, mean: float, criterion: str = "total_variance") -> None:
        self.mean, self.criterion = mean, criterion

    def error(self, counts: np.ndarray) -> float:
        return float(1 / (self.mean * counts[0]))


def sampled(batches: np.ndarray, criterion: str = "total_variance") -> SampledAccuracy:
    left_out = (batches.sum() - batches) / (len(batches) - 1)
    whole: Any = Inverse(float(batches.mean()), criterion)
    parts: Any = tuple(Inverse(float(one), criterion) for one in left_out)
    return SampledAccuracy(whole, lambda: parts)


def test_bias_and_noise_are_those_of_the_jackknife() -> None:
    batches = np.array([0.9, 1.2, 1.05, 0.8])
    logs = -np.log((batches.sum() - batches) / 3) - np.log(3)
    bias = 3 * (logs.mean() + np.log(batches.mean()) + np.log(3))
    settled = sampled(batches).settled(COUNTS)
    assert settled.accuracy.shift == pytest.approx(-bias, rel=1e-12)
    assert settled.noise == pytest.approx(np.sqrt(3 / 4 * np.square(logs - logs.mean()).sum()), rel=1e-12)
    joined = np.hypot(bias, settled.noise) / (3 * batches.mean())
    assert sampled(batches).standard_error(COUNTS) == pytest.approx(joined, rel=1e-12)


def test_a_figure_in_nats_is_moved_and_not_multiplied() -> None:
    batches = np.array([0.9, 1.2, 1.05, 0.8])
    found = sampled(batches, "log_volume")
    values = 1 / (COUNTS[0] * (batches.sum() - batches) / 3)
    bias = 3 * (values.mean() - 1 / (3 * batches.mean()))
    settled = found.settled(COUNTS)
    assert settled.accuracy.error(COUNTS) == pytest.approx(1 / (3 * batches.mean()) - bias, rel=1e-12)
    assert found.standard_error(COUNTS) == pytest.approx(np.hypot(bias, settled.noise), rel=1e-12)


@pytest.mark.statistical
def test_the_bias_of_inverting_a_noisy_mean_is_taken_off() -> None:
    """E log(1 / mean) of 4 batches of variance 0.04 is 0.005 too high: six standard errors of 4000 means tell."""
    rng = np.random.default_rng(0)
    plain, settled = [], []
    for _ in range(4000):
        found = sampled(1 + 0.2 * rng.standard_normal(4))
        plain.append(on_scale("total_variance", found.accuracy.error(COUNTS)) + np.log(3))
        settled.append(on_scale("total_variance", found.settled(COUNTS).accuracy.error(COUNTS)) + np.log(3))
    reach = 6 * np.std(plain) / np.sqrt(len(plain))
    assert abs(np.mean(settled)) < reach / 2
    assert np.mean(plain) - np.mean(settled) == pytest.approx(0.005, rel=0.1)


def test_nothing_sampled_means_no_noise_and_no_shift() -> None:
    exact: Any = Inverse(2.0)
    settled = SampledAccuracy(exact, lambda: ()).settled(COUNTS)
    assert (settled.noise, settled.accuracy.shift) == (0.0, 0.0)
    assert SampledAccuracy(exact, lambda: ()).standard_error(COUNTS) is None
