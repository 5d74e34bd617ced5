import json
from typing import Any

import numpy as np
import pytest

from labelworth.estimation.fit import fit
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth_studies.corpora.panel_documents import add_one
from labelworth_studies.paper import fig3_two_stage as study
from labelworth_studies.paper.parts.panel_theory import complete_variance
from labelworth_studies.paper.parts.two_stage_summary import PlugIn, summarize
from support.panel_corpus import small_corpus
from support.wrong_populations import bursty_documents

CORPUS = small_corpus()


def _cell(fractions: list[float], seed: int) -> dict[str, Any]:
    sizes = {"n_words": 12, "n_samples": 150, "pilots": [30, 150], "n_documents": 300}
    return {**sizes, "fractions": fractions, "seed": seed}


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    monkeypatch.setattr(study, "panel_samples", lambda *setting: CORPUS)
    cells = [_cell([0.5, 1.0], 0), _cell([1.0], 1)]
    return [(cell, json.loads(json.dumps(study.compute(cell)))) for cell in cells]


def test_a_pilot_of_everything_says_the_truth(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    for _, result in pairs:
        assert result["pilots"][1]["total_variance"] == pytest.approx(result["truth"]["total_variance"], rel=1e-9)
        assert result["pilots"][0]["total_variance"] != pytest.approx(result["truth"]["total_variance"], rel=1e-3)
        assert result["labels_only"][1]["total_variance"][-1] == pytest.approx(result["truth"]["total_variance"][-1])


def test_the_truth_is_the_formula_at_all_labels() -> None:
    drawn = CORPUS.take(np.arange(120))

    found = study.plug_in(drawn, _cell([1.0], 0) | {"pilots": [40]})

    model = fit(add_one(drawn), drawn).model
    words, classes = model.word_probabilities, model.class_probabilities
    expected = sum(
        float((row * (1 - row)).sum()) / (share * study.RESCALED_LENGTH) + share * (1 - share)
        for row, share in zip(words, classes, strict=True)
    )
    assert found["truth"]["total_variance"] == [pytest.approx(expected, rel=1e-9)]


def test_the_robust_variance_is_that_of_refitted_tables() -> None:
    """The variance of tables refitted to bootstrap draws of the rows, times n; the paper's formula is another one."""
    rows = bursty_documents(np.random.default_rng(1), 150)
    model = fit(MultinomialFamily.for_samples(rows, smoothing=0.0, class_smoothing=0.0), rows).model
    rng = np.random.default_rng(0)
    counts, codes = rows.counts.toarray(), rows.evidence.codes
    tables = []
    for _ in range(4000):
        drawn = rng.integers(rows.n_samples, size=rows.n_samples)
        sums = np.array([counts[drawn][codes[drawn] == label].sum(axis=0) for label in range(len(model.classes))])
        shares = np.bincount(codes[drawn], minlength=len(model.classes)) / len(drawn)
        tables.append(np.concatenate([shares, (sums / sums.sum(axis=1, keepdims=True)).ravel()]))
    expected = rows.n_samples * np.array(tables).var(axis=0).sum()
    found = study.robust_complete_variance(model, rows)
    assert found == pytest.approx(expected, rel=0.05)
    assert abs(complete_variance(model) / expected - 1) > 0.1


def test_it_sums_up(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    outcome = summarize(pairs)

    json.dumps(outcome.figures, allow_nan=False)
    told = [(one["criterion"], one["fraction"], one["n_draws"]) for one in outcome.figures["plug_in"]]
    assert told == [
        ("total_variance", 1.0, 2),
        ("excess_log_loss", 1.0, 1),
        ("robust_variance", 1.0, 2),
        ("total_variance", 0.5, 1),
        ("excess_log_loss", 0.5, 1),
        ("total_variance_labels_only", 1.0, 2),
        ("robust_variance_labels_only", 1.0, 2),
    ]
    assert outcome.grid is not None
    assert len(outcome.grid.rows) == 2 * (2 + 1 + 2 + 1 + 1 + 2 + 2)


def test_a_size_is_trusted_when_it_and_all_larger_ones_are_close() -> None:
    truth = np.full(10, 2.0)
    said = np.full((10, 4), 2.0)
    said[:, 0] = 3.0
    said[:2, 2] = 2.2
    plug_in = PlugIn(500, "total_variance", 1.0, 2000, [100, 200, 300, 400], said, truth)

    assert plug_in.shares_close.tolist() == [0.0, 1.0, 0.8, 1.0]
    assert plug_in.trusted_from == 400
    assert PlugIn(500, "x", 1.0, 2000, [100], said[:, :1], truth).trusted_from is None
