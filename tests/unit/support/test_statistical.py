"""The assertions about chance have the rates they claim, and see what they should."""

from collections.abc import Callable

import numpy as np
import pytest

from support.statistical import assert_covariance_is, assert_mean_is, assert_share_is

N_REPETITIONS = 2000
RATE = 0.05


def alarm_rate(assertion: Callable[[], None]) -> float:
    alarms = 0
    for _ in range(N_REPETITIONS):
        try:
            assertion()
        except AssertionError:
            alarms += 1
    return alarms / N_REPETITIONS


# Six standard errors of a rate of 5 % at 2000 repetitions: false alarms of these tests themselves are below 1e-6.
LOW, HIGH = (
    RATE - 6 * np.sqrt(RATE * (1 - RATE) / N_REPETITIONS),
    RATE + 6 * np.sqrt(RATE * (1 - RATE) / N_REPETITIONS),
)


@pytest.mark.statistical
def test_the_mean_assertion_has_its_false_alarm_rate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rate = alarm_rate(lambda: assert_mean_is(rng.standard_normal((60, 1)) + 3, 3.0, false_alarm_rate=RATE))
    assert LOW <= rate <= HIGH


@pytest.mark.statistical
def test_the_covariance_assertion_keeps_its_false_alarm_rate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    root = np.linalg.cholesky(covariance)
    rate = alarm_rate(
        lambda: assert_covariance_is(rng.standard_normal((50, 2)) @ root.T, covariance, false_alarm_rate=RATE)
    )
    # The total and the directions depend on each other, so the shared rate is an upper bound and not far below.
    assert 0.4 * RATE <= rate <= HIGH


@pytest.mark.statistical
def test_the_share_assertion_keeps_its_false_alarm_rate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rate = alarm_rate(lambda: assert_share_is(int(rng.binomial(5000, 0.3)), 5000, 0.3, false_alarm_rate=RATE))
    assert 0.5 * RATE <= rate <= HIGH


def test_a_wrong_mean_is_refused(seed: int) -> None:
    values = np.random.default_rng(seed).standard_normal((4000, 3))
    with pytest.raises(AssertionError, match="standard errors"):
        assert_mean_is(values, np.array([0.0, 0.2, 0.0]))


def test_a_covariance_off_by_a_factor_is_refused(seed: int) -> None:
    errors = np.random.default_rng(seed).standard_normal((4000, 2))
    with pytest.raises(AssertionError, match="all directions"):
        assert_covariance_is(errors, 1.3 * np.eye(2))


def test_errors_that_cancel_in_the_total_are_refused(seed: int) -> None:
    errors = np.random.default_rng(seed).standard_normal((4000, 2)) * np.sqrt([1.3, 1 / 1.3])
    with pytest.raises(AssertionError, match="direction"):
        assert_covariance_is(errors, np.diag([1.0001, 1.0]))


def test_a_wrong_share_is_refused() -> None:
    with pytest.raises(AssertionError, match="outside"):
        assert_share_is(400, 1000, 0.3)


def test_a_wrong_correlation_is_refused(seed: int) -> None:
    errors = np.random.default_rng(seed).standard_normal((4000, 2))
    with pytest.raises(AssertionError, match="between directions 0 and 1"):
        assert_covariance_is(errors @ np.linalg.cholesky([[1.0, 0.4], [0.4, 1.0]]).T, np.diag([1.0, 1.0 + 1e-9]))
