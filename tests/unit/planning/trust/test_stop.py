"""When to stop labeling: not by a forecast that the pilot is too small for."""

import re
from dataclasses import replace

import numpy as np
import pytest

from labelworth.data.kept import Checkpoint
from labelworth.fisher.documents.population import enumerated_information
from labelworth.planning.answer import Check, Held, Odds, Plan, PlanQuestion
from labelworth.planning.assembly import Background, assemble
from labelworth.planning.landscape import ForecastCurve
from labelworth.planning.simulated import ForecastLine, SimulatedAccuracy
from labelworth.planning.situation import Band, Situation
from labelworth.planning.trust.stop import more_pilot, why_stop
from labelworth.report.page import page
from labelworth.report.page_data import page_data
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.costs import ArmPrices
from support.pilots import true_model

HELD, POOL = 60, 600
SIZES = np.array([60.0, 120.0, 240.0, 2060.0])
FALLING = np.array([0.13, 0.12, 0.11, 0.10])
BACKGROUND = Background(True, "asked for", (), (), {}, "multinomial", 0)


def accuracy(values: np.ndarray, criterion: str = "error") -> SimulatedAccuracy:
    line, own = ForecastLine(SIZES, values), ForecastLine(SIZES, np.full(4, 1e-5))
    starts = np.array([HELD])
    return SimulatedAccuracy(("everything",), (line,), np.ones(1), line.at(HELD), starts, criterion, (own,))


def planned(
    problem: str,
    value: float,
    spread: float,
    pool: int = POOL,
    values: np.ndarray = FALLING,
    background: Background = BACKGROUND,
    criterion: str = "error",
) -> Plan:
    held = Held("documents", HELD + pool, HELD, HELD, pool, 9, ("a", "b"), float(HELD), None)
    band = Band(accuracy(values * (1 - spread), criterion), accuracy(values * (1 + spread), criterion))
    prices = ArmPrices(("everything",), np.ones(1))
    situation = Situation(held, accuracy(values, criterion), prices, float(pool), keeps_rest=True, doubt=band)
    sizes = np.unique([HELD, *SIZES[HELD + pool > SIZES], HELD + pool])
    ends = (accuracy(values * (1 + sign * spread)).lines[0] for sign in (0, -1, 1))
    curve = ForecastCurve(tuple(sizes.tolist()), *(tuple(line.at(size) for size in sizes) for line in ends))
    question = PlanQuestion(problem, value, criterion)
    return assemble(situation, question, background, checkpoint=Checkpoint(None, {}), forecast=curve)


@pytest.mark.parametrize(("problem", "value"), [("target", 0.18), ("alpha", 0.01)])
def test_a_forecast_that_is_not_known_is_no_reason_to_stop(problem: str, value: float) -> None:
    found = planned(problem, value, spread=0.5)
    # Known to within a half, twice what is allowed: four times the pilot would do, and as many again come first.
    assert (found.advice, found.more_pilot) == ("larger pilot", HELD)
    assert found.recommended.labels == 0
    assert (
        found.lines()[0] == "Label 60 more documents drawn at random (`labelworth next --count 60`), then plan again."
    )
    assert found.lines()[1].startswith("The forecast says to stop, as the ")
    assert not any("Stop labeling" in line for line in found.lines())
    warned = [line for line in found.lines() if line.startswith("Warning: ")]
    labels = " and the labels to buy are between 0 and 60" if problem == "target" else ""
    assert warned == [
        "Warning: The pilot of 60 labels is too small to stop on it: the error to expect is known to within 6.5 "
        f"points (50 % of itself){labels}; with 60 more documents, the error to within about 4.6 points."
    ]


def test_an_interval_beside_the_target_is_narrow_enough_to_stop_on_however_wide() -> None:
    found = planned("target", 0.24, spread=0.5)
    # From 6.5 to 19.5 %.
    assert (found.advice, found.more_pilot, found.odds) == ("stop", None, None)
    assert found.checks[-1].state == "good"
    assert found.checks[-1].words.endswith("(50 % of itself): enough to tell that the target is met.")


def test_the_odds_that_a_larger_pilot_tells_are_told() -> None:
    near, far = planned("target", 0.135, spread=0.5), planned("target", 0.19, spread=0.5)
    assert (near.advice, far.advice) == ("larger pilot", "larger pilot")
    assert near.odds is not None
    assert far.odds is not None
    # With 120 labels it will be 12 %, 6 to 18 % as seen from here: by hand, d = .478 and 1.864.
    assert near.odds.odds == pytest.approx(0.176, abs=2e-3)
    assert far.odds.odds == pytest.approx(0.839, abs=2e-3)
    assert (far.odds.even or 0) < HELD < (near.odds.even or 0) <= 10 * HELD
    assert near.lines()[1].endswith(
        f" The odds that this tells whether the target is met are about 2 in 10; {near.odds.even} more would make "
        "them even."
    )
    assert far.lines()[1].endswith(f" are about {10 * far.odds.odds:.0f} in 10.")
    even = replace(near, odds=Odds(0.47, 94))
    assert even.lines()[1].endswith(" are about 5 in 10.")
    assert near.to_dict()["odds"] == {"odds": near.odds.odds, "even": near.odds.even}
    assert "odds" not in planned("alpha", 0.01, spread=0.5).to_dict()
    # As many as that are not asked for where the pool has not got them.
    assert planned("target", 0.135, spread=0.5, pool=100).odds.even is None


