"""Reflected accuracies against plain linear algebra and finite differences."""

import numpy as np
import pytest

from labelworth.errors import NotIdentifiableError
from labelworth.planning.formulas.reflection import ReflectedAccuracy
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from support.menus import plain_error, random_menu

MENUS = [random_menu(np.random.default_rng(seed), 3, 4) for seed in (1, 2)]
COUNTS = np.array([5.0, 20.0, 100.0])
CRITERIA = ["total_variance", "worst_direction", "excess_log_loss", "log_volume"]


def reflected(criterion: str, shifts: tuple[float, float] = (0.1, -0.2)) -> ReflectedAccuracy:
    return ReflectedAccuracy(
        *(AsymptoticAccuracy(menu, criterion, shift=shift) for menu, shift in zip(MENUS, shifts, strict=True))
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_fit_lies_in_the_middle(criterion: str) -> None:
    at_fit, elsewhere = (plain_error(menu, criterion, COUNTS) for menu in MENUS)
    if criterion == "log_volume":
        expected = 2 * (at_fit + 0.1) - (elsewhere - 0.2)
    else:
        expected = (at_fit * np.exp(0.1)) ** 2 / (elsewhere * np.exp(-0.2))
    assert reflected(criterion).error(COUNTS) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_slopes_are_finite_differences(criterion: str) -> None:
    accuracy, step = reflected(criterion), 1e-5
    by_differences = [
        (accuracy.error(COUNTS + step * unit) - accuracy.error(COUNTS - step * unit)) / (2 * step)
        for unit in np.eye(3)
    ]
    np.testing.assert_allclose(accuracy.slope(COUNTS), by_differences, rtol=1e-5, atol=1e-12)


def test_the_fit_itself_is_its_own_reflection() -> None:
    center = AsymptoticAccuracy(MENUS[0], "total_variance")
    assert ReflectedAccuracy(center, center.apart()).error(COUNTS) == pytest.approx(center.error(COUNTS), rel=1e-12)


def test_what_is_open_stays_open() -> None:
    accuracy = reflected("total_variance")
    assert np.isinf(accuracy.error(np.zeros(3)))
    with pytest.raises(NotIdentifiableError):
        accuracy.slope(np.zeros(3))
