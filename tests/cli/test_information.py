import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from labelworth.cli.application import guarded
from labelworth.cli.information import information
from labelworth.report.record import validate
from support.oracles import enumerated_sequences, oracle_figures

APP = typer.Typer()
APP.command()(guarded(information))

SPEC: dict[str, Any] = {
    "model": "multinomial-naive-bayes",
    "parameters": {
        "class_probabilities": [0.3, 0.7],
        "word_probabilities": [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]],
    },
    "document_length": 5,
    "labeled_fractions": [1, 0.5, 0.1, 0.01],
    "n_samples": 2000,
    "method": "auto",
    "seed": 0,
}
FIGURES = (
    "total_variance",
    "worst_direction",
    "excess_log_loss",
    "excess_joint_log_loss",
    "excess_marginal_log_loss",
    "log_volume",
)


def run(folder: Path, *options: str, **changes: Any):
    """Write the specification with changes (None removes a key) and run the command on it."""
    spec = {name: value for name, value in {**SPEC, **changes}.items() if value is not None}
    path = folder / "spec.json"
    path.write_text(json.dumps(spec), encoding="utf-8")
    return CliRunner().invoke(APP, [str(path), *options])


def answer(folder: Path, *options: str, **changes: Any) -> dict[str, Any]:
    result = run(folder, "--json", *options, **changes)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    validate(document)
    return document


@pytest.mark.parametrize("method", ["auto", "enumeration", "formula"])
@pytest.mark.parametrize(
    ("how_long", "lengths"),
    [
        ({"document_length": 5}, {5: 1.0}),
        ({"document_length": None, "lengths": {"3": 0.4, "6": 0.6}}, {3: 0.4, 6: 0.6}),
    ],
)
def test_every_figure_is_that_of_brute_force(tmp_path, method, how_long, lengths) -> None:
    document = answer(tmp_path, method=method, **how_long)
    tables = SPEC["parameters"]
    oracle = enumerated_sequences(tables["class_probabilities"], tables["word_probabilities"], lengths)
    assert len(document["points"]) == 4
    for point, fraction in zip(document["points"], SPEC["labeled_fractions"], strict=True):
        expected = oracle_figures(oracle, [2, 3, 3], 2000, fraction)
        assert point["labeled_fraction"] == point["expected_labels_per_sample"] == fraction
        assert point["identifiable"] is True
        for name in FIGURES:
            assert point[name] == pytest.approx(expected[name], rel=1e-8), name
            assert f"{name}_se" not in point


@pytest.mark.statistical
def test_sampled_figures_stand_beside_standard_errors_that_cover_them(tmp_path) -> None:
    """Five standard errors, from 64 batches: 5e-6 per figure; fixed seed."""
    sampled, exact = answer(tmp_path, method="sampling"), answer(tmp_path)
    for point, truth in zip(sampled["points"], exact["points"], strict=True):
        for name in FIGURES:
            assert abs(point[name] - truth[name]) <= 5 * point[f"{name}_se"], name
            assert point[f"{name}_se"] <= 0.01 * abs(point[name]), name


def test_the_record_says_what_was_asked_and_how_it_was_done(tmp_path) -> None:
    document = answer(tmp_path)
    assert document["schema_version"] == "1.0"
    assert document["asked"]["parameters"] == SPEC["parameters"]
    assert document["seed"] == 0
    assert document["method"] == "enumeration"
    assert document["versions"]["labelworth"]
    assert document["durations"]["total"] > 0


def test_the_seed_of_the_command_overrules_that_of_the_specification(tmp_path) -> None:
    first, second, third = (
        answer(tmp_path, "--seed", seed, method="sampling", seed=own) for seed, own in (("5", 0), ("5", 1), ("6", 0))
    )
    assert first["seed"] == 5
    assert first["points"] == second["points"]
    assert first["points"] != third["points"]


