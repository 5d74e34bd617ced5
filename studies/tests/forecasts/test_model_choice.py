"""What the study of chosen models asks and how it counts."""

import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth_studies.forecasts import model_choice
from labelworth_studies.forecasts.model_choice import (
    compute,
    cost_of_doubt,
    left_out_weight,
    named_regret,
    regret,
    shown_rows,
    truth,
    unlabeled_regret,
    verdicts,
)

RESULT = {
    "names": ["with", "without", "other"],
    "uses_unlabeled": [True, False, False],
    "errors": [0.2, 0.21, 0.3],
    "doubts": [0.4, 0.35, 0.45],
    "tested": [0.25, 0.22, 0.21],
    "named": {"with": 0.25, "elsewhere": 0.23},
    "chosen": "without",
    "sides": ["with", "without"],
    "gap": [0.03, 0.01],
    "answer": "cannot be told",
    "is_wary": False,
    "shift": 0.01,
}


def test_regrets_are_against_the_best_and_against_the_other_side() -> None:
    assert regret(RESULT, 0.0) == pytest.approx(0.04)
    assert regret(RESULT) == pytest.approx(0.01)
    assert regret({**RESULT, "is_wary": True}, 0.0) == pytest.approx(0.01)
    assert named_regret(RESULT) == pytest.approx(-0.01)
    assert unlabeled_regret(RESULT) == 0
    assert unlabeled_regret({**RESULT, "chosen": "with"}) == pytest.approx(0.03)
    assert cost_of_doubt({**RESULT, "chosen": "with"}) == pytest.approx(0.03)


def test_verdicts_are_held_against_what_is_told() -> None:
    assert truth(RESULT) == "hurts"
    tie = {**RESULT, "gap": [0.01, 0.01], "answer": "helps"}
    assert truth(tie) == "cannot be told"
    counted = verdicts([RESULT, tie, {**RESULT, "answer": "helps"}, {**RESULT, "answer": "hurts"}])
    assert [counted[name] for name in ("n_told", "right", "open", "wrong", "n_open")] == [3, 1, 1, 1, 1]
    assert counted["cost_of_open"] == 0


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
    shown, truths = shown_rows(rows, np.arange(2))
    assert shown.evidence.classes == ("a", "c")
    assert shown.evidence.codes.tolist() == [1, 0, -1, -1]
    assert truths.tolist() == [1, 0, -1, 1]


def test_a_pilot_of_drawn_documents_is_chosen_on_and_summarized() -> None:
    cell = {"corpus": "drawn-5", "n_pilot": 100, "seed": [0, 0]}
    result = compute(cell)
    assert len(result["tested"]) == len(result["names"]) == 9
    usual = {"EM naive Bayes", "naive Bayes", "logistic regression", "linear SVM"}
    others = {"boosted trees", "random forest", "nearest neighbors", "self-training logistic regression"}
    assert result["named"].keys() == usual | others | {"EM Bernoulli naive Bayes", "Bernoulli naive Bayes"}
    assert all(result["named"][name] == model_choice.tested(result, name) for name in usual)
    outcome = model_choice.summarize([(cell, result)])
    assert outcome.figures["n_pilots"] == 1
    assert outcome.figures["mean_regret"] == regret(result)
