import json

import numpy as np
import pytest

from labelworth_studies.paper import fig2_unachievable as study
from labelworth_studies.paper.parts import panel_cells
from labelworth_studies.paper.parts.panel_cells import Design, Setting, cells_of
from labelworth_studies.paper.parts.panel_surfaces import Surfaces
from support.panel_corpus import small_corpus

SETTING = Setting("newsgroups", 12, None)


def _dominated(costs: np.ndarray, errors: np.ndarray) -> list[bool]:
    """By looking at all pairs; of equal points the first counts."""
    answer = []
    for place, (cost, error) in enumerate(zip(costs, errors, strict=True)):
        answer.append(
            any(
                (other_cost <= cost and other_error <= error)
                and ((other_cost, other_error) != (cost, error) or other < place)
                for other, (other_cost, other_error) in enumerate(zip(costs, errors, strict=True))
                if other != place
            )
        )
    return answer


def test_the_boundary_holds_all_points_that_no_other_one_beats() -> None:
    errors = np.random.default_rng(0).random((3, 4)).round(1)
    surfaces = Surfaces(SETTING, [100, 200, 400, 800], [0.25, 0.5, 1.0], {"mse": errors}, {}, None)

    cloud = study.cloud_of(surfaces, "mse")

    assert cloud.costs[:4].tolist() == [25, 50, 100, 200]
    assert cloud.is_dominated.tolist() == _dominated(cloud.costs, cloud.errors)
    assert (np.diff(cloud.costs[cloud.boundary]) > 0).all()
    assert (np.diff(cloud.errors[cloud.boundary]) < 0).all()


def test_the_study_tells_which_designs_are_dominated(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = small_corpus()
    monkeypatch.setattr(panel_cells, "panel_samples", lambda *setting: corpus)
    design = Design(SETTING, [40, 120], [0.1, 1.0], [0], [300])
    cells = cells_of([design], ("experiment", "robust", "formula"), 0)

    outcome = study.summarize([(cell, panel_cells.compute(cell)) for cell in cells])

    json.dumps(outcome.figures, allow_nan=False)
    frontier = outcome.figures["frontiers"]["paper_total_variance"]
    assert frontier["n_points"] == 4
    assert len(frontier["boundary"]) + frontier["n_dominated"] == 4
    assert outcome.grid is not None
    assert len(outcome.grid.rows) == 4
    assert set(outcome.pictures) == {"", "formulas"}
    assert outcome.figures["agreement"]["mse"] == 1.0