def test_matrices_come_with_the_names_of_their_parameters(tmp_path) -> None:
    document = answer(tmp_path, "--matrices", classes=["ham", "spam"], words=["a", "b", "c"])
    matrices = document["matrices"]
    assert matrices["parameters"][:2] == ["class_probabilities[ham]", "word_probabilities[ham, a]"]
    tables = SPEC["parameters"]
    oracle = enumerated_sequences(tables["class_probabilities"], tables["word_probabilities"], {5: 1.0})
    np.testing.assert_allclose(matrices["complete"], oracle.complete_information, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(matrices["marginal"], oracle.marginal_information, rtol=1e-9, atol=1e-9)
    for point in document["points"]:
        expected = oracle.information(point["labeled_fraction"])
        np.testing.assert_allclose(point["information"], expected, rtol=1e-9, atol=1e-9)


TWO_WORDS = {
    "parameters": {"class_probabilities": [0.4, 0.6], "word_probabilities": [[0.5, 0.5], [0.2, 0.8]]},
    "document_length": 1,
}


def test_an_unidentified_point_has_nulls_and_names_what_is_open(tmp_path) -> None:
    document = answer(tmp_path, labeled_fractions=[0.5, 0], **TWO_WORDS)
    pinned, left_open = document["points"]
    assert pinned["identifiable"] is True
    assert pinned["total_variance"] > 0
    assert left_open["identifiable"] is False
    assert all(left_open[name] is None for name in FIGURES)
    assert left_open["weak_directions"][0]["relative_information"] == 0
    assert "probabilities[" in left_open["weak_directions"][0]["parameters"][0]


@pytest.mark.parametrize("method", ["enumeration", "formula", "sampling"])
def test_only_if_no_point_is_identified_it_ends_with_one(tmp_path, method) -> None:
    result = run(tmp_path, "--json", labeled_fractions=[0], method=method, **TWO_WORDS)
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    validate(document)
    assert document["points"][0]["identifiable"] is False


def parameters(priors: list[float], words: list[list[float]]) -> dict[str, Any]:
    return {"parameters": {"class_probabilities": priors, "word_probabilities": words}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (parameters([0.3, 0.7], [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]]), "positive"),
        (parameters([0.0, 1.0], SPEC["parameters"]["word_probabilities"]), "positive"),
        (parameters([0.3, 0.6], SPEC["parameters"]["word_probabilities"]), "sum to 1"),
        (parameters([0.3, 0.7], [[0.5, 0.4, 0.2], [0.2, 0.2, 0.6]]), "sum to 1"),
        (parameters([0.3, 0.7], [[0.5, 0.5], [0.2, 0.2, 0.6]]), "word_probabilities"),
        (parameters([0.2, 0.3, 0.5], SPEC["parameters"]["word_probabilities"]), "a row for each of the 3 classes"),
        ({"method": "formula", **parameters([0.2, 0.3, 0.5], [[0.5, 0.5]] * 3)}, "two classes"),
        ({"method": "guess"}, "guess"),
        ({"model": "hidden-markov"}, "hidden-markov"),
        ({"labeled_fractions": [1.5]}, "labeled_fractions"),
        ({"labeled_fractions": []}, "labeled_fractions"),
        ({"n_samples": 0}, "n_samples"),
        ({"n_samples": None}, "n_samples"),
        ({"document_length": None}, "how long"),
        ({"lengths": {"5": 1.0}}, "how long"),
        ({"document_length": 0}, "document_length"),
        ({"document_length": None, "lengths": {"five": 1.0}}, "lengths"),
        ({"document_length": None, "lengths": {"5": 0.5}}, "sum to 1"),
        ({"colour": "red"}, "colour"),
        ({"classes": ["ham"]}, "lass"),
        ({"words": ["a", "b"]}, "name"),
    ],
)
def test_bad_input_ends_with_two_and_says_what_is_wrong(tmp_path, changes, words) -> None:
    result = run(tmp_path, "--json", **changes)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert words in result.stderr


@pytest.mark.parametrize("text", ["", "{not json", "[]", "3", '{"model": 1}', "[" * 100_000, "1" * 5000])
def test_what_is_no_specification_ends_with_two(tmp_path, text) -> None:
    path = tmp_path / "spec.json"
    path.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(APP, [str(path), "--json"])
    assert result.exit_code == 2
    assert "Error: " in result.stderr


def test_a_missing_or_binary_file_ends_with_two(tmp_path) -> None:
    assert CliRunner().invoke(APP, [str(tmp_path / "nowhere.json")]).exit_code == 2
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    assert CliRunner().invoke(APP, [str(tmp_path / "binary.json")]).exit_code == 2


def test_numbers_that_are_none_are_refused(tmp_path) -> None:
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({**SPEC, "n_samples": float("nan")}), encoding="utf-8")
    assert CliRunner().invoke(APP, [str(path), "--json"]).exit_code == 2


def test_standard_input_is_read_for_a_dash() -> None:
    result = CliRunner().invoke(APP, ["-", "--json"], input=json.dumps(SPEC))
    assert result.exit_code == 0
    assert len(json.loads(result.stdout)["points"]) == 4


def test_people_get_a_table(tmp_path) -> None:
    result = run(tmp_path)
    assert result.exit_code == 0
    assert "enumeration" in result.stdout
    for point in answer(tmp_path)["points"]:
        assert f"{point['total_variance']:.4g}" in result.stdout
