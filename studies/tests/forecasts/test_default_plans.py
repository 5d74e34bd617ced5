"""What the study of plans without a named model asks and how it counts."""

import numpy as np
import pytest

from labelworth.data.samples import Samples
from labelworth_studies.corpora.populations import WORLDS
from labelworth_studies.forecasts import default_plans
from labelworth_studies.forecasts.default_plans import cells, compute, scores_of, summarize

CELL = {"corpus": "drawn-7", "n_pilot": 40, "seed": 3}
RESULT = {
    "chosen": "linear SVM",
    "uses_unlabeled": False,
    "factors": [2, 4],
    "told": [[0.2, 0.1, 0.3], [0.15, 0.1, 0.25]],
    "power_law": [0.3, 0.3],
    "realized": [[0.25, 0.27], [0.3, 0.32]],
}


def test_every_forecast_is_held_against_the_mean_over_extensions() -> None:
    first, second = scores_of([(CELL, RESULT)])
    assert (first.factor, first.realized, first.is_held) == (2, pytest.approx(0.26), True)
    assert (second.factor, second.realized, second.is_held) == (4, pytest.approx(0.31), False)
    every = summarize([(CELL, RESULT)]).figures["all"]["all"]
    assert every["coverage"] == 0.5
    assert every["ratio"] == pytest.approx((0.06 + 0.16) / (0.04 + 0.01))


def test_a_plan_of_a_pilot_is_told_beside_what_its_model_then_errs(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = WORLDS["drawn-7"].draw(800)
    monkeypatch.setattr(default_plans, "corpus_samples", lambda name: whole)
    found = compute(CELL)
    assert found["factors"] == [2, 4, 8]
    for told, realized in zip(found["told"], found["realized"], strict=True):
        error, low, high = told
        assert low <= error <= high
        assert all(0 < value < 0.5 for value in realized)


def test_rows_that_are_tested_teach_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the classes of the tested rows turned round, what was right is wrong."""
    whole = WORLDS["drawn-7"].draw(800)
    order = np.random.default_rng([CELL["seed"], CELL["n_pilot"]]).permutation(800)
    codes = whole.evidence.codes.copy()
    codes[order[:240]] = 1 - codes[order[:240]]

    def turned(name: str) -> Samples:
        return whole.with_evidence(type(whole.evidence)(codes, whole.evidence.classes))

    monkeypatch.setattr(default_plans, "corpus_samples", lambda name: whole)
    plain = compute(CELL)
    monkeypatch.setattr(default_plans, "corpus_samples", turned)
    found = compute(CELL)
    assert found["told"] == plain["told"]
    np.testing.assert_allclose(found["realized"], 1 - np.array(plain["realized"]))


def test_the_quick_grid_has_one_draw_of_both_ends() -> None:
    quick, whole = cells(True, 5), cells(False, 5)
    assert {cell["n_pilot"] for cell in quick} == {100, 400}
    assert len(whole) == 3 * 3 * len({cell["corpus"] for cell in whole})
    assert all(cell in whole for cell in quick)
