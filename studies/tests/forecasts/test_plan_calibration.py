"""The study of plans: what its truth is, what a cell answers, what is counted."""

import numpy as np
import pytest

from labelworth_studies.forecasts import plan_calibration as study
from labelworth_studies.forecasts.parts.plan_calibration_summary import N_OPTIMAL, summarize

NAME = next(iter(study.TRUTHS))


def test_the_study_looks_at_seeds_0_to_399_and_the_quick_one_at_others() -> None:
    whole, quick = study.cells(False, 0), study.cells(True, 0)
    assert [cell["seed"] for cell in whole] == list(range(400))
    assert not {cell["seed"] for cell in whole} & {cell["seed"] for cell in quick}


def test_the_target_takes_800_labels_in_truth() -> None:
    accuracy, target = study.true_accuracy(NAME), study.target(NAME)
    assert N_OPTIMAL == study.N_OPTIMAL
    assert study.realized(accuracy, 799.0) > target > study.realized(accuracy, 801.0)
    assert target == study.realized(accuracy, 800.0)


def test_a_cell_plans_and_is_judged_at_the_truth() -> None:
    answer = study.compute({"truth": NAME, "seed": 1000, "n_draws": 25})
    assert answer["low"] < answer["labels"] < answer["high"]
    assert answer["realized"] == study.realized(study.true_accuracy(NAME), answer["labels"])
    assert answer["realized"] == pytest.approx(answer["target"], rel=0.2)


def test_shares_are_counted_as_they_are() -> None:
    def result(labels: float, low: float, high: float, ratio: float) -> dict[str, object]:
        return {
            "labels": labels,
            "low": low,
            "high": high,
            "error_low": 0.9,
            "error_high": 1.05,
            "origin": "normal draws",
            "uses_unlabeled": True,
            "realized": ratio,
            "target": 1.0,
        }

    results = [
        result(800.0, 700.0, 900.0, 1.0),
        result(600.0, 500.0, 700.0, 1.2),
        result(1000.0, 900.0, 1100.0, 0.95),
        result(820.0, 800.0, 900.0, 1.1),
    ]
    cells = [{"truth": NAME, "seed": seed} for seed in range(4)]
    figures = summarize(list(zip(cells, results, strict=True))).figures["truths"][0]
    assert figures["met"] == 0.75
    assert figures["covered"] == 0.5
    assert (figures["interval_below"], figures["interval_above"]) == (0.25, 0.25)
    assert figures["error_covered"] == 0.5
    assert figures["labels_mean"] == np.mean([800.0, 600.0, 1000.0, 820.0])
