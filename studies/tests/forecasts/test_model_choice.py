"""What the study of chosen models asks and how it counts."""

import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth_studies.forecasts import model_choice
from labelworth_studies.forecasts.model_choice import _shown, compute, left_out_weight, regret, unlabeled_regret

RESULT = {
    "names": ["with", "without", "other"],
    "uses_unlabeled": [True, False, False],
    "errors": [0.2, 0.21, 0.3],
    "log_losses": [0.8, 0.7, 0.9],
    "tested": [0.25, 0.22, 0.21],
    "chosen": "without",
    "shift": 0.01,
}


def test_regrets_are_against_the_best_and_against_the_other_side() -> None:
    assert regret(RESULT, 0.0) == pytest.approx(0.04)
    assert regret(RESULT, 0.5) == pytest.approx(0.01)
    assert unlabeled_regret(RESULT, 0.0) == pytest.approx(0.03)
    assert unlabeled_regret(RESULT, 0.5) == 0


def test_weights_are_tuned_on_other_corpora() -> None:
    flipped = {**RESULT, "tested": [0.2, 0.3, 0.3]}
    pairs = [({"corpus": "a"}, RESULT), ({"corpus": "b"}, flipped)]
    assert left_out_weight(pairs, "b") > 0
    assert left_out_weight(pairs, "a") == 0


def test_the_grid_has_every_corpus_at_every_size() -> None:
    cells = model_choice.cells(False, 0)
    assert len(cells) == 12 * 3 * model_choice.N_PILOTS
    assert len(model_choice.cells(True, 0)) == 36


def test_classes_without_a_label_are_unknown() -> None:
    rows = Samples(np.arange(8.0).reshape(4, 2), Evidence(np.array([2, 0, 1, 2]), ("a", "b", "c")))
    shown, truths = _shown(rows, 2)
    assert shown.evidence.classes == ("a", "c")
    assert shown.evidence.codes.tolist() == [1, 0, -1, -1]
    assert truths.tolist() == [1, 0, -1, 1]


def test_a_pilot_of_drawn_documents_is_chosen_on_and_summarized() -> None:
    cell = {"corpus": "drawn-5", "n_pilot": 100, "seed": [0, 0]}
    result = compute(cell)
    assert len(result["tested"]) == len(result["names"]) == 11
    outcome = model_choice.summarize([(cell, result)])
    assert outcome.figures["n_pilots"] == 1
    assert outcome.figures["mean_regret"] == regret(result)
