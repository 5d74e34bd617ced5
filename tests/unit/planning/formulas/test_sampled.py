"""The jackknife of sampled accuracies, by hand."""

import numpy as np
import pytest

from labelworth.fisher.dense import DenseInformation
from labelworth.models.coordinates import Coordinates, FreeTable
from labelworth.planning.formulas.sampled import joined_error, on_scale, settle
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy

COUNTS = np.array([3.0])
LINE = Coordinates((FreeTable("mean", [""], ["x"]),))


def sampled(batches: np.ndarray, criterion: str = "total_variance") -> AsymptoticAccuracy:
    """error = 1 / (mean information x count): biased upwards where the mean is noisy."""
    matrices = np.stack([batches, 0.5 * batches], axis=1)[:, :, None, None]
    known = matrices if len(batches) > 1 else None
    information = DenseInformation(
        LINE, ("everything", "nothing"), matrices.mean(axis=0), 0, 1, np.array([1.0, 0.0]), "sampling", known
    )
    return AsymptoticAccuracy.of(information, criterion, menu=["everything"])


def test_bias_and_noise_are_those_of_the_jackknife() -> None:
    batches = np.array([0.9, 1.2, 1.05, 0.8])
    logs = -np.log((batches.sum() - batches) / 3) - np.log(3)
    bias = 3 * (logs.mean() + np.log(batches.mean()) + np.log(3))
    settled = settle(sampled(batches), COUNTS)
    assert settled.accuracy.shift == pytest.approx(-bias, rel=1e-12)
    assert settled.noise == pytest.approx(np.sqrt(3 / 4 * np.square(logs - logs.mean()).sum()), rel=1e-12)
    joined = np.hypot(bias, settled.noise) / (3 * batches.mean())
    assert joined_error(sampled(batches), COUNTS) == pytest.approx(joined, rel=1e-12)


def test_a_figure_in_nats_is_moved_and_not_multiplied() -> None:
    batches = np.array([0.9, 1.2, 1.05, 0.8])
    accuracy = sampled(batches, "log_volume")
    values = -np.log(COUNTS[0] * (batches.sum() - batches) / 3)
    bias = 3 * (values.mean() + np.log(3 * batches.mean()))
    settled = settle(accuracy, COUNTS)
    assert settled.accuracy.error(COUNTS) == pytest.approx(-np.log(3 * batches.mean()) - bias, rel=1e-12)
    assert joined_error(accuracy, COUNTS) == pytest.approx(np.hypot(bias, settled.noise), rel=1e-12)


@pytest.mark.statistical
def test_the_bias_of_inverting_a_noisy_mean_is_taken_off() -> None:
    """E log(1 / mean) of 4 batches of variance 0.04 is 0.005 too high: six standard errors of 4000 means tell."""
    rng = np.random.default_rng(0)
    plain, settled = [], []
    for _ in range(4000):
        accuracy = sampled(1 + 0.2 * rng.standard_normal(4))
        plain.append(on_scale("total_variance", accuracy.error(COUNTS)) + np.log(3))
        settled.append(on_scale("total_variance", settle(accuracy, COUNTS).accuracy.error(COUNTS)) + np.log(3))
    reach = 6 * np.std(plain) / np.sqrt(len(plain))
    assert abs(np.mean(settled)) < reach / 2
    assert np.mean(plain) - np.mean(settled) == pytest.approx(0.005, rel=0.1)


def test_nothing_sampled_means_no_noise_and_no_shift() -> None:
    exact = sampled(np.array([2.0]))
    settled = settle(exact, COUNTS)
    assert (settled.noise, settled.accuracy.shift) == (0.0, 0.0)
    assert joined_error(exact, COUNTS) is None
