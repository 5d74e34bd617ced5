"""Intervals are the quantiles of answers at other parameters."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from labelworth.data.kept import Checkpoint
from labelworth.planning.answer import Held
from labelworth.planning.situation import Alternatives, Band, Origin, Situation
from labelworth.planning.uncertainty import NearbyAnswers, band_intervals, spread
from labelworth.tradeoff.costs import ArmPrices

HELD, POOL = 100.0, 900.0


class Labels:
    """error(k) = scale / (100 + k)."""

    arms = ("everything",)
    labels_per_sample = np.ones(1)
    criterion, source = "excess_log_loss", "asymptotic"

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def error(self, counts: np.ndarray) -> float:
        return self.scale / (HELD + float(counts[0]))

    def standard_error(self, counts: np.ndarray) -> float | None:
        return None


def situation(scales: np.ndarray, origin: Origin = "normal draws") -> Situation:
    held = Held("documents", 1000, 100, 100, 900, 9, ("a", "b"), HELD, None)
    alternatives = tuple(partial(Labels, float(scale)) for scale in scales)
    prices = ArmPrices(("everything",), np.ones(1))
    return Situation(held, Labels(40.0), prices, POOL, doubt=Alternatives(alternatives, origin))


def answers(asked: Situation, *question: Any) -> NearbyAnswers:
    return spread(asked, asked.doubt, *question, checkpoint=NOTHING)


SCALES = np.linspace(30.0, 50.0, 99)
NOTHING = Checkpoint(None, {})


def test_the_middle_ninety_percent_of_the_answers() -> None:
    found = answers(situation(SCALES), "target", 0.1, np.array([300.0]), [np.array([100.0])])
    # A target of 0.1 takes 10 x scale labels in all; of 99 ordered answers the 5th and the 95th.
    labels, error = found.labels_interval(), found.error_interval()
    assert labels is not None
    assert error is not None
    assert (labels.low, labels.high) == pytest.approx((10 * SCALES[4] - 100, 10 * SCALES[94] - 100), abs=0.01)
    assert (error.low, error.high) == pytest.approx((SCALES[4] / 400, SCALES[94] / 400))
    lows, highs = found.bands()
    assert (lows[0], highs[0]) == pytest.approx((SCALES[4] / 200, SCALES[94] / 200))


def test_refits_that_are_biased_are_reflected_at_the_fit() -> None:
    """Refits that err less than the fit say that the fit errs less than the truth, by as much."""
    found = answers(situation(SCALES * 0.9, "bootstrap"), "target", 0.1, np.array([300.0]), [np.array([100.0])])
    error, labels = found.error_interval(), found.labels_interval()
    assert error is not None
    assert labels is not None
    reflected = 40.0**2 / (0.9 * SCALES)
    assert error.high == pytest.approx(reflected[4] / 400)
    assert error.low == pytest.approx(reflected[94] / 400)
    assert labels.high == pytest.approx(10 * reflected[4] - 100, abs=0.01)
    assert found.biased_error() is None


def test_an_interval_holds_the_plans_own_figure_and_a_bias_is_known() -> None:
    for origin in ("normal draws", "bootstrap"):
        biased = situation(np.linspace(24.0, 36.0, 99), origin)
        found = answers(biased, "target", 0.1, np.array([300.0]), [np.array([100.0])])
        error, bias = found.error_interval(), found.biased_error()
        assert error is not None
        assert bias is not None
        assert error.low <= 40 / 400 <= error.high
        assert bias == pytest.approx((0.1, 30 / 400 if origin == "normal draws" else 40**2 / 30 / 400))


def test_where_a_target_cannot_be_met_all_of_the_pool_would_be_labeled() -> None:
    found = answers(situation(SCALES * 10), "target", 0.1, np.array([300.0]), ())
    assert (found.labels == POOL).all()


def test_a_budget_buys_the_same_number_whatever_the_parameters() -> None:
    found = answers(situation(SCALES), "budget", 250.0, np.array([150.0]), ())
    assert set(found.labels.tolist()) == {150.0}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_infinite", [1, 2, 3])
def test_an_end_among_infinite_answers_is_infinite_and_never_not_a_number(n_infinite: int) -> None:
    """Of 39 answers the second and the 38th are the ends; of 29, places between two."""
    for n in (29, 39):
        errors = np.append(np.arange(1.0, n + 1 - n_infinite), np.full(n_infinite, np.inf))
        found = NearbyAnswers(errors, errors, errors[:, None], "bootstrap").error_interval()
        finite = NearbyAnswers(*[np.arange(1.0, n + 1)] * 2, np.arange(1.0, n + 1)[:, None], "bootstrap")
        assert found.low == pytest.approx(0.05 * (n + 1))
        assert finite.error_interval().high == pytest.approx(0.95 * (n + 1))
        is_within = np.ceil(0.95 * (n + 1) - 1e-9) <= n - n_infinite
        assert found.high == pytest.approx(0.95 * (n + 1)) if is_within else found.high == np.inf


def test_few_answers_make_no_interval() -> None:
    found = answers(situation(SCALES[:10]), "target", 0.1, np.array([300.0]), ())
    assert found.labels_interval() is None


def test_the_ends_of_a_forecast_are_asked_the_same_question() -> None:
    plain = situation(np.empty(0))
    band = Band(Labels(30.0), Labels(50.0))
    labels, error = band_intervals(plain, band, "target", 0.1, np.array([300.0]))
    assert labels is not None
    assert error is not None
    assert (labels.low, labels.high) == pytest.approx((200.0, 400.0), abs=0.01)
    assert (error.low, error.high) == pytest.approx((30 / 400, 50 / 400))
