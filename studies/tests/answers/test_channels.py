import json
from pathlib import Path

import numpy as np
import pytest

from labelworth.models.classes.responsibilities import posterior
from labelworth_studies.answers.channels import MODELS, SETUPS, STUDY, compute, drawn, excess, predicted
from labelworth_studies.runner import registry

RESULTS = Path(__file__).resolve().parents[3] / "results"


def test_the_study_is_found_by_its_name() -> None:
    assert registry.find("channels") is STUDY


def test_what_is_drawn_is_what_the_setup_says() -> None:
    setup = SETUPS["audited"]
    samples = drawn(setup, np.random.default_rng(0))
    assert samples.answers is not None
    assert samples.n_samples == sum(setup.rows.values())
    audited = samples.evidence.is_gold & samples.answers.told(samples.n_samples)
    assert audited.sum() == setup.rows["both"]
    said, truth = samples.answers.evidence.codes, samples.evidence.codes[samples.answers.rows]
    table = np.array([[np.mean(said[truth == true] == meant) for meant in (0, 1)] for true in (0, 1)])
    np.testing.assert_allclose(table, setup.tables["machine"], atol=0.1)
    copies = drawn(SETUPS["control-copies"], np.random.default_rng(0)).answers
    assert copies is not None
    first, second = (copies.evidence.codes[copies.annotators == code] for code in (0, 1))
    np.testing.assert_array_equal(first, second)
    asked = drawn(SETUPS["question"], np.random.default_rng(0)).answers
    assert asked is not None
    assert {tuple(row) for row in asked.evidence.dense().tolist()} == {(1.0, 0.0, 0.0), (0.0, 1.0, 1.0)}


def test_the_excess_is_the_mean_over_documents() -> None:
    truth, rng = MODELS["two"], np.random.default_rng(1)
    other = truth.with_tables({name: 0.9 * table + 0.1 / table.shape[-1] for name, table in truth.tables.items()})
    assert excess(truth, truth) == pytest.approx(0.0, abs=1e-15)
    samples = truth.sample(40_000, rng)
    codes = samples.evidence.codes
    hidden = samples.hide()
    rows = np.arange(len(codes))
    losses = np.log(posterior(truth, hidden)[rows, codes]) - np.log(posterior(other, hidden)[rows, codes])
    assert excess(truth, other) == pytest.approx(losses.mean(), abs=5 * losses.std() / np.sqrt(len(losses)))


def test_not_knowing_a_confusion_costs_and_auditing_wins_some_back() -> None:
    known, unknown, audited = (predicted(SETUPS[name]) for name in ("known", "unknown", "audited"))
    assert known < audited < unknown


def test_a_few_experiments_tell_a_wrong_claim() -> None:
    result = compute({"setup": "control-wrong", "n_runs": 3, "seed": 5})
    assert min(result["realized"]) > 10 * result["predicted"]


def test_the_stored_figures_meet_what_was_promised() -> None:
    figures = json.loads((RESULTS / "channels.json").read_text())["figures"]
    assert set(figures) == set(SETUPS)
    for entry in figures.values():
        assert entry["is_refused"] if entry["is_control"] else entry["agrees"]
