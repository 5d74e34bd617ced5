"""The jackknife of sampled accuracies, by hand."""

import numpy as np
import pytest

from labelworth.errors import NotIdentifiableError
from labelworth.fisher.dense import DenseInformation
from labelworth.models.coordinates import Coordinates, FreeTable
from labelworth.planning.formulas.sampled import (
    ReflectedAccuracy,
    SlopedReflectedAccuracy,
    joined_error,
    on_scale,
    settle,
)
from labelworth.tradeoff.accuracy import ConvexAccuracy
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from support.menus import plain_error, random_menu

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


MENUS = [random_menu(np.random.default_rng(seed), 3, 4) for seed in (1, 2)]
OF_THREE = np.array([5.0, 20.0, 100.0])
CRITERIA = ["total_variance", "worst_direction", "excess_log_loss", "log_volume"]


def reflected(criterion: str, shifts: tuple[float, float] = (0.1, -0.2)) -> SlopedReflectedAccuracy:
    return SlopedReflectedAccuracy(
        *(AsymptoticAccuracy(menu, criterion, shift=shift) for menu, shift in zip(MENUS, shifts, strict=True))
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_fit_lies_in_the_middle(criterion: str) -> None:
    at_fit, elsewhere = (plain_error(menu, criterion, OF_THREE) for menu in MENUS)
    if criterion == "log_volume":
        expected = 2 * (at_fit + 0.1) - (elsewhere - 0.2)
    else:
        expected = (at_fit * np.exp(0.1)) ** 2 / (elsewhere * np.exp(-0.2))
    assert reflected(criterion).error(OF_THREE) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_slopes_are_finite_differences(criterion: str) -> None:
    accuracy, step = reflected(criterion), 1e-5
    by_differences = [
        (accuracy.error(OF_THREE + step * unit) - accuracy.error(OF_THREE - step * unit)) / (2 * step)
        for unit in np.eye(3)
    ]
    np.testing.assert_allclose(accuracy.slope(OF_THREE), by_differences, rtol=1e-5, atol=1e-12)


def test_the_fit_itself_is_its_own_reflection() -> None:
    center = AsymptoticAccuracy(MENUS[0], "total_variance")
    assert ReflectedAccuracy(center, center.apart()).error(OF_THREE) == pytest.approx(
        center.error(OF_THREE), rel=1e-12
    )


class Share:
    """A share of errors without a slope."""

    arms, labels_per_sample = ("everything",), np.ones(1)
    criterion, source = "error", "asymptotic"

    def __init__(self, value: float) -> None:
        self.value = value

    def error(self, counts: np.ndarray) -> float:
        return self.value

    def standard_error(self, counts: np.ndarray) -> float | None:
        return None


def test_errors_without_a_slope_are_reflected_too() -> None:
    accuracy = ReflectedAccuracy.of(Share(0.08), Share(0.04))
    assert accuracy.error(np.ones(1)) == pytest.approx(0.16)
    assert not isinstance(accuracy, ConvexAccuracy)
    both = AsymptoticAccuracy(MENUS[0], "total_variance"), AsymptoticAccuracy(MENUS[1], "total_variance")
    assert isinstance(ReflectedAccuracy.of(*both), ConvexAccuracy)


def test_an_error_of_zero_is_no_mirror() -> None:
    assert ReflectedAccuracy.of(Share(0.0), Share(0.04)).error(np.ones(1)) == 0.04
    assert ReflectedAccuracy.of(Share(0.04), Share(0.0)).error(np.ones(1)) == 0.0


def test_what_is_open_stays_open() -> None:
    accuracy = reflected("total_variance")
    assert np.isinf(accuracy.error(np.zeros(3)))
    with pytest.raises(NotIdentifiableError):
        accuracy.slope(np.zeros(3))
