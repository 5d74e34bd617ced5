"""Which way is better, of errors and of metrics."""

import pytest

from labelworth.tradeoff.direction import FALLING, RISING, direction_of


@pytest.mark.parametrize("criterion", ["error", "log_loss", "excess_error", "log_volume", None])
def test_errors_fall(criterion: str | None) -> None:
    way = direction_of(criterion)
    assert way is FALLING
    assert (way.reached(0.2), way.ends(0.1, 0.3)) == (0.2, (0.1, 0.3))


@pytest.mark.parametrize(
    "criterion", ["macro_f1", "recall of spam at precision 0.9", "precision of spam at recall 0.8"]
)
def test_metrics_rise_and_their_ends_change_places(criterion: str) -> None:
    way = direction_of(criterion)
    assert way is RISING
    low, high = way.ends(0.1, 0.3)
    assert (way.reached(0.2), way.reached(low), way.reached(high)) == (0.8, 0.7, 0.9)
    # A target is made easier the other way than labels go.
    assert (way.ease, FALLING.ease) == (FALLING.verb, way.verb)
