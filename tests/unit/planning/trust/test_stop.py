"""When to stop labeling: not by a forecast that the pilot is too small for."""

from dataclasses import replace

import numpy as np
import pytest

from labelworth.data.kept import Checkpoint
from labelworth.planning.answer import Held, Plan, PlanQuestion
from labelworth.planning.assembly import Background, assemble
from labelworth.planning.simulated.accuracy import ForecastLine, SimulatedAccuracy
from labelworth.planning.situation import Band, Situation
from labelworth.planning.trust.stop import more_pilot
from labelworth.tradeoff.costs import ArmPrices

HELD, POOL = 60, 600
SIZES = np.array([60.0, 120.0, 240.0, 660.0])
FALLING = np.array([0.13, 0.12, 0.11, 0.10])
BACKGROUND = Background(True, "asked for", (), (), {}, "multinomial", 0)


def accuracy(values: np.ndarray) -> SimulatedAccuracy:
    line, own = ForecastLine(SIZES, values), ForecastLine(SIZES, np.full(4, 1e-5))
    return SimulatedAccuracy(
        ("everything",), (line,), np.ones(1), line.at(HELD), np.array([HELD]), "error", "", (own,)
    )


def planned(problem: str, value: float, spread: float, pool: int = POOL) -> Plan:
    held = Held("documents", HELD + pool, HELD, HELD, pool, 9, ("a", "b"), float(HELD), None)
    band = Band(accuracy(FALLING * (1 - spread)), accuracy(FALLING * (1 + spread)))
    prices = ArmPrices(("everything",), np.ones(1))
    situation = Situation(held, accuracy(FALLING), prices, float(pool), keeps_rest=True, doubt=band)
    return assemble(situation, PlanQuestion(problem, value, "error"), BACKGROUND, checkpoint=Checkpoint(None, {}))


@pytest.mark.parametrize(("problem", "value"), [("target", 0.24), ("alpha", 0.01)])
def test_a_forecast_that_is_not_known_is_no_reason_to_stop(problem: str, value: float) -> None:
    found = planned(problem, value, spread=0.5)
    # Known to within a half, twice what is allowed: four times the pilot, 180 more.
    assert (found.advice, found.more_pilot) == ("larger pilot", 180)
    assert found.recommended.labels == 0
    first = found.lines()[0]
    assert first.startswith("By this forecast no more labels are needed: ")
    assert "too small to stop on it: label about 180 more documents drawn at random" in first
    assert not any("Stop labeling" in line for line in found.lines())


def test_a_forecast_that_is_known_is() -> None:
    found = planned("target", 0.24, spread=0.1)
    assert (found.advice, found.more_pilot) == ("stop", None)
    assert found.lines()[0] == "Stop labeling: the target of 0.24 is met by the labels held."


def test_without_money_or_samples_there_is_no_going_on() -> None:
    assert planned("budget", 60.5, spread=0.5).advice == "stop"
    assert planned("target", 0.24, spread=0.5, pool=0).advice == "stop"


def test_more_labels_are_counted_in_samples_of_the_pool() -> None:
    sequences = Held("sequences", 100, 10, 50, 90, 9, ("a", "b"), 50.0, None)
    assert more_pilot(sequences, 151, 90.0) == 21
    assert more_pilot(sequences, 151, 12.0) == 12
    assert more_pilot(replace(sequences, n_labels=10), 51, 90.0) == 41
