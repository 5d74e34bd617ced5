import numpy as np
import pytest

from labelworth.evaluation.calibration import calibration
from labelworth_studies.answers import crowd_calibration as study
from labelworth_studies.runner import registry


def test_the_study_is_found_by_its_name() -> None:
    assert registry.find("crowd-calibration") is study.STUDY


def test_a_half_is_judged_at_the_weight_that_the_other_half_chose() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=400)
    good = 0.6 * np.eye(3)[truth] + 0.4 / 3
    bad = np.roll(good, 1, axis=1)
    found = study.chosen_by_halves({0.3: good, 1.0: bad}, truth)
    assert found["weights"] == [0.3, 0.3]
    assert found["accuracy"] == 1.0
    assert found["log_loss"] == pytest.approx(-np.log(0.6 + 0.4 / 3))
    # Each half is best served by another weight, and gets the other one's.
    half = np.random.default_rng(0).permutation(400) % 2 == 0
    mixed = {0.3: np.where(half[:, None], good, bad), 1.0: np.where(half[:, None], bad, good)}
    crossed = study.chosen_by_halves(mixed, truth)
    assert crossed["weights"] == [1.0, 0.3]
    assert crossed["accuracy"] == 0.0


def test_gold_posts_are_drawn_without_repetition_and_anew_with_every_draw() -> None:
    first, second = (study.gold_of(draw, 0, 940) for draw in (0, 1))
    assert len(set(first.tolist())) == study.N_GOLD
    assert set(first.tolist()) != set(second.tolist())


def test_every_weight_is_tried_alone_and_with_gold() -> None:
    cells = study.cells(quick=False, seed=0)
    assert len(cells) == len(study.WEIGHTS) * (2 + study.N_DRAWS)
    assert all(not cell["all"] for cell in study.cells(quick=True, seed=0))


def test_the_record_has_what_calibration_says() -> None:
    found = calibration(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 0]))
    told = study.told(found)
    assert told["accuracy"] == 0.5
    assert told["confidence"] == pytest.approx(0.85)
