"""What the next label is worth."""

from dataclasses import replace

import numpy as np
import pytest

import labelworth as lw
from labelworth.estimators.reading import pool_of
from labelworth.planning.answer import Held
from labelworth.planning.formulas.nearby import formula_situation
from labelworth.planning.menu import read_menu
from labelworth.planning.outcome import next_samples, worth
from labelworth.planning.simulated import ForecastLine, SimulatedAccuracy
from labelworth.planning.situation import Situation
from labelworth.planning.source import ChosenSource
from labelworth.tradeoff.costs import ArmPrices, Prices
from support.pilots import drawn_documents

ROOM = 300.0


def situation(per_unlabeled: float) -> Situation:
    pool = pool_of(drawn_documents(400, 100, seed=0), None, lw.MultinomialNaiveBayes())
    menu = read_menu(None, pool, uses_unlabeled=True)
    chosen = ChosenSource("asymptotic", "total_variance", "")
    prices = Prices(per_unlabeled=per_unlabeled)
    return formula_situation(pool, menu, chosen, prices, ROOM, n_draws=0, seed=0)


@pytest.mark.parametrize("per_unlabeled", [0.0, 0.01])
@pytest.mark.parametrize("unlabeled", [ROOM - 40, 100.0])
def test_the_next_label_does_to_error_and_cost_what_it_is_said_to_be_worth(
    per_unlabeled: float, unlabeled: float
) -> None:
    here = situation(per_unlabeled)
    assert here.accuracy.arms == ("everything", "nothing")
    counts, step = np.array([40.0, unlabeled]), 1e-3
    label = worth(here, counts)[0]
    # Where all of the pool is used, or is free to use, a label goes to a sample that was there without it.
    is_swap = counts.sum() >= ROOM or per_unlabeled == 0
    move = step * np.array([1.0, -1.0 if is_swap else 0.0])
    fall = here.accuracy.error(counts - move) - here.accuracy.error(counts + move)
    assert label.gain == pytest.approx(fall / (2 * step), rel=1e-5)
    rise = here.prices.cost(counts + move) - here.prices.cost(counts)
    assert label.price == pytest.approx(rise / step)
    assert label.gain_per_money == pytest.approx(label.gain / label.price)


@pytest.mark.parametrize(
    ("held", "pool", "expected"),
    [(60, 5000, 10), (400, 5000, 10), (4000, 5000, 100), (4000, 32, 10), (4000, 0, 100)],
)
def test_the_next_samples_are_in_proportion_to_those_held_and_left(held: int, pool: int, expected: int) -> None:
    here = situation(0.0)
    here = replace(here, held=replace(here.held, n_labeled=held, n_pool=pool))
    assert next_samples(here, np.zeros(2)) == expected


def test_what_the_next_samples_gain_is_what_the_curve_falls_by() -> None:
    """Not its slope so many times: that of a steep curve would fall below zero."""
    line = ForecastLine(np.array([10.0, 20.0, 40.0, 1010.0]), np.array([0.365, 0.246, 0.18, 0.1]))
    accuracy = SimulatedAccuracy(("everything",), (line,), np.ones(1), 0.365, np.array([10.0]), "error")
    held = Held("documents", 1010, 10, 10, 1000, None, ("a", "b"), 10.0, 0.365)
    (label,) = worth(
        Situation(held, accuracy, ArmPrices(("everything",), np.ones(1)), 1000.0, keeps_rest=True), np.zeros(1)
    )
    assert label.n_next == 10
    assert label.next_gain == pytest.approx(0.365 - 0.246)
    assert label.n_next * label.gain > label.next_gain