def test_a_target_that_the_interval_holds_is_open_and_asks_for_one_thing() -> None:
    found = planned("target", 0.09, spread=0.2, pool=2000)
    assert (found.advice, found.more_pilot, found.refusal, found.is_open) == ("larger pilot", HELD, None, True)
    # What was asked for, not the nearest that the forecast reaches.
    assert found.question.value == 0.09
    assert found.lines()[:4] == [
        "Label 60 more documents drawn at random (`labelworth next --count 60`), then plan again: whether the target "
        "of 9 % can be met cannot be told yet.",
        "The forecast reaches it with no number of labels, but the 90 % interval does. The odds that this tells "
        "whether the target can be met are about 3 in 10; 182 more would make them even.",
        "Share of wrong predictions to expect with 2,060 labels in all: 10 % (90 %: 8-12 %).",
        "That costs 60, 120 with what is held.",
    ]
    assert sum("abel " in line and "more documents" in line for line in found.lines()[1:]) == 0
    assert page_data(found)["axes"]["most_bought"] == HELD
    assert "<h1>Plan for a target of 9 %</h1>" in page(found, {})
    assert found.to_dict()["is_open"]


def test_a_target_is_refused_where_even_the_good_end_of_the_interval_misses_it() -> None:
    settled = planned("target", 0.05, spread=0.2)
    assert not settled.is_open
    assert "is_open" not in settled.to_dict()
    assert re.search(r"more labels.*all of it short of the target: a better model", settled.refusal or "")
    # Eight more at most: 12.9 %, and the good end 10.3 %.
    assert planned("target", 0.104, spread=0.2, pool=8).is_open
    assert not planned("target", 0.102, spread=0.2, pool=8).is_open
    none_left = planned("target", 0.12, spread=0.2, pool=0)
    assert (none_left.refusal or "").endswith("and there is nothing left to label that would tell more.")


RECALL = "recall of a at precision 0.9"


@pytest.mark.parametrize(
    ("criterion", "wanted"), [(RECALL, 20), ("macro_f1", 10), ("precision of a at recall 0.8", 10)]
)
def test_a_metric_of_a_class_with_few_examples_is_nothing_to_stop_on_or_to_give_up(
    criterion: str, wanted: int
) -> None:
    few, enough = (replace(BACKGROUND, n_examples=n) for n in (wanted - 1, wanted))
    # From 11.7 to 14.3 points missing: all of it on one side of either target.
    for value, advice, tells in ((0.24, "stop", "to stop on it."), (0.05, "label", "to give it up.")):
        known = planned("target", value, spread=0.1, background=enough, criterion=criterion)
        assert (known.advice, known.is_open) == (advice, False)
        assert (known.refusal is None) == (advice == "stop")
        asks = planned("target", value, spread=0.1, background=few, criterion=criterion)
        assert (asks.advice, asks.refusal) == ("larger pilot", None)
        assert 0 < (asks.more_pilot or 0) <= HELD
        assert asks.question.value == value
        assert f"the pilot has too few examples of one class {tells}" in asks.lines()[1]
        assert not any("Stop labeling" in line for line in asks.lines())
        assert asks.odds is not None
        # Rounds that bring too few examples tell nothing.
        fewer = planned("target", value, 0.1, background=replace(few, n_examples=2), criterion=criterion)
        assert fewer.odds is not None
        assert fewer.odds.odds < 0.2 < 0.8 < asks.odds.odds
    # Nothing is left that would bring more.
    for value in (0.24, 0.05):
        assert planned("target", value, 0.1, pool=0, background=few, criterion=criterion).advice == "stop"
    # Money that buys something is spent, and warned of.
    spent = planned("budget", 300.0, spread=0.1, background=few, criterion=criterion)
    assert spent.advice == "label"
    assert f"{wanted} of the class would be enough" in " ".join(spent.lines())


def test_a_pilot_that_lacks_classes_gets_a_larger_one_and_no_other_advice() -> None:
    lacking = replace(BACKGROUND, checks=(Check("labels per class", "bad", "No label names b."),))
    for problem, value in (("budget", 300.0), ("target", 0.112), ("alpha", 3000.0)):
        found = planned(problem, value, spread=0.05, background=lacking)
        assert (found.advice, found.more_pilot) == ("larger pilot", HELD)
        assert found.lines()[0].startswith("Label 60 more documents drawn at random")
        assert found.lines()[1] == "No label names b."
    # What no money pays for is not asked for.
    assert planned("budget", 60.0, spread=0.05, background=lacking).advice == "stop"


