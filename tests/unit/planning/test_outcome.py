"""What the next label is worth."""

import numpy as np
import pytest

import labelworth as lw
from labelworth.estimators.reading import pool_of
from labelworth.planning.formulas.nearby import formula_situation
from labelworth.planning.menu import read_menu
from labelworth.planning.outcome import worth
from labelworth.planning.situation import Situation
from labelworth.planning.source import ChosenSource
from labelworth.tradeoff.costs import Prices
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
