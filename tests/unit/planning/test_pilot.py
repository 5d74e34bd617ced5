"""Pilots are drawn at random and recorded."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.planning.pilot import Pilot, draw_pilot
from support.statistical import assert_share_is


def test_a_pilot_is_distinct_sorted_rows_of_the_pool() -> None:
    pilot = draw_pilot(50, 20, seed=3)
    assert len(set(pilot.rows.tolist())) == 20
    assert (np.diff(pilot.rows) > 0).all()
    assert pilot.rows.min() >= 0
    assert pilot.rows.max() < 50


def test_the_record_names_the_rows_and_the_same_seed_draws_them_again() -> None:
    record = draw_pilot(50, 20, seed=3).to_dict()
    again = draw_pilot(50, 20, seed=3)
    assert record["rows"] == again.rows.tolist()
    assert record["digest"] == again.digest
    assert record["seed"] == 3
    assert draw_pilot(50, 20, seed=4).digest != again.digest


@pytest.mark.statistical
def test_every_row_is_as_probable_as_any_other() -> None:
    n_draws = 2000
    hits = np.zeros(10)
    for seed in range(n_draws):
        hits[draw_pilot(10, 3, seed).rows] += 1
    for hit in hits:
        assert_share_is(int(hit), n_draws, 0.3, false_alarm_rate=1e-7)
    with pytest.raises(AssertionError):
        assert_share_is(int(hits[0]), n_draws, 0.4, false_alarm_rate=1e-7)


def test_labels_that_were_there_already_have_no_seed() -> None:
    record = Pilot.held(np.array([1, 5]), 9).to_dict()
    assert record["seed"] is None
    assert record["rows"] is None
    assert record["size"] == 2


@pytest.mark.parametrize("size", [0, 51])
def test_a_pilot_must_fit_the_pool(size: int) -> None:
    with pytest.raises(InvalidInputError, match="no more than the pool"):
        draw_pilot(50, size, seed=0)
