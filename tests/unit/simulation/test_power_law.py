"""The power law through a few points."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.simulation.power_law import FLATTEST, STEEPEST, PowerLaw, fit_power_law

SIZES = np.array([12, 25, 50, 80])


def test_a_power_law_is_found_again() -> None:
    truth = PowerLaw(0.08, 1.4, 0.6)
    found = fit_power_law(SIZES, truth.at(SIZES), np.full(4, 1e-4))
    np.testing.assert_allclose([found.floor, found.scale, found.exponent], [0.08, 1.4, 0.6], rtol=1e-6)


def test_no_grid_point_of_its_parameters_fits_better() -> None:
    values, variances = np.array([0.5, 0.31, 0.3, 0.2]), np.array([2e-3, 1e-3, 1e-3, 5e-4])

    def squares(law: PowerLaw) -> float:
        return float((np.square(values - law.at(SIZES)) / variances).sum())

    found = fit_power_law(SIZES, values, variances)
    others = [
        PowerLaw(floor, scale, exponent)
        for floor in np.linspace(0, 0.3, 16)
        for scale in np.linspace(0, 6, 61)
        for exponent in np.linspace(FLATTEST, STEEPEST, 40)
    ]
    assert squares(found) <= min(map(squares, others))


def test_weights_count() -> None:
    values = np.array([0.5, 0.4, 0.3, 0.4])
    trusted = fit_power_law(SIZES, values, np.array([1.0, 1.0, 1.0, 1e-6]))
    assert abs(trusted.at(SIZES)[-1] - 0.4) < 1e-3
    doubted = fit_power_law(SIZES, values, np.array([1e-6, 1e-6, 1e-6, 1.0]))
    assert abs(doubted.at(SIZES)[-1] - 0.4) > 0.05


def test_a_rising_curve_is_told_flat_and_nothing_is_negative() -> None:
    found = fit_power_law(SIZES, np.array([0.1, 0.2, 0.3, 0.4]), np.full(4, 1e-3))
    assert found.scale == 0.0
    assert found.floor == pytest.approx(0.25)
    steep = fit_power_law(SIZES, np.array([0.5, 0.1, 0.01, 0.0]), np.full(4, 1e-3))
    assert min(steep.floor, steep.scale) >= 0
    assert FLATTEST <= steep.exponent <= STEEPEST


@pytest.mark.parametrize(
    ("sizes", "variances"), [(SIZES[:1], np.ones(1)), (SIZES, np.zeros(4)), (SIZES, np.full(4, np.nan))]
)
def test_too_little_to_go_by_is_refused(sizes: np.ndarray, variances: np.ndarray) -> None:
    with pytest.raises(InvalidInputError):
        fit_power_law(sizes, np.full(len(sizes), 0.3), variances)
