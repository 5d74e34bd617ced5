import math

import numpy as np
import pytest

from labelworth.kernels.machine.instructions import SMALLEST_NORMAL, logarithm


@pytest.mark.parametrize(("low", "high"), [(0.9, 1.1), (1e-5, 1.0), (1e-300, 1e-290), (1.0, 1e300)])
def test_logarithm_is_exact_to_the_last_places(low: float, high: float) -> None:
    numbers = np.exp(np.random.default_rng(0).uniform(math.log(low), math.log(high), size=300))
    ours = np.array([logarithm(number) for number in numbers])
    np.testing.assert_allclose(ours, [math.log(number) for number in numbers], rtol=5e-16)


def test_logarithm_of_powers_of_two() -> None:
    assert logarithm(1.0) == 0.0
    assert logarithm(2.0) == math.log(2.0)
    assert logarithm(SMALLEST_NORMAL) == math.log(SMALLEST_NORMAL)
