"""Mixtures of normals."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from labelworth.simulation.normal_mixture import NormalMixture

MIXTURE = NormalMixture(
    np.array([0.7, 0.3]), np.array([[0.0, 1.0], [3.0, -2.0]]), np.array([[1.0, 0.25], [0.04, 4.0]])
)


def density(value: float, place: int) -> float:
    parts = norm.pdf(value, MIXTURE.means[:, place], np.sqrt(MIXTURE.variances[:, place]))
    return float(MIXTURE.weights @ parts)


@pytest.mark.parametrize("place", [0, 1])
def test_moments_and_quantiles_are_those_of_the_density(place: int) -> None:
    mean = quad(lambda x: x * density(x, place), -20, 20, points=[-2, 0, 1, 3])[0]
    square = quad(lambda x: x**2 * density(x, place), -20, 20, points=[-2, 0, 1, 3])[0]
    assert MIXTURE.mean[place] == pytest.approx(mean)
    assert MIXTURE.variance[place] == pytest.approx(square - mean**2)
    for probability in (0.05, 0.5, 0.95):
        end = MIXTURE.quantiles(probability)[place]
        assert quad(density, -20, end, args=(place,), points=[-2, 0])[0] == pytest.approx(probability, abs=1e-7)


def test_log_densities() -> None:
    values = np.array([0.5, -1.0])
    expected = [np.log(density(value, place)) for place, value in enumerate(values)]
    np.testing.assert_allclose(MIXTURE.log_densities(values), expected)
