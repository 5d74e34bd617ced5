import json
from typing import Any

import numpy as np
import pytest

from labelworth.data.counts import document_lengths
from labelworth.errors import InvalidInputError
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth_studies.corpora import two_class_cuts
from labelworth_studies.corpora.two_class_cuts import CUTS
from labelworth_studies.naive_bayes import misspecification
from labelworth_studies.naive_bayes.misspecification import FRACTIONS, SIZES, STUDY, cells, compute
from labelworth_studies.naive_bayes.parts.misspecification_summary import summarize
from labelworth_studies.robust.risk import full_label_model
from labelworth_studies.runner import registry
from labelworth_studies.runner.study import Cell, Result, canonical
from support.wrong_populations import bursty_documents


def made_up(realized: float, refused: int = 20) -> list[tuple[Cell, Result]]:
    """The whole grid: the robust formula says 1, the paper's 0.5, and `refused` of 20 tests refuse the model."""
    pairs: list[tuple[Cell, Result]] = []
    for cell in cells(quick=False, seed=0):
        result: dict[str, Any]
        if cell["part"] == "formulas":
            n_fractions = len(cell["fractions"])
            result = {"paper": [0.5] * n_fractions}
            result |= {f"{name}_bias": [0.2] * n_fractions for name in ("robust", "endless")}
            result |= {f"{name}_variance": [0.8] * n_fractions for name in ("robust", "endless")}
        elif "draws" in cell["part"]:
            result = {"mse": realized, "mse_se": 0.01, "bias": 0.2, "variance": 0.8}
        else:
            n_refused = refused if cell["part"] == "tests" else 1
            result = {"p_values": [0.025] * n_refused + [0.5] * (20 - n_refused)}
        pairs.append((cell, result))
    return pairs


def test_the_study_answers_to_its_name() -> None:
    assert registry.find("misspecification") is STUDY


def test_the_grid_has_every_cut_size_and_fraction_once() -> None:
    grid = STUDY.cells(False, 0)
    assert len({canonical(cell) for cell in grid}) == len(grid)
    draws = [cell for cell in grid if cell["part"] == "draws"]
    assert len(draws) == len(CUTS) * len(SIZES) * len(FRACTIONS)
    assert {cell["n_draws"] for cell in draws} == {200}
    assert len([cell for cell in grid if cell["part"] == "tests"]) == len(CUTS) * len(SIZES) * (len(FRACTIONS) - 1)


def test_the_long_cells_come_first() -> None:
    grid = STUDY.cells(False, 0)
    assert {cell["part"] for cell in grid[: len(CUTS) * len(SIZES)]} == {"formulas"}


def test_the_summary_says_how_far_either_formula_is_off() -> None:
    outcome = summarize(made_up(1.3, refused=18))
    figures = outcome.figures
    assert figures["worst_factor_robust"] == pytest.approx(1.3)
    assert figures["worst_factor_paper"] == pytest.approx(2.6)
    assert figures["n_rows_paper_off"] == len(figures["rows"]) == 56
    assert figures["least_share_refused_where_paper_off"] == 0.0  # nothing is tested where everything is labeled
    assert figures["share_refused_when_right"] == pytest.approx(0.05)
    assert figures["n_rows_robust_off"] == 0
    assert "within a factor 1.30" in outcome.words[0]
    assert len(outcome.tables[0].rows) == 56
    assert len(outcome.pictures[""].panels) == 8
    json.dumps(dict(figures))


def test_where_the_paper_is_right_nothing_is_said_of_refusals() -> None:
    outcome = summarize(made_up(0.6))
    assert outcome.figures["n_rows_paper_off"] == 0
    assert outcome.figures["least_share_refused_where_paper_off"] is None
    assert len(outcome.words) == 3


def test_too_low_a_prediction_is_as_far_off_as_too_high_a_one() -> None:
    low, high = (summarize(made_up(realized)).figures["worst_factor_robust"] for realized in (0.5, 2.0))
    assert low == pytest.approx(high)


@pytest.mark.parametrize("part", ["draws", "tests", "tests of a right model", "formulas"])
def test_a_cell_is_a_pure_function_of_what_it_is_asked(part: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = bursty_documents(np.random.default_rng(seed), 80, length=two_class_cuts.DOCUMENT_LENGTH)
    monkeypatch.setattr(misspecification, "population", lambda cut: rows)
    cell = {
        "part": part,
        "cut": "made-up",
        "n_samples": 60,
        "fraction": 0.4,
        "n_draws": 3,
        "n_bootstrap": 4,
        "seed": 1,
    }
    if part == "formulas":
        cell = {"part": part, "cut": "made-up", "n_samples": 60, "fractions": [1.0, 0.5]}
    first, second = compute(cell), compute(cell)
    assert canonical(first) == canonical(second)


def test_draws_are_measured_against_the_shares_of_the_whole_cut(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = bursty_documents(np.random.default_rng(seed), 80)
    monkeypatch.setattr(misspecification, "population", lambda cut: rows)
    cell = {"part": "draws", "cut": "made-up", "n_samples": 40, "fraction": 1.0, "n_draws": 30, "seed": 1}
    result = compute(cell)
    assert result["mse"] == pytest.approx(result["bias"] + result["variance"], rel=1e-9)
    model = full_label_model(MultinomialFamily.for_samples(rows), rows)
    counts = rows.counts.toarray()[rows.evidence.codes == 0].sum(axis=0)
    np.testing.assert_allclose(model.word_probabilities[0], counts / counts.sum(), atol=1e-8)


def test_an_unknown_cut_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="hockey-crypt"):
        two_class_cuts.population("sports")


@pytest.mark.corpus("reuters21578_r52")
def test_the_reuters_cut_has_two_classes_300_words_and_20_tokens() -> None:
    rows = two_class_cuts.population("earn-acq")
    assert rows.features.shape[1] == 300
    assert rows.evidence.classes == ("earn", "acq")
    assert rows.evidence.is_gold.all()
    assert rows.evidence.label_counts().sum() == rows.n_samples > 6000
    np.testing.assert_allclose(document_lengths(rows.counts), 20.0, rtol=1e-12)
