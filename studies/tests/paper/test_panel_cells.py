import json
from typing import Any

import numpy as np
import pytest

from labelworth.data.folds import labeled_folds
from labelworth.data.samples import Samples
from labelworth.estimation.fit import fit
from labelworth.report.values import Outcome
from labelworth_studies.corpora.panel_documents import add_one
from labelworth_studies.paper import fig1_error, fig1_mse, fig1_theory
from labelworth_studies.paper.parts import panel_cells
from labelworth_studies.paper.parts.panel_cells import Design, Setting, cells_of
from labelworth_studies.paper.parts.panel_experiment import anchored_order, experiment, with_drawn_labels
from labelworth_studies.paper.parts.panel_surfaces import Surfaces, collected
from labelworth_studies.paper.parts.panel_theory import complete_variance, formula_figures, whole_model
from labelworth_studies.runner.study import Cell, Result
from support.panel_corpus import small_corpus

DESIGN = Design(Setting("rcv1", 12, None), [40, 120], [0.1, 0.4, 1.0], [0, 1], [300, 600])
PARTS = ("experiment", "robust", "formula", "simulation")


@pytest.fixture(scope="module")
def samples() -> Samples:
    return small_corpus()


@pytest.fixture(scope="module")
def pairs(samples: Samples) -> list[tuple[Cell, Result]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panel_cells, "panel_samples", lambda *setting: samples)
        cells = cells_of([DESIGN], PARTS, 0)
        return [(cell, json.loads(json.dumps(panel_cells.compute(cell)))) for cell in cells]


@pytest.fixture(scope="module")
def surfaces(pairs: list[tuple[Cell, Result]]) -> Surfaces:
    (found,) = collected(pairs)
    return found


def test_all_documents_labeled_are_a_supervised_fit(samples: Samples) -> None:
    found = experiment(samples, [1.0], 60, n_folds=5, fold=1, seed=0)

    part = labeled_folds(samples.evidence, 5, np.random.default_rng(0))[1]
    order = anchored_order(samples.evidence, part, np.random.default_rng([0, 1]))
    chosen, tested = samples.take(order[:60]), samples.take(part.test)
    counts = np.zeros((3, 12))
    np.add.at(counts, chosen.evidence.codes, chosen.counts.toarray())
    words = (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)
    classes = (chosen.evidence.label_counts() + 1) / 63
    scores = tested.counts.toarray() @ np.log(words).T + np.log(classes)
    truth = fit(add_one(samples), samples).model
    squared = np.square(words - truth.word_probabilities).sum()
    squared += np.square(classes - truth.class_probabilities).sum()
    assert found["error"] == [pytest.approx(np.mean(scores.argmax(axis=1) != tested.evidence.codes))]
    assert found["mse"] == [pytest.approx(squared, rel=1e-9)]
    assert found["error"] == found["error_labels_only"]


def test_larger_sets_contain_smaller_ones_and_every_class_comes_first(samples: Samples) -> None:
    part = labeled_folds(samples.evidence, 5, np.random.default_rng(0))[0]
    order = anchored_order(samples.evidence, part, np.random.default_rng(3))

    assert sorted(order.tolist()) == part.train.tolist()
    assert sorted(samples.evidence.codes[order[:3]].tolist()) == [0, 1, 2]


def test_drawn_labels_are_those_the_model_expects(samples: Samples) -> None:
    drawn = with_drawn_labels(samples, seed=0)

    assert drawn.evidence.is_gold.all()
    agreeing = np.mean(drawn.evidence.codes == samples.evidence.codes)
    assert 0.5 < agreeing < 1.0
    assert with_drawn_labels(samples, seed=1).evidence.codes.tolist() != drawn.evidence.codes.tolist()


def test_full_labels_have_the_closed_form(samples: Samples) -> None:
    model = whole_model(samples, 5.0)

    found = formula_figures(model, np.array([0.3, 1.0]), 400, np.random.default_rng(0))

    information = model.complete_information()
    coordinates = model.coordinates
    squares = coordinates.pull(coordinates.push(np.linalg.inv(information)))
    assert complete_variance(model) == pytest.approx(np.trace(squares), rel=1e-9)
    assert found.total_variance.values[1] == pytest.approx(complete_variance(model), rel=1e-9)
    assert found.total_variance.values[0] > found.total_variance.values[1]
    assert found.excess_log_loss.values[0] > found.excess_log_loss.values[1] > 0


def test_surfaces_are_means_over_folds(surfaces: Surfaces, pairs: list[tuple[Cell, Result]]) -> None:
    folds = [result["error"] for cell, result in pairs if cell["part"] == "experiment" and cell["n_samples"] == 120]

    np.testing.assert_allclose(surfaces.values["error"][:, 1], np.mean(folds, axis=0))
    half_gap = np.abs(np.diff(folds, axis=0))[0] / 2
    np.testing.assert_allclose(surfaces.standard_errors["error"][:, 1], half_gap, atol=1e-15)
    ratio = surfaces.values["paper_total_variance"][:, 0] / surfaces.values["paper_total_variance"][:, 1]
    np.testing.assert_allclose(ratio, 3.0)
    assert surfaces.formula_change is not None


def _made_up(values: dict[str, Any]) -> Surfaces:
    arrays = {name: np.array(value, dtype=np.float64) for name, value in values.items()}
    return Surfaces(DESIGN.setting, [10, 20, 30], [0.5, 1.0], arrays, {}, None)


def test_ranks_and_steps_are_what_they_are_called() -> None:
    made_up = _made_up(
        {"error": [[6, 5, 3], [4, 2, 1]], "mse": [[36, 25, 9], [16, 4, 1]], "log_loss": [[1, 2, 1], [2, 1, 1]]}
    )

    assert made_up.rank_correlation("error", "mse") == pytest.approx(1.0)
    assert made_up.falling_steps("error") == (1.0, 1.0)
    assert made_up.falling_steps("log_loss") == (0.5, pytest.approx(1 / 3))
    assert made_up.worth_of_labels("mse") == pytest.approx((36 / 16 * 25 / 4 * 9) ** (1 / 3))


@pytest.mark.parametrize("study", [fig1_error, fig1_mse, fig1_theory])
def test_every_panel_sums_up_in_figures_words_pictures_and_a_grid(
    study: Any, pairs: list[tuple[Cell, Result]]
) -> None:
    outcome: Outcome = study.STUDY.summarize(pairs)

    json.dumps(outcome.figures, allow_nan=False)
    assert outcome.grid is not None
    assert len(outcome.grid.rows) == 6
    assert all(name in outcome.grid.columns for name in study.NAMES)
    assert outcome.words
    assert "" in outcome.pictures


def test_theory_gives_the_correlations_with_error(pairs: list[tuple[Cell, Result]], surfaces: Surfaces) -> None:
    (setting,) = fig1_theory.STUDY.summarize(pairs).figures["settings"]

    told = setting["rank_correlations"]["error"]["paper_total_variance"]
    assert told == pytest.approx(surfaces.rank_correlation("error", "paper_total_variance"))
    assert set(setting["rank_correlations"]["error"]) == {"mse", *fig1_theory.STAND_INS}


def test_panels_of_one_figure_share_their_cells() -> None:
    studies = [fig1_error.STUDY, fig1_mse.STUDY, fig1_theory.STUDY]
    shown = [[json.dumps(cell) for cell in study.cells(False, 0)] for study in studies]

    assert len({study.cells_name for study in studies}) == 1
    assert shown[0] == shown[1]
    assert set(shown[0]) < set(shown[2])
    assert len(studies[2].cells(True, 0)) < len(shown[2])
