import math

import numpy as np
import pytest

from labelworth.kernels.elementary import SMALLEST_NORMAL, exponential, logarithm


@pytest.mark.parametrize("scale", [1e-12, 1.0, 40.0, 700.0])
def test_exponential_is_exact_to_the_last_places(scale: float) -> None:
    numbers = scale * np.random.default_rng(0).uniform(-1, 1, size=300)
    ours = np.array([exponential(number) for number in numbers])
    np.testing.assert_allclose(ours, [math.exp(number) for number in numbers], rtol=5e-16)


def test_exponential_of_zero_is_one() -> None:
    assert exponential(0.0) == 1.0
    assert exponential(-0.0) == 1.0


@pytest.mark.parametrize("number", [-708.1, -1e5, -math.inf])
def test_exponential_below_the_range_is_zero(number: float) -> None:
    assert exponential(number) == 0.0


@pytest.mark.parametrize(("low", "high"), [(0.9, 1.1), (1e-5, 1.0), (1e-300, 1e-290), (1.0, 1e300)])
def test_logarithm_is_exact_to_the_last_places(low: float, high: float) -> None:
    numbers = np.exp(np.random.default_rng(0).uniform(math.log(low), math.log(high), size=300))
    ours = np.array([logarithm(number) for number in numbers])
    np.testing.assert_allclose(ours, [math.log(number) for number in numbers], rtol=5e-16)


def test_logarithm_of_powers_of_two() -> None:
    assert logarithm(1.0) == 0.0
    assert logarithm(2.0) == math.log(2.0)
    assert logarithm(SMALLEST_NORMAL) == math.log(SMALLEST_NORMAL)
