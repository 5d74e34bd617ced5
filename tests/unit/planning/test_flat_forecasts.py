"""Forecasts that do not fall: said in words, not smoothed away."""

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from labelworth.cli.options.data import DataOptions
from labelworth.cli.plan import _show, _table
from labelworth.data.kept import Checkpoint
from labelworth.planning.answer import Held, Plan, PlanQuestion
from labelworth.planning.assembly import Background, assemble
from labelworth.planning.grids import grid_solutions
from labelworth.planning.outcome import worth
from labelworth.planning.simulated import ForecastLine, SimulatedAccuracy
from labelworth.planning.situation import Band, Situation
from labelworth.planning.uncertainty import band_intervals
from labelworth.tradeoff.costs import ArmPrices

HELD, POOL = 100, 400
SIZES = np.array([100.0, 200.0, 300.0, 400.0, 500.0])
RISING = np.array([0.30, 0.25, 0.24, 0.26, 0.27])
FALLING = np.array([0.30, 0.25, 0.22, 0.20, 0.19])
ALWAYS_RISING = np.array([0.20, 0.21, 0.22, 0.23, 0.24])


def situation(values: np.ndarray, slope_error: float = 1e-5) -> Situation:
    line, own = ForecastLine(SIZES, values), ForecastLine(SIZES, np.full(5, slope_error))
    starts = np.array([float(HELD)])
    accuracy = SimulatedAccuracy(("everything",), (line,), np.ones(1), line.at(HELD), starts, "error", (own,))
    held = Held("documents", HELD + POOL, HELD, HELD, POOL, 9, ("a", "b"), float(HELD), None)
    return Situation(held, accuracy, ArmPrices(("everything",), np.ones(1)), POOL, keeps_rest=True)


def plan(values: np.ndarray, budget: float, slope_error: float = 1e-5) -> Plan:
    background = Background(True, "asked for", (), (), {}, "multinomial", 0)
    own = situation(values, slope_error)
    return assemble(own, PlanQuestion("budget", budget, "error"), background, checkpoint=Checkpoint(None, {}))


def test_money_that_buys_nothing_is_left_and_told() -> None:
    found = plan(RISING, 450.0)
    line = ForecastLine(SIZES, RISING)
    best = min(range(HELD, 451), key=lambda size: line.at(float(size)))
    assert found.recommended.labels_in_all == pytest.approx(best, abs=1)
    in_all = found.recommended.labels_in_all
    words = (
        f"The forecast does not fall beyond {in_all:.0f} labels in all, so {450 - in_all:.0f} of the budget are left."
    )
    assert found.notes == (words,)
    assert found.worth[0].gain < 0
    assert (
        "the next 10 labels are forecast to buy nothing: the forecast does not fall any further." in found.lines()[3]
    )


def test_a_budget_is_not_spent_on_next_to_nothing() -> None:
    doublings = np.log2(SIZES / HELD)
    for budget in (101.0, 150.0, 450.0, 500.0):
        # As many labels again as are held bring 30 % to 29.98, or to 29.9.
        flat, falling = (plan(0.3 - fall * doublings, budget) for fall in (0.0002, 0.001))
        assert (flat.advice, flat.recommended.labels, flat.certificate) == ("stop", 0, None)
        n_more = "1 more label" if budget == 101 else f"{budget - HELD:.0f} more labels"
        assert flat.lines()[0] == (
            f"Stop labeling: {n_more}, which the budget would pay for, would lower the error by next to nothing."
        )
        assert flat.notes == ()
        assert (falling.advice, falling.recommended.labels) == ("label", budget - HELD)


@pytest.mark.parametrize("slope_error", [1e-5, 1e-4])
def test_how_surely_a_forecast_ends_there_goes_by_its_slope(slope_error: float) -> None:
    """Ends of an interval that bend at the same number of labels say nothing of that number."""
    own = situation(RISING, slope_error)
    band = Band(*(situation(factor * RISING).accuracy for factor in (0.9, 1.1)))
    recommended = np.array([200.0])
    labels, _ = band_intervals(own, band, "budget", 450.0, recommended)
    flat = [k for k in range(1, 351) if abs(worth(own, np.array([float(k)]))[0].gain) <= 1.645 * slope_error]
    assert labels.low == pytest.approx(min(*flat, 200), rel=0.07)
    assert labels.high == pytest.approx(max(*flat, 200), rel=0.07)
    assert labels.high - labels.low > 10
    # Where the budget ends first it fixes the number.
    bought, _ = band_intervals(own, band, "budget", 250.0, np.array([150.0]))
    assert (bought.low, bought.high) == (150.0, 150.0)