def test_an_error_that_rises_with_more_labels_is_no_gain() -> None:
    found = planned("alpha", 100.0, spread=0.05, values=np.array([0.13, 0.1302, 0.129, 0.12]))
    assert found.advice == "stop"
    words = "no number of further labels lowers the error by as much as they cost, at 100 per unit of error."
    assert found.lines()[0] == f"Stop labeling: {words}"
    assert not any("-0." in line for line in found.lines())


def test_an_error_known_to_a_point_or_two_is_known_well_enough() -> None:
    found = planned("target", 0.24, spread=0.15)
    assert found.advice == "stop"
    assert "known to within 1.9 points (15 % of itself)" in found.checks[-1].words


def test_a_forecast_that_is_known_is() -> None:
    found = planned("target", 0.24, spread=0.1)
    assert (found.advice, found.more_pilot) == ("stop", None)
    assert found.lines()[0] == "Stop labeling: the target of 24 % is met by the labels held."


def test_without_money_or_samples_there_is_no_going_on() -> None:
    assert planned("budget", 60.5, spread=0.5).advice == "stop"
    assert planned("target", 0.24, spread=0.5, pool=0).advice == "stop"


def stuck(held: Held, pool: float, price: float = 1.0) -> Situation:
    return Situation(held, accuracy(FALLING), ArmPrices(("everything",), np.array([price])), pool)


def test_a_larger_pilot_is_as_large_again_counted_in_samples() -> None:
    sequences = Held("sequences", 100, 10, 50, 90, 9, ("a", "b"), 50.0, None)
    assert more_pilot(stuck(sequences, 90.0), "target", 0.1, 151) == 10
    assert more_pilot(stuck(sequences, 90.0), "target", 0.1, 71) == 5
    # One more would not change a thing.
    assert more_pilot(stuck(sequences, 90.0), "target", 0.1, 51) == 3
    assert more_pilot(stuck(sequences, 7.0), "target", 0.1, 151) == 7
    assert more_pilot(stuck(sequences, 90.0), "target", 0.1, 78_400) == 10


def test_a_larger_pilot_is_within_the_budget() -> None:
    held = Held("documents", 500, 60, 60, 440, 9, ("a", "b"), 120.0, None)
    assert more_pilot(stuck(held, 440.0, price=2.0), "budget", 161.0, 1000) == 20
    assert more_pilot(stuck(held, 440.0, price=2.0), "budget", 1610.0, 1000) == 60
    assert more_pilot(stuck(held, 440.0, price=2.0), "budget", 121.0, 1000) is None


def test_a_label_in_place_of_an_unlabeled_sample_costs_and_gains_the_difference() -> None:
    """All of the pool is used already: what a label adds is what the sample without it does not."""
    information = enumerated_information(true_model())
    held = Held("documents", 360, 60, 60, 300, 9, ("a", "b"), 60.0, None)
    own = AsymptoticAccuracy.of(information, "excess_log_loss", held={"everything": 60.0})
    prices = ArmPrices(("everything", "nothing"), np.array([1.0, 0.01]))
    counts = np.array([0.0, 300.0])
    stop = why_stop(Situation(held, own, prices, 300.0), "alpha", 1000.0, counts)
    assert stop is not None
    gain = float(own.slope(counts) @ np.array([-1.0, 1.0]))
    assert f"in place of an unlabeled one lowers the error by {gain:.2g}, worth {1000 * gain:.3g}" in stop.words
    assert stop.words.endswith("less than its price of 0.99.")


@pytest.mark.parametrize(("problem", "value"), [("budget", 300.0), ("target", 0.112)])
def test_labels_that_a_budget_fixes_have_no_interval(problem: str, value: float) -> None:
    found = planned(problem, value, spread=0.3)
    assert found.advice == "label"
    assert found.labels_interval is not None
    assert (found.open_labels is None) == (problem == "budget")
    assert ("(90 %" in found.lines()[0]) == (problem == "target")


def test_no_pilot_too_small_is_trusted_with_more_than_ten_times_its_labels() -> None:
    far, near = planned("budget", 1000.0, spread=0.5, pool=2000), planned("budget", 650.0, spread=0.5, pool=2000)
    known = planned("budget", 1000.0, spread=0.1, pool=2000)
    assert near.advice == "label"
    # However surely the error is known, no forecast is followed farther than that.
    assert (known.advice, known.more_pilot) == ("larger pilot", 10 * HELD)
    assert known.lines()[1] == (
        "The forecast says to go on to 1,000 labels in all. But none is followed beyond ten times the labels held."
    )
    assert (far.advice, far.more_pilot, far.recommended.labels) == ("larger pilot", HELD, 940.0)
    first, why, expected, paid = far.lines()[:4]
    assert first == "Label 60 more documents drawn at random (`labelworth next --count 60`), then plan again."
    assert why == (
        "The forecast says to go on to 1,000 labels in all. "
        "But the pilot of 60 labels is too small to go that far on it."
    )
    assert "to expect with 1,000 labels in all: " in expected
    assert paid == "That costs 60, 120 with what is held; the 1,000 labels of the forecast would cost 1,000 in all."
    assert "plan again" not in far.checks[-1].words
