import numpy as np
import pytest

from labelworth.evaluation.temperature import COLDEST, HOTTEST, best_temperature


@pytest.mark.parametrize("best", [0.1, 1.0, 30.0])
def test_the_least_loss_is_found(best: float) -> None:
    def loss(temperature: float) -> float:
        return float(np.log(temperature / best) ** 2)

    assert best_temperature(loss) == pytest.approx(best, rel=1e-4)
    assert best_temperature(loss, precision=0.02) == pytest.approx(best, rel=0.05)


def test_it_stays_within_its_bounds() -> None:
    assert best_temperature(lambda temperature: temperature) == pytest.approx(COLDEST, rel=0.01)
    assert best_temperature(lambda temperature: -temperature) == pytest.approx(HOTTEST, rel=0.01)
