"""The density by which constants are judged."""

import numpy as np
from scipy.stats import norm

from labelworth.simulation.calibration import NormalMixture
from labelworth_studies.forecasts.forecast_tuning import log_densities


def test_log_densities_are_those_of_the_mixture() -> None:
    mixture = NormalMixture(
        np.array([0.7, 0.3]), np.array([[0.0, 1.0], [3.0, -2.0]]), np.array([[1.0, 0.25], [0.04, 4.0]])
    )
    values = np.array([0.5, -1.0])
    expected = np.log(mixture.weights @ norm.pdf(values, mixture.means, np.sqrt(mixture.variances)))
    np.testing.assert_allclose(log_densities(mixture, values), expected)
