"""What LCDB says of parts that stay, recovered from draws."""

import json

import numpy as np
import pytest
from scipy.special import expit

from labelworth.simulation.open_labels import USUAL_PARTS
from labelworth.simulation.power_law import USUAL_SLOPES
from labelworth_studies.forecasts.learning_curves import STAYS, compute, fitted_parts
from support.page_rows.records import figures

TRUTH = (-1.0, 2.0, -0.4, 3.0)


def drawn(n_sets: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    of_chance, log_classes = rng.random(n_sets), rng.uniform(0.1, 3.0, n_sets)
    mean = expit(TRUTH[0] + TRUTH[1] * of_chance + TRUTH[2] * log_classes)
    parts = rng.beta(TRUTH[3] * mean, TRUTH[3] * (1 - mean))
    return np.column_stack([np.arange(n_sets), of_chance, log_classes, parts])


def test_the_distribution_of_what_stays_is_recovered() -> None:
    rows = drawn(2000, 0)
    found, told = fitted_parts(rows)
    np.testing.assert_allclose(found, TRUTH, atol=0.3)
    # Parts dealt to other sets are told by nothing.
    rows[:, 3] = np.random.default_rng(1).permutation(rows[:, 3])
    blind, by_chance = fitted_parts(rows)
    assert np.abs(blind[1:3]).max() < 0.3
    assert told > by_chance + 0.05


def test_sets_count_the_same_however_many_pilots_they_have() -> None:
    rows = drawn(60, 1)
    more = np.concatenate([rows, rows[:20], rows[:20]])
    np.testing.assert_allclose(fitted_parts(rows)[0], fitted_parts(more)[0], rtol=1e-6)


def test_the_constants_in_use_are_those_of_the_record() -> None:
    found = figures("learning-curves")
    assert tuple(round(value, 2) for value in found["stays"]["fitted"]) == USUAL_PARTS
    for kind, (mean, spread) in USUAL_SLOPES.items():
        assert (mean, spread) == (round(found[kind]["before"], 2), round(found[kind]["before_sd"], 2))


@pytest.mark.corpus("lcdb")
def test_what_stays_is_computed_as_it_was_for_the_record() -> None:
    stays = compute({"kind": STAYS, "learners": []})["stays"]
    assert json.loads(json.dumps(stays)) == stays
    found, _ = fitted_parts(np.array(stays))
    np.testing.assert_allclose(found, figures("learning-curves")["stays"]["fitted"], rtol=1e-3)
