"""The study of metrics on small documents made here."""

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from labelworth.simulation.learner import keep_labels, known_codes
from labelworth_studies.corpora.populations import CORPORA, Population
from labelworth_studies.forecasts import metrics
from labelworth_studies.forecasts.parts import forecast_cell
from labelworth_studies.forecasts.parts.forecast_cell import drawn
from support.learners import document_learner, documents

SMALL = replace(CORPORA["newsgroups"], pilots=(20, 40), pools=(200, 330), n_held_out=150)
CELL = {"corpus": "newsgroups", "learner": "naive-bayes", "n_pilot": 40, "seed": 1}


def test_the_grid_has_both_ends_of_every_corpus_and_the_quick_one_begins_it() -> None:
    whole_grid, quick = metrics.cells(False, 5), metrics.cells(True, 5)
    assert quick == whole_grid[: len(quick)]
    assert len(whole_grid) == metrics.N_PILOTS * 2 * len(quick)
    assert {cell["learner"] for cell in quick} == set(metrics.LEARNERS)
    assert {cell["n_pilot"] for cell in quick if cell["corpus"] == "sms"} == {100}
    assert {cell["n_pilot"] for cell in whole_grid if cell["corpus"] == "sms"} == {100, 400}


@pytest.fixture(scope="module")
def whole() -> Iterator[Population]:
    samples = documents(600)
    population = Population(SMALL, samples, np.arange(600), document_learner(samples))
    with pytest.MonkeyPatch.context() as patch:
        for module in (metrics, forecast_cell):
            patch.setattr(module, "population", lambda *_: population)
            patch.setattr(module, "corpus_of", lambda name: SMALL)
        yield population


@pytest.fixture(scope="module")
def result(whole: Population) -> dict:
    return json.loads(json.dumps(metrics.compute(CELL)))


def test_realized_metrics_are_those_of_predictions_counted_by_hand(whole: Population, result: dict) -> None:
    units, held_out = drawn(whole, 40, 1, 1)
    learner = whole.patient_learner.in_mode("labels-only")
    fitted = learner.fit(keep_labels(whole.data.take(units), np.arange(80)))
    tested = whole.data.take(np.sort(held_out))
    codes, said = known_codes(tested), learner.predict(fitted, tested).best
    scores = [
        2 * ((codes == code) & (said == code)).sum() / ((codes == code).sum() + (said == code).sum())
        for code in np.unique(codes)
    ]
    assert result["realized"]["labels-only/2"][1]["macro-F1"] == pytest.approx(1 - np.mean(scores), rel=1e-12)


def test_classes_with_too_few_labels_are_left_out(whole: Population) -> None:
    name = metrics.named_class(whole)
    of_class = np.flatnonzero(known_codes(whole.data) == whole.data.evidence.classes.index(name))
    others = np.setdiff1d(np.arange(600), of_class)
    few = keep_labels(whole.data.take(np.concatenate([of_class[:4], others[:36], others[36:90]])), np.arange(40))
    assert set(metrics.metrics_of(few, name)) == {"macro-F1"}
    enough = keep_labels(whole.data.take(np.concatenate([of_class[:5], others[:36], others[36:90]])), np.arange(41))
    assert set(metrics.metrics_of(enough, name)) == set(metrics.KINDS)


def test_figures_are_told_of_every_metric_and_of_sets_that_took_no_part(result: dict) -> None:
    elsewhere = {**CELL, "corpus": "sms"}
    outcome = metrics.summarize([(CELL, result), (elsewhere, result)])
    assert set(outcome.figures) == set(result["metrics"]) == set(metrics.KINDS)
    for own in outcome.figures.values():
        # Two modes at two factors: 8 x 40 labels are more than the pool has.
        assert own["fitted"]["took no part"]["n_forecasts"] == own["fitted"]["fitted on"]["n_forecasts"]
        assert own["all"]["all sets"]["n_forecasts"] == 2 * own["corpora"]["sms"]["n_forecasts"]
        assert 0 <= own["all"]["all sets"]["coverage"] <= 1
    assert len(outcome.words) == len(metrics.KINDS)
    json.dumps(outcome.figures)
