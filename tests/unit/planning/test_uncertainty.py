"""Intervals are the quantiles of answers at other parameters."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from labelworth.data.kept import Checkpoint
from labelworth.planning.answer import Held
from labelworth.planning.situation import Alternatives, Band, Situation
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


def situation(scales: np.ndarray) -> Situation:
    held = Held("documents", 1000, 100, 100, 900, 9, ("a", "b"), HELD, None)
    alternatives = tuple(partial(Labels, float(scale)) for scale in scales)
    prices = ArmPrices(("everything",), np.ones(1))
    return Situation(held, Labels(40.0), prices, POOL, doubt=Alternatives(alternatives))


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


def test_where_a_target_cannot_be_met_all_of_the_pool_would_be_labeled() -> None:
    found = answers(situation(SCALES * 10), "target", 0.1, np.array([300.0]), ())
    assert (found.labels == POOL).all()


def test_a_budget_buys_the_same_number_whatever_the_parameters() -> None:
    found = answers(situation(SCALES), "budget", 250.0, np.array([150.0]), ())
    assert set(found.labels.tolist()) == {150.0}


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
