"""The stopping rule estimates what is left; refused leaps leave plain EM."""

from typing import Any

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.estimation import expectation_maximization
from labelworth.estimation.expectation_maximization import SquaredExtrapolation, StoppingRule
from labelworth.estimation.fit import fit
from labelworth.models.classes.multinomial import MultinomialFamily
from support.small_models import CASES, Case, multinomial


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9, 0.99])
def test_the_gain_to_come_is_exact_for_one_direction(rate: float) -> None:
    # Objective -(1 - rate) x^2 / 2 in units where the complete information is 1: EM multiplies x by the rate.
    x, tolerance = 1.0, 1e-8
    rule, gains = StoppingRule(tolerance), []
    arrived = False
    while not arrived:
        arrived = rule.is_met(0.5 * (x - rate * x) ** 2, 0.5 * (rate * x - rate**2 * x) ** 2)
        x *= rate**2
        gains.append(0.5 * (1 - rate) * x**2)
        assert len(gains) < 10_000
    # What was left after the last two pairs of steps was within the tolerance, and after the pair before was not.
    assert gains[-2] <= tolerance * (1 + 1e-9) < gains[-3]


def arrives(tolerance: float, *steps: tuple[float, float]) -> bool:
    rule = StoppingRule(tolerance)
    return [rule.is_met(*pair) for pair in steps][-1]


def test_arrival_must_be_confirmed() -> None:
    assert not arrives(1e-6, (4e-7, 1e-7))
    assert arrives(1e-6, (4e-7, 1e-7), (4e-8, 1e-8))
    assert not arrives(1e-6, (4e-7, 1e-7), (4e-6, 4.1e-6))


def test_small_but_slow_steps_are_no_arrival() -> None:
    assert not arrives(1e-6, (1.0001e-7, 1e-7), (0.9999e-7, 0.9998e-7))


def test_growing_steps_are_no_arrival() -> None:
    assert not arrives(1e-3, (1e-9, 2e-9), (4e-9, 8e-9))


def test_a_standstill_is_an_arrival() -> None:
    assert arrives(1e-300, (0.0, 0.0))


def test_a_slow_rate_is_remembered_for_a_while() -> None:
    quick = (1e-9, 1e-10)
    assert arrives(1e-10, quick, quick)
    assert not arrives(1e-10, (1.0, 0.81), quick, quick)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_estimated_gain_bounds_what_was_left(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = case.draw(rng).sample(200, rng).hide(np.arange(40, 200))
    rough = fit(case.family(samples), samples, tolerance=1e-5, max_iterations=5000)
    exact = fit(case.family(samples), samples, start=rough.model, tolerance=1e-15, max_iterations=20000)
    # An estimate: over hundreds of fits what was left did not exceed it by more than a factor of two.
    assert exact.objective - rough.objective <= 10 * 1e-5 * 200


class Overshooting(SquaredExtrapolation):
    """Leaps that always end somewhere bad."""

    refusals = 0

    def step(self, start: np.ndarray, first: np.ndarray, second: np.ndarray) -> bool:
        start[:] = second + 100 * np.arange(len(second))
        return True

    def refused(self) -> None:
        Overshooting.refusals += 1


def test_refused_leaps_leave_plain_em(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    samples = multinomial(rng).sample(60, rng).hide(np.arange(20, 60))
    family = MultinomialFamily.for_samples(samples)
    plain = fit(family, samples, accelerated=False, tolerance=1e-10)
    monkeypatch.setattr(expectation_maximization, "SquaredExtrapolation", Overshooting)
    refused = fit(family, samples, accelerated=True, tolerance=1e-10)
    assert Overshooting.refusals > 0
    np.testing.assert_array_equal(refused.objective_path, plain.objective_path)
    np.testing.assert_array_equal(refused.model.word_probabilities, plain.model.word_probabilities)


def test_a_leap_out_of_all_bounds_is_refused(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    case = CASES[-1]
    samples = case.draw(rng).sample(60, rng).hide(np.arange(20, 60))

    class Exploding(SquaredExtrapolation):
        def step(self, start: np.ndarray, first: np.ndarray, second: np.ndarray) -> bool:
            start[:] = 1e4
            return True

    monkeypatch.setattr(expectation_maximization, "SquaredExtrapolation", Exploding)
    assert fit(case.family(samples), samples).converged


def test_errors_of_em_itself_are_not_swallowed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = multinomial(rng).sample(20, rng).hide(np.arange(10, 20))

    class Broken(MultinomialFamily):
        def maximize(self, statistics: Any) -> Any:
            raise InvalidInputError("broken")

    with pytest.raises(InvalidInputError, match="broken"):
        fit(Broken(samples.evidence.classes, samples.n_features), samples)