def test_labels_that_only_hurt_are_not_bought() -> None:
    found = plan(ALWAYS_RISING, 300.0)
    assert found.advice == "stop"
    assert found.recommended.labels == 0
    assert found.notes == ("The forecast does not fall beyond 100 labels in all, so 200 of the budget are left.",)


def test_nothing_is_said_where_the_forecast_falls() -> None:
    found = plan(FALLING, 450.0)
    assert found.recommended.labels_in_all == 450
    assert found.notes == ()
    assert found.worth[0].is_clear
    assert found.lines()[3].startswith("After that the next 10 labels lower the error from 19.")


def test_a_worth_within_the_forecast_s_own_error_is_none() -> None:
    clear, unclear = (plan(FALLING, 450.0, slope_error).lines()[3] for slope_error in (1e-5, 1e-3))
    assert "cannot tell from nothing" not in clear
    assert unclear.endswith("90 %: at most 1.7 points), which the forecast cannot tell from nothing.")


@pytest.mark.parametrize("slope_error", [1e-5, 1e-3])
def test_the_worth_along_a_forecast_is_its_slope_with_the_error_of_that(slope_error: float) -> None:
    curve = plan(FALLING, 450.0, slope_error).forecast
    assert curve is not None
    slope = (curve.error[5] - curve.error[7]) / (curve.labels[7] - curve.labels[5])
    assert curve.gain[6] == pytest.approx(slope, rel=0.05)
    for gain, low, high in zip(curve.gain, curve.gain_low, curve.gain_high, strict=True):
        assert (gain - low, high - gain) == pytest.approx((1.645 * slope_error,) * 2)


def test_where_the_pool_ends_the_last_samples_stand_for_the_next() -> None:
    line = ForecastLine(SIZES, FALLING)
    step = 0.05 * (HELD + POOL)
    expected = (line.at(HELD + POOL - step) - line.at(HELD + POOL)) / step
    assert worth(situation(FALLING), np.array([float(POOL)]))[0].gain == pytest.approx(expected)
    assert expected > 0


def test_grids_do_not_spend_on_nothing() -> None:
    own = situation(RISING)
    line = ForecastLine(SIZES, RISING)
    for one in grid_solutions(own).budgets:
        within = range(HELD, int(one.value) + 1)
        assert one.error == pytest.approx(min(line.at(float(size)) for size in within), rel=2e-3)
        assert one.cost_in_all <= one.value + 1e-9


@pytest.mark.parametrize("values", [RISING, ALWAYS_RISING, FALLING])
def test_the_table_has_no_row_twice(values: np.ndarray) -> None:
    table = _table(plan(values, 450.0))
    shown = [(f"{cost.value:.6g}", f"{labels:.6g}", error) for cost, labels, error, _ in table.rows]
    assert len(set(shown)) == len(shown)
    assert [row[3] for row in table.rows].count("recommended") == 1
    costs = [row[0].value for row in table.rows]
    assert costs == sorted(costs)
    assert ("The forecast does not fall beyond" in table.note) == (values is not FALLING)


def test_where_a_forecast_ends_is_one_number_wherever_it_is_said() -> None:
    advice = plan(RISING, 450.0)
    (note,) = (note for note in advice.notes if "does not fall beyond" in note)
    said = f"does not fall beyond {advice.recommended.labels_in_all:.0f} labels in all"
    assert said in note
    assert said in str(_table(advice).note)


def test_a_plan_is_shown_with_its_notes() -> None:
    console = Console(width=200, record=True)
    _show(console, plan(RISING, 450.0), DataOptions(Path("data.jsonl")))
    assert "Note: The forecast does not fall beyond" in console.export_text()
